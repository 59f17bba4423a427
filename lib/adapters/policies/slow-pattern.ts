// Finds asset patterns that take very long on some names, by trying them: names that repeat a part of
// the example, or a character of the pattern, and then fail. What it refuses is slow indeed; it cannot
// prove that nothing else is.
import { createContext, Script } from 'node:vm';
import type { InputFault } from '../../core/input-fault.ts';
import { LIMITS } from '../../core/limits.ts';
import { canonicalAsset } from '../../core/names.ts';
import { assetPattern } from '../../core/parse-procedure.ts';

/** A sound pattern takes microseconds; the second time is for a machine that was busy. */
const PATIENCE_MS = [100, 1_000] as const;
/** Parts of an example that are repeated are at most this long. */
const PART_CHARS = 6;

const SCRIPT = new Script('pattern.test(name)');

/**
 * The fault of a definition whose asset pattern is slow, also where the rest of it is not valid: its
 * example must not be tried before.
 */
export function slowPattern(input: unknown): readonly InputFault[] {
  const { pattern, example } = assetOf(input);
  if (pattern === undefined || pattern.length > LIMITS.assetPatternChars.max) return [];
  let compiled: RegExp;
  try {
    compiled = assetPattern({ asset: { type: '', pattern, example: '' } });
  } catch {
    return [];
  }
  if (!isSlow(compiled, namesToTry(pattern, canonicalAsset(example ?? '')))) return [];
  const message = `takes too long on some names of ${LIMITS.assetChars.max} characters; expected a pattern without nested or neighbouring repetitions of the same characters`;
  return [{ path: '/asset/pattern', message }];
}

function assetOf(input: unknown): { readonly pattern?: string; readonly example?: string } {
  const asset = memberOf(input, 'asset');
  const pattern = memberOf(asset, 'pattern');
  const example = memberOf(asset, 'example');
  return {
    ...(typeof pattern === 'string' && { pattern }),
    ...(typeof example === 'string' && { example }),
  };
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function namesToTry(pattern: string, example: string): readonly string[] {
  const names = new Set([example]);
  for (let from = 0; from < example.length; from++) {
    for (let to = from + 1; to <= Math.min(example.length, from + PART_CHARS); to++) {
      for (const name of filled(example.slice(0, from), example.slice(from, to))) names.add(name);
    }
  }
  for (const character of pattern.toUpperCase().replace(/[^\p{L}\p{N}_. /-]/gu, '')) {
    for (const name of filled('', character)) names.add(name);
  }
  return [...names];
}

/** What hardly any label ends in. */
const ENDS = ['\u0000', '--'] as const;

/** Names of full length that repeat a part and then fail. */
function filled(start: string, part: string): readonly string[] {
  const { max } = LIMITS.assetChars;
  const whole = `${start}${part.repeat(max)}`;
  return ENDS.map((end) => whole.slice(0, max - end.length).concat(end));
}

/** Whether trying any of the names takes too long, twice. */
function isSlow(pattern: RegExp, names: readonly string[]): boolean {
  const sandbox = { pattern, name: '' };
  const context = createContext(sandbox);
  return names.some((name) => {
    sandbox.name = name;
    return PATIENCE_MS.every((timeout) => {
      try {
        SCRIPT.runInContext(context, { timeout });
        return false;
      } catch {
        return true;
      }
    });
  });
}
