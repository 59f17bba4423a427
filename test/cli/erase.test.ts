import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { ENTRY, inProcess, runScript } from '../support/command-line.ts';
import { dataFolder, serve } from '../support/e2e.ts';
import { inspected, SECRET, talked } from '../support/talked.ts';
import { eventsIn } from '../support/trail.ts';

let folder: string;
let workflow: string;
beforeEach(async () => {
  folder = await dataFolder();
  workflow = await inspected(folder);
});

const erase = (...args: string[]) => inProcess(['erase', ...args, '--data', folder]);

/** The files of the data folder that hold the sentence. */
const holding = (): readonly string[] =>
  readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(SECRET));

test('an erased value is in no file, the trail verifies, and the story says so', async () => {
  expect(holding()).not.toEqual([]);
  const args = ['erase', workflow, 'operator_remarks', '--reason', 'asked for', '--data', folder];
  const { code, out, err } = await runScript(ENTRY, args);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe(`Erased 1 value of operator_remarks in workflow ${workflow}.\n`);
  expect(holding()).toEqual([]);
  const event = eventsIn(folder, workflow).at(-1);
  expect(event).toMatchObject({
    type: 'value_erased',
    data: { step: 'operator_remarks', records: [7], reason: 'asked for' },
  });
  expect(event?.data['request_id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(await inProcess(['audit', 'verify', '--data', folder])).toMatchObject({ code: 0 });
  const why = (await inProcess(['why', workflow, '--data', folder])).out;
  expect(why).toContain('operator_remarks: (erased), recorded');
  expect(why).toContain('system:cli      operator_remarks: values erased, of events 7');
});

test('while a server runs on the folder, the value goes too, and the server works on', async () => {
  await serve(folder);
  await erase('PUMP-07', 'operator_remarks', '--reason', 'asked for');
  expect(holding()).toEqual([]);
  const said = await talked(folder, 'ana', ['where am i', 'operator_remarks all is well', 'yes']);
  expect(said.out).toContain('Recorded, operator remarks.');
});

test('erasing twice says so', async () => {
  await erase(workflow, 'operator_remarks', '--reason', 'asked for');
  expect(await erase(workflow, 'operator_remarks', '--reason', 'again')).toEqual({
    code: 0,
    out: `What was said for operator_remarks in workflow ${workflow} is erased already.\n`,
    err: '',
  });
  expect(eventsIn(folder, workflow)).toHaveLength(8);
});

test.each([
  [
    'a step without a sensitive value',
    ['PUMP-07', 'guards_check', '--reason', 'x'],
    /has no sensitive value for the step guards_check\.\n$/,
  ],
  [
    'a step that is not there',
    ['PUMP-07', 'nothing', '--reason', 'x'],
    /has no sensitive value for the step nothing\.\n$/,
  ],
  [
    'a workflow that is not there',
    ['PUMP-99', 'operator_remarks', '--reason', 'x'],
    /^There is no workflow PUMP-99/,
  ],
  [
    'an empty reason',
    ['PUMP-07', 'operator_remarks', '--reason', ' '],
    /^--reason: expected 1 to 500 characters\.\n$/,
  ],
  ['no reason', ['PUMP-07', 'operator_remarks'], /--reason/],
])('%s is refused, and nothing is written', async (_what, args, message) => {
  const { code, out, err } = await erase(...args);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(message);
  expect(eventsIn(folder, workflow)).toHaveLength(7);
});
