// The lines of exports and of lists of heads: JSON, one object each, as docs/operations.md describes.
import * as z from 'zod';
import { visibleJson } from '../display.ts';
import { parseJson } from '../json.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const seq = z.int().min(0);
const name = z.string().min(1);
const at = z.iso.datetime();

const event = z.strictObject({
  type: z.literal('event'),
  tenant: name,
  workflow: name,
  seq,
  hash,
  text: z.string(),
});
const head = z.strictObject({ type: z.literal('head'), tenant: name, workflow: name, seq, hash });
const end = z.strictObject({
  type: z.literal('end'),
  format: z.literal(1),
  at,
  trails: seq,
  events: seq,
});
const heads = z.strictObject({
  type: z.literal('heads'),
  format: z.literal(1),
  at,
  day: z.iso.date(),
  part: z.int().min(1),
});
const total = z.strictObject({ type: z.literal('total'), heads: seq, more: z.boolean() });
const signature = z.strictObject({
  type: z.literal('signature'),
  key: z.base64(),
  signature: z.base64(),
});

const line = z.discriminatedUnion('type', [event, head, end, heads, total, signature]);

/** One line of either kind of file. */
export type Line = z.output<typeof line>;
/** The head of one trail. */
export type HeadLine = z.output<typeof head>;

/** Reads one line; undefined for whatever is none. */
export function readLine(text: string): Line | undefined {
  try {
    return line.safeParse(parseJson(text)).data;
  } catch {
    return undefined;
  }
}

/** Writes one line, without the line break. A terminal can show it as it is. */
export function writeLine(content: Line): string {
  return visibleJson(JSON.stringify(content));
}
