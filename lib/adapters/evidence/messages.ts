// One line of a server to messages. It never throws: a line that is no message is an oddity.
import { isUtf8 } from 'node:buffer';
import { parseJSONRPCMessage, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { parseJson, type Json } from '../../core/json.ts';
import type { Oddity } from './warnings.ts';

/** What a line holds: messages, and what is odd about the rest. `unusable` are ids of broken answers. */
export interface ReadLine {
  readonly messages: readonly JSONRPCMessage[];
  readonly unusable: readonly (string | number)[];
  readonly odd?: Oddity;
}

const nothing = (odd: Oddity): ReadLine => ({ messages: [], unusable: [], odd });

/** Reads a line: one message, or an array of them. */
export function readLine(line: Buffer): ReadLine {
  if (!isUtf8(line)) return nothing('a line that is not UTF-8');
  const text = line.toString('utf8');
  if (text.trim() === '') return { messages: [], unusable: [] };
  // Told by its first character, junk costs next to nothing.
  if (!/^\s*[[{]/.test(text)) return nothing('a line that is no message');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return nothing('a line that is no message');
  }
  const values = (Array.isArray(parsed) ? parsed : [parsed]) as unknown[];
  const messages: JSONRPCMessage[] = [];
  const unusable: (string | number)[] = [];
  let odd: Oddity | undefined;
  // What `JSON.parse` lets through and this product does not accept is refused for the whole line.
  const strict = isStrict(text);
  for (const value of values) {
    const message = strict ? messageOf(value) : undefined;
    if (message !== undefined) messages.push(message);
    else {
      odd = 'a line that is no message';
      const id = idOf(value);
      if (id !== undefined) unusable.push(id);
    }
  }
  return { messages, unusable, ...(odd !== undefined && { odd }) };
}

function isStrict(text: string): boolean {
  try {
    const value: Json = parseJson(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

function messageOf(value: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(value);
  } catch {
    return undefined;
  }
}

function idOf(value: unknown): string | number | undefined {
  if (typeof value !== 'object' || value === null || 'method' in value || !('id' in value)) {
    return undefined;
  }
  return typeof value.id === 'string' || typeof value.id === 'number' ? value.id : undefined;
}
