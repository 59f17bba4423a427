// YAML, of which JSON is a part, checked against a schema: a fault names the line that it is on.
import { LineCounter, parseDocument, type Document, type Node } from 'yaml';
import type * as z from 'zod';
import { expectedOf } from '../core/shape-words.ts';
import { FileFault } from './faults.ts';

/**
 * Reads a text. `firstLine` is the line of the file that it begins on. Throws a `FileFault` for the first
 * thing that is wrong.
 */
export function readYaml<T>(text: string, schema: z.ZodType<T>, file: string, firstLine = 1): T {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, merge: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line + firstLine - 1;
  const [error] = document.errors;
  if (error !== undefined) {
    const what = error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '';
    throw new FileFault(file, `expected valid YAML: ${what}`, lineAt(error.pos[0]));
  }
  const parsed = schema.safeParse(valueOf(document, file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  const where = path.length === 0 ? '' : `/${path.map(String).join('/')}: `;
  const offset = offsetOf(document, path);
  throw new FileFault(
    file,
    `${where}${issue === undefined ? 'cannot be used' : expectedOf(issue)}`,
    lineAt(offset),
  );
}

function valueOf(document: Document.Parsed, file: string): unknown {
  try {
    // A few aliases save typing; thousands of them are an attack on memory.
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch {
    throw new FileFault(file, 'expected fewer aliases', 1);
  }
}

/** Where a value stands, or the nearest value around it. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as Node | undefined;
    if (node?.range) return node.range[0];
  }
  return document.contents?.range[0] ?? 0;
}
