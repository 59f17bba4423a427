/** Builds a function's bundle as the CDK does. */
import { join, resolve } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { BUNDLE } from '../../../lib/infra/bundle.ts';
import { projectRoot } from '../project-files.ts';

/** A bundle on disk, and what is in it. */
export interface BuiltBundle {
  readonly file: string;
  readonly bytes: number;
  readonly metafile: Metafile;
}

/** Bundles an entry file, named from the top of the project, into a folder. */
export async function buildBundle(entry: string, folder: string): Promise<BuiltBundle> {
  const outfile = join(folder, 'index.mjs');
  const { metafile } = await build({
    ...BUNDLE,
    entryPoints: [resolve(projectRoot, entry)],
    absWorkingDir: projectRoot,
    external: [...BUNDLE.external],
    mainFields: [...BUNDLE.mainFields],
    outfile,
    metafile: true,
    logLevel: 'error',
  });
  const [output] = Object.values(metafile.outputs);
  if (output === undefined) throw new Error(`${entry} gave no file`);
  return { file: outfile, bytes: output.bytes, metafile };
}

/** Bytes of each package in the bundle, the largest first; `checkpoint` is what is ours. */
export function packagesOf({ metafile }: BuiltBundle): readonly (readonly [string, number])[] {
  const bytes = new Map<string, number>();
  const [output] = Object.values(metafile.outputs);
  for (const [path, { bytesInOutput }] of Object.entries(output?.inputs ?? {})) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? 'checkpoint';
    bytes.set(name, (bytes.get(name) ?? 0) + bytesInOutput);
  }
  return [...bytes].toSorted((a, b) => b[1] - a[1]);
}
