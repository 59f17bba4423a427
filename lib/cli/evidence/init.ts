// `checkpoint init`: a data folder with a database and evidence files to edit. What is there is left alone.
import { existsSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Settings } from '../../settings.ts';
import { evidenceFolder, exampleEvidence } from '../../wiring/evidence.ts';
import { dataFile, openLocal } from '../../wiring/local.ts';
import { CliProblem } from '../failure.ts';
import { facts } from '../text.ts';

/** Prepares the data folder and says what there is now. */
export async function initialise(settings: Settings): Promise<readonly string[]> {
  const file = dataFile(settings.dataFolder);
  const had = existsSync(file);
  await (await openLocal(settings)).close();
  const folder = evidenceFolder(settings);
  const written = await writeExamples(folder);
  return facts([
    ['Data', `${file} (${had ? 'was there' : 'created'})`],
    ['Evidence', `${folder} (${written ? 'example files to edit' : 'was there'})`],
  ]);
}

/** Copies the examples where there is no folder yet; answers whether it did. */
async function writeExamples(folder: string): Promise<boolean> {
  if (existsSync(folder)) return false;
  // Whole or not at all: a folder that is half there would be taken for the operator's own.
  const unfinished = `${folder}.${process.pid}.unfinished`;
  try {
    await mkdir(dirname(folder), { recursive: true });
    await cp(exampleEvidence(), unfinished, { recursive: true });
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    throw new CliProblem(`${folder} cannot be written (${code}).`);
  }
  return true;
}
