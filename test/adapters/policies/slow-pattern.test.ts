import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadPolicyFolder } from '../../../lib/adapters/policies/folder.ts';
import { slowPattern } from '../../../lib/adapters/policies/slow-pattern.ts';
import { smallProcedure } from '../../support/small-procedure.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const fault = {
  path: '/asset/pattern',
  message: expect.stringContaining(
    'takes too long on some names of 64 characters',
  ) as unknown as string,
};

test.each([
  ['(A+)+', 'A'],
  ['(A|A)*B', 'AB'],
  ['(?:A|AB|B)*C', 'ABC'],
  ['A*A*A*A*A*A*A*A*B', 'AB'],
  ['(?:A{1,30}){1,30}B', 'AB'],
  ['(?:[A-Z]+-?)+', 'AB-CD'],
  ['([A-Z]+[0-9]*)*', 'A7'],
  ['(\\w+\\s?)*', 'AB CD'],
  ['([^-]+-?)+', 'A-B'],
  ['(A+)+', `${'A'.repeat(40)}!`],
])('the pattern %j takes too long on some names, and is a fault', (pattern, example) => {
  expect(slowPattern({ asset: { pattern, example } })).toEqual([fault]);
});

test.each([
  ['PUMP-[0-9]{2}', 'PUMP-07'],
  ['[A-Z]+-[0-9]+', 'UNIT-1'],
  ['.*-.*-.*-.*', 'A-B-C-D'],
  ['(?:[A-Z]{2}-)*[0-9]+', 'AB-7'],
  ['[A-Z0-9-]+-[A-Z0-9-]+-[0-9]+', 'A-B-7'],
  ['[A-Z0-9]{1,10}(?:-[A-Z0-9]{1,10}){0,3}', 'A1-B2'],
  ['\\p{L}+-\\d+', 'Ä-7'],
  ['[^]+', 'MAIN'],
])('the pattern %j is quick on every name, and none', (pattern, example) => {
  expect(slowPattern({ asset: { pattern, example } })).toEqual([]);
});

test.each([[undefined], [null], [7], [{}], [{ asset: 7 }], [{ asset: { pattern: '(' } }]])(
  'what is no definition (%j) has other faults',
  (input) => {
    expect(slowPattern(input)).toEqual([]);
  },
);

test('a folder with such a definition does not start, whatever its example is', async () => {
  const folder = await tempFolder();
  const asset = { type: 'box', pattern: '(A+)+', example: `${'A'.repeat(40)}!` };
  await writeFile(join(folder, 'slow.json'), JSON.stringify(smallProcedure({ asset })));
  await expect(loadPolicyFolder(folder)).rejects.toThrow(
    /slow\.json \/asset\/pattern: takes too long/,
  );
});
