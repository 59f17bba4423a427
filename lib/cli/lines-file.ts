// Files of lines: written as a stream and never over an existing file, read line by line.
import { createReadStream } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { LIMITS } from '../core/limits.ts';
import { CliProblem } from './failure.ts';

/** The longest item, with every character of it written as an escape within an escape. */
const LINE_CHARS = LIMITS.itemBytes.max * 8;

/** Writes lines to a new file that only its owner can read; what was begun is removed on a failure. */
export async function writeLines(file: string, lines: AsyncIterable<string>): Promise<number> {
  const handle = await open(file, 'wx', 0o600).catch((error: unknown) => {
    throw new CliProblem(writeProblem(file, error), { cause: error });
  });
  let count = 0;
  try {
    for await (const line of lines) {
      await handle.write(`${line}\n`);
      count++;
    }
    await handle.sync();
  } catch (error) {
    await handle.close();
    await unlink(file).catch(() => undefined);
    throw error;
  }
  await handle.close();
  return count;
}

/** The lines of a file. Each call reads it anew. */
export async function* readLines(file: string): AsyncGenerator<string> {
  const stream = createReadStream(file, 'utf8');
  let rest = '';
  try {
    for await (const chunk of stream) {
      const lines = `${rest}${String(chunk)}`.split(/\r?\n/u);
      rest = lines.pop() ?? '';
      yield* lines;
      if (rest.length > LINE_CHARS) break;
    }
  } catch (error) {
    throw new CliProblem(`${file} cannot be read (${codeOf(error)}).`, { cause: error });
  } finally {
    stream.destroy();
  }
  if (rest.length > LINE_CHARS) {
    throw new CliProblem(`${file} has a line of more than ${LINE_CHARS} characters.`);
  }
  if (rest !== '') yield rest;
}

function writeProblem(file: string, error: unknown): string {
  const code = codeOf(error);
  if (code === 'EEXIST') return `${file} exists already: choose another name.`;
  return `${file} cannot be written (${code}).`;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown reason';
}
