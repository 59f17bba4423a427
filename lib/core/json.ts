// Strict JSON text to value: what `JSON.parse` lets through and an authoritative record must not.
// Does not validate against a schema and does not keep the text.
import { LIMITS } from './limits.ts';

/** Any JSON value. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Why a text or a value is not acceptable JSON. */
export type JsonFaultCode =
  | 'INVALID_JSON'
  | 'DUPLICATE_KEY'
  | 'LONE_SURROGATE'
  | 'NUMBER_OUT_OF_RANGE'
  | 'TOO_DEEP'
  | 'NOT_JSON';

/** A refusal with its code and the JSON pointer (RFC 6901) of the offending place. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
  readonly code: JsonFaultCode;
  readonly path: string;

  constructor(code: JsonFaultCode, path: string, message: string) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

/** Recognises a JSON fault by name, whichever copy of this module made it. */
export function isJsonFault(error: unknown): error is JsonFault {
  return error instanceof Error && error.name === 'JsonFault';
}

/** Appends one member name to a JSON pointer, as valid Unicode even when the name is not. */
export function pointer(base: string, part: string | number): string {
  const escaped = String(part).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1');
  return `${base}/${escaped}`;
}

/**
 * Parses JSON text strictly: refuses duplicate member names, lone surrogates, integers beyond
 * 2^53 - 1, numbers that overflow or underflow, and nesting beyond the limits table. One leading
 * byte order mark is dropped. Throws {@link JsonFault}. Source: RFC 8259, RFC 7493.
 */
export function parseJson(text: string): Json {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  let value: Json;
  try {
    value = JSON.parse(body) as Json;
  } catch {
    throw new JsonFault('INVALID_JSON', '', 'the text is not valid JSON');
  }
  scan(body);
  checkJson(value);
  return value;
}

interface Frame {
  readonly path: string;
  readonly keys: Set<string> | undefined;
  place: string;
  index: number;
}

/** Walks text that is known to be valid JSON, for what the parsed value no longer shows. */
function scan(text: string): void {
  const stack: Frame[] = [];
  let expectKey = false;
  const here = (): string => {
    const top = stack.at(-1);
    if (top === undefined) return '';
    return pointer(top.path, top.keys === undefined ? top.index : top.place);
  };
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) {
      const end = endOfString(text, i);
      if (expectKey) takeKey(stack.at(-1), JSON.parse(text.slice(i, end + 1)) as string);
      expectKey = false;
      i = end;
    } else if (c === 0x7b || c === 0x5b) {
      if (stack.length >= LIMITS.jsonDepth.max) {
        throw new JsonFault(
          'TOO_DEEP',
          here(),
          `nested deeper than ${LIMITS.jsonDepth.max} levels`,
        );
      }
      stack.push({ path: here(), keys: c === 0x7b ? new Set() : undefined, place: '', index: 0 });
      expectKey = c === 0x7b;
    } else if (c === 0x7d || c === 0x5d) {
      stack.pop();
      expectKey = false;
    } else if (c === 0x2c) {
      const top = stack.at(-1);
      if (top !== undefined) top.index++;
      expectKey = top?.keys !== undefined;
    } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      i = endOfNumber(text, i, here) - 1;
    }
  }
}

function takeKey(top: Frame | undefined, key: string): void {
  if (top?.keys === undefined) return;
  if (top.keys.has(key)) {
    throw new JsonFault('DUPLICATE_KEY', pointer(top.path, key), 'the member name appears twice');
  }
  top.keys.add(key);
  top.place = key;
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; ; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x5c) i++;
    else if (c === 0x22) return i;
  }
}

function endOfNumber(text: string, start: number, here: () => string): number {
  let end = start;
  while (end < text.length && '+-.eE0123456789'.includes(text.charAt(end))) end++;
  const token = text.slice(start, end);
  const mantissa = token.split(/[eE]/)[0] ?? '';
  if (Number(token) === 0 && /[1-9]/.test(mantissa)) {
    throw new JsonFault('NUMBER_OUT_OF_RANGE', here(), 'the number is too small to be kept');
  }
  return end;
}

/**
 * Checks that a value is JSON as this product accepts it, without recursion. Throws
 * {@link JsonFault}: `NOT_JSON` for dates, maps, class instances, functions, undefined in arrays
 * and the like; members that are undefined are allowed and mean "absent".
 */
export function checkJson(value: unknown): void {
  const queue: Place[] = [{ value, above: undefined, key: '', depth: 0 }];
  let seen = 0;
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { value: v, depth } = next;
    if (v === null || typeof v === 'boolean') continue;
    if (typeof v === 'string') checkText(v, next);
    else if (typeof v === 'number') checkNumber(v, next);
    else if (typeof v === 'object') {
      if (depth >= LIMITS.jsonDepth.max) {
        const what = `nested deeper than ${LIMITS.jsonDepth.max} levels`;
        throw new JsonFault('TOO_DEEP', pathOf(next), what);
      }
      if (++seen > LIMITS.jsonNodes.max) {
        const what = `more than ${LIMITS.jsonNodes.max} objects and arrays`;
        throw new JsonFault('TOO_DEEP', pathOf(next), what);
      }
      queueMembers(v, next, queue);
    } else throw new JsonFault('NOT_JSON', pathOf(next), `a ${typeof v} has no JSON form`);
  }
}

/** A value and where it is. Its pointer is only put together for a fault: most values have none. */
interface Place {
  readonly value: unknown;
  readonly above: Place | undefined;
  readonly key: string | number;
  readonly depth: number;
}

function pathOf({ above, key }: Place): string {
  return above === undefined ? '' : pointer(pathOf(above), key);
}

function queueMembers(v: object, place: Place, queue: Place[]): void {
  const depth = place.depth + 1;
  if (Array.isArray(v)) {
    if (Object.keys(v).length !== v.length) {
      throw new JsonFault('NOT_JSON', pathOf(place), 'an array with holes has no JSON form');
    }
    (v as unknown[]).forEach((value, key) => queue.push({ value, above: place, key, depth }));
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(v);
  if (prototype !== Object.prototype && prototype !== null) {
    const what = 'only plain objects and arrays have a JSON form';
    throw new JsonFault('NOT_JSON', pathOf(place), what);
  }
  if (Object.getOwnPropertySymbols(v).length > 0) {
    throw new JsonFault('NOT_JSON', pathOf(place), 'a symbol has no JSON form');
  }
  for (const key of Object.keys(v)) {
    const value = (v as Readonly<Record<string, unknown>>)[key];
    const member: Place = { value, above: place, key, depth };
    checkText(key, member);
    if (value !== undefined) queue.push(member);
  }
}

function checkText(text: string, place: Place): void {
  if (!text.isWellFormed()) {
    throw new JsonFault(
      'LONE_SURROGATE',
      pathOf(place),
      'the text contains half of a character pair',
    );
  }
}

function checkNumber(v: number, place: Place): void {
  if (!Number.isFinite(v)) {
    throw new JsonFault('NUMBER_OUT_OF_RANGE', pathOf(place), 'the number is not finite');
  }
  if (Number.isInteger(v) && !Number.isSafeInteger(v)) {
    throw new JsonFault(
      'NUMBER_OUT_OF_RANGE',
      pathOf(place),
      'an integer beyond 9007199254740991 cannot be kept exactly; send it as a string',
    );
  }
}
