import { describe, expect, it } from '@jest/globals';
import { checkJson, JsonFault, parseJson, pointer } from '../../lib/core/json.ts';

function faultOf(act: () => unknown): { code: string; path: string; message: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof JsonFault) {
      return { code: error.code, path: error.path, message: error.message };
    }
    throw error;
  }
  throw new Error('expected a refusal');
}

describe('parseJson', () => {
  it.each([
    ['{"a":1,"a":2}', 'DUPLICATE_KEY', '/a'],
    ['{"a":1,"\\u0061":2}', 'DUPLICATE_KEY', '/a'],
    ['{"x":[0,{"v":1,"v":1}]}', 'DUPLICATE_KEY', '/x/1/v'],
    ['{"a":{"b":1},"b":{"b":2},"a":3}', 'DUPLICATE_KEY', '/a'],
    ['{"value":1e999}', 'NUMBER_OUT_OF_RANGE', '/value'],
    ['{"value":1e-400}', 'NUMBER_OUT_OF_RANGE', '/value'],
    ['{"list":[1,2,-0.0000e-999,1e-999]}', 'NUMBER_OUT_OF_RANGE', '/list/3'],
    ['{"seq":18446744073709551615}', 'NUMBER_OUT_OF_RANGE', '/seq'],
    ['{"meta":{"\\uDEAD":1}}', 'LONE_SURROGATE', '/meta/\uFFFD'],
    ['{"note":"\\uD800"}', 'LONE_SURROGATE', '/note'],
    ['{"a/b":{"c~d":1e999}}', 'NUMBER_OUT_OF_RANGE', '/a~1b/c~0d'],
    ['', 'INVALID_JSON', ''],
    ['{} {}', 'INVALID_JSON', ''],
    ['{"a":01}', 'INVALID_JSON', ''],
  ])('refuses %s with %s at %s', (text, code, path) => {
    expect(faultOf(() => parseJson(text))).toMatchObject({ code, path });
  });

  it('refuses the nesting one past the limit and takes the limit', () => {
    const nested = (n: number): string => '['.repeat(n) + ']'.repeat(n);
    expect(() => parseJson(nested(32))).not.toThrow();
    expect(faultOf(() => parseJson(nested(33))).code).toBe('TOO_DEEP');
  });

  it('refuses 20,000 nested arrays without ending the process', () => {
    const text = `{"meta":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    expect(faultOf(() => parseJson(text)).code).toBe('TOO_DEEP');
  });

  it('drops one leading byte order mark and keeps one inside', () => {
    expect(parseJson('\uFEFF{"a":"\uFEFF"}')).toEqual({ a: '\uFEFF' });
  });

  it('is not misled by braces, commas, digits and quotes inside texts', () => {
    const value = { 'a,"{[': '}],"1e999', b: ['\\', '"', { c: '\\"' }] };
    expect(parseJson(JSON.stringify(value))).toEqual(value);
  });

  it('keeps a member called __proto__ as a plain member', () => {
    const value = parseJson('{"asset":"PUMP-07","__proto__":{"role":"admin"}}') as object;
    expect(Object.keys(value)).toEqual(['asset', '__proto__']);
    expect(({} as { role?: string }).role).toBeUndefined();
  });

  it('names a place with valid Unicode even where the member name is not', () => {
    expect(faultOf(() => parseJson('{"meta":{"\\uDEAD":1}}')).message.isWellFormed()).toBe(true);
    expect(pointer('/a', '\uD800')).toBe('/a/\uFFFD');
  });
});

describe('checkJson', () => {
  class Point {
    readonly x = 1;
  }
  const holes: number[] = [1];
  holes[2] = 3;
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const wide: Record<string, unknown> = {};
  wide['a'] = wide;
  wide['b'] = wide;
  const named = Object.assign([1], { extra: 1 });

  it.each([
    ['a date', { at: new Date(0) }, 'NOT_JSON', '/at'],
    ['a date that is none', { at: new Date('nonsense') }, 'NOT_JSON', '/at'],
    ['a map', { m: new Map([['a', 1]]) }, 'NOT_JSON', '/m'],
    ['a set', { s: new Set([1]) }, 'NOT_JSON', '/s'],
    ['a class instance', { p: new Point() }, 'NOT_JSON', '/p'],
    ['a bigint', { n: 1n }, 'NOT_JSON', '/n'],
    ['a function', { f: () => 1 }, 'NOT_JSON', '/f'],
    ['a symbol as a value', { s: Symbol('s') }, 'NOT_JSON', '/s'],
    ['a symbol as a name', { [Symbol('s')]: 1 }, 'NOT_JSON', ''],
    ['a toJSON method', { v: { toJSON: () => 1 } }, 'NOT_JSON', '/v/toJSON'],
    ['undefined in an array', [1, undefined, 2], 'NOT_JSON', '/1'],
    ['a hole in an array', holes, 'NOT_JSON', ''],
    ['a named member of an array', { a: named }, 'NOT_JSON', '/a'],
    ['undefined itself', undefined, 'NOT_JSON', ''],
    ['NaN', { v: Number.NaN }, 'NUMBER_OUT_OF_RANGE', '/v'],
    ['infinity', { v: Infinity }, 'NUMBER_OUT_OF_RANGE', '/v'],
    ['an integer past the safe range', { v: 2 ** 53 }, 'NUMBER_OUT_OF_RANGE', '/v'],
    ['a cycle', cycle, 'TOO_DEEP', undefined],
    ['a branching cycle', wide, 'TOO_DEEP', undefined],
  ])('refuses %s', (_name, value, code, path) => {
    const fault = faultOf(() => {
      checkJson(value);
    });
    expect(fault.code).toBe(code);
    if (path !== undefined) expect(fault.path).toBe(path);
  });

  it('takes the largest safe integers and undefined members', () => {
    expect(() => {
      checkJson({ a: 9_007_199_254_740_991, b: -9_007_199_254_740_991, c: undefined });
    }).not.toThrow();
  });
});
