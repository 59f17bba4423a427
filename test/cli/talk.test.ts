import { describe, expect, test } from '@jest/globals';
import { understand } from '../../lib/cli/talk/grammar.ts';
import { stepAnswer, type KnownStep } from '../../lib/cli/talk/step-answer.ts';
import { childEnvironment, ENTRY } from '../support/command-line.ts';
import { dataFolder, serve } from '../support/e2e.ts';
import { SUPERVISOR, talked } from '../support/talked.ts';
import { eventsIn } from '../support/trail.ts';
import { spawn } from 'node:child_process';

describe('the grammar', () => {
  test.each([
    [
      'start pump-inspection PUMP-07',
      { kind: 'start', procedure: 'pump-inspection', asset: 'PUMP-07' },
    ],
    [
      'Start pump inspection on PUMP 07.',
      { kind: 'start', procedure: 'pump inspection', asset: 'PUMP 07' },
    ],
    ['yes', { kind: 'yes' }],
    ['  NO! ', { kind: 'no' }],
    ['blocked', { kind: 'blocked' }],
    [
      'resolve continue because it is fine',
      { kind: 'resolve', decision: 'continue', reason: 'it is fine' },
    ],
    ['hand over to ben', { kind: 'hand_over', to: 'ben' }],
    ['where am I?', { kind: 'where' }],
    ['where am I on PUMP-07', { kind: 'where', asset: 'PUMP-07' }],
    ['abandon it', { kind: 'unclear', hint: 'say: abandon because …' }],
    ['abandon because it rains', { kind: 'abandon', reason: 'it rains' }],
    ['start', { kind: 'unclear', hint: 'say: start PROCEDURE ASSET' }],
    ['help', { kind: 'help' }],
    ['quit', { kind: 'quit' }],
    ['', { kind: 'nothing' }],
    ['suction_pressure 2.1', { kind: 'answer', text: 'suction_pressure 2.1' }],
    ['started late', { kind: 'answer', text: 'started late' }],
    ['tab\tand \u001b[31mescape', { kind: 'answer', text: 'tab and [31mescape' }],
  ])('understands %j', (line, said) => {
    expect(understand(line)).toEqual(said);
  });

  const steps: KnownStep[] = [
    { step: 'pressure', title: 'pressure', kind: 'reading' },
    { step: 'pressure_after', title: 'second pressure', kind: 'reading' },
    { step: 'seal', title: 'seal condition', kind: 'choice' },
    { step: 'ready', title: 'ready', kind: 'confirm' },
    { step: 'note', title: 'remarks', kind: 'text' },
  ];
  test.each([
    ['pressure 2.1', { step: 'pressure', reading: 2.1 }],
    ['pressure_after -2,5 bar', { step: 'pressure_after', reading: -2.5, unit: 'bar' }],
    ['Pressure after 3', { step: 'pressure_after', reading: 3 }],
    ['second pressure: 3', { step: 'pressure_after', reading: 3 }],
    ['seal condition light leak', { step: 'seal', choice: 'light leak' }],
    ['ready done', { step: 'ready', confirmed: true }],
    ['ready no', { step: 'ready', confirmed: false }],
    ['ready maybe', { step: 'ready', text: 'maybe' }],
    ['remarks all is 2.1 well', { step: 'note', text: 'all is 2.1 well' }],
    ['pressure high', { step: 'pressure', text: 'high' }],
    ['pressure', { step: 'pressure' }],
    ['dry', { step: 'seal', choice: 'dry' }],
  ])('reads %j as an answer', (text, args) => {
    expect(stepAnswer(text, steps, 'seal')).toEqual(args);
  });

  test('gives no answer where no step is named and none is next', () => {
    expect(stepAnswer('dry', steps, undefined)).toBeUndefined();
  });
});

describe('checkpoint talk', () => {
  test('keeps what a yes confirms, works on one thing, and says what would be spoken', async () => {
    const folder = await dataFolder();
    const { code, out, err } = await talked(folder, 'ana', [
      'start pump inspection on PUMP-07',
      'yes',
      'suction_pressure 42',
      'no',
      'where am I',
      '2.1 bar',
      'suction_pressure 1.8',
      'yes',
      'discharge_pressure 42',
      'yes',
      'blocked',
      'quit',
      'yes',
    ]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const text = out.replaceAll(/\n(?=[a-z0-9])/g, ' ');
    expect(text.trimEnd().split('\n')).toEqual([
      'Started, pump inspection on PUMP-07. First is guards check; answer yes or no.',
      'Recorded, guards check: yes. Next is suction pressure, in bar; expected between 1.5 and 3.',
      'I heard 42 bar for suction pressure; the limit is 12. Is that right?',
      'All right, I left it as it is.',
      'Pump inspection on PUMP-07, with ana: 1 of 7 required steps done; all of it is due in 7 hours. Next is suction pressure, in bar; expected between 1.5 and 3.',
      'Recorded, suction pressure 2.1 bar. Next is discharge pressure, in bar; expected between 5 and 9.',
      'Suction pressure is already recorded as 2.1 bar, and I heard 1.8 bar. Should I replace it?',
      'Recorded, suction pressure 1.8 bar. Next is discharge pressure, in bar; expected between 5 and 9.',
      'I heard 42 bar for discharge pressure; the limit is 25. Is that right?',
      'Recorded, discharge pressure 42 bar. Pump inspection on PUMP-07 is blocked until a supervisor decides.',
      'Your account is not allowed to do that. Ask a supervisor, or whoever manages access.',
    ]);
    for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(100);
    expect(eventsIn(folder).map(({ type }) => type)).toEqual([
      'workflow_started',
      'step_recorded',
      'step_recorded',
      'step_corrected',
      'step_recorded',
    ]);
  });

  test('a supervisor resolves, work is handed over, and the receiver goes on', async () => {
    const folder = await dataFolder();
    await talked(folder, 'ben', ['mine']);
    await talked(folder, 'ana', ['start pump-inspection PUMP-07', 'no', 'yes']);
    const cara = await talked(folder, 'cara', ['resolve retake because it was a slip'], SUPERVISOR);
    expect(cara.out).toContain('has to be repeated');
    const ana = await talked(folder, 'ana', ['where am i', 'yes', 'hand over to ben', 'yes']);
    expect(ana.out).toContain('Handed over, pump inspection on PUMP-07, to ben.');
    const ben = await talked(folder, 'ben', ['mine', '2.1']);
    expect(ben.out).toContain('Recorded, suction pressure 2.1 bar.');
  });

  test('several works are offered by number, and the chosen one is asked about', async () => {
    const folder = await dataFolder();
    await talked(folder, 'ana', ['start pump-inspection PUMP-07', 'start pump-inspection PUMP-08']);
    const { out } = await talked(folder, 'ana', ['complete', '2']);
    expect(out).toContain('  2  pump inspection, PUMP-08');
    expect(out).toContain('Still open: guards check');
  });

  test('again is the same request, so nothing happens twice', async () => {
    const folder = await dataFolder();
    const { out } = await talked(folder, 'ana', [
      'again',
      'start pump-inspection PUMP-07',
      'again',
    ]);
    expect(out).toContain('There is nothing to repeat yet.');
    expect(out).toContain('Already started, pump inspection on PUMP-07.');
    expect(eventsIn(folder)).toHaveLength(1);
  });

  test('shows its grammar, and says what a phrase lacks', async () => {
    const folder = await dataFolder();
    const { out } = await talked(folder, 'ana', ['help', 'resolve it', 'what is that']);
    expect(out).toContain('start pump-inspection PUMP-07');
    expect(out).toContain('say: resolve continue because …, or retake, or abandon');
    expect(out).toContain('I did not understand that; say help to see what works here.');
    for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(100);
  });

  test('reads piped input in a process of its own', async () => {
    const folder = await dataFolder();
    const child = spawn(process.execPath, [ENTRY, 'talk', '--data', folder], {
      env: childEnvironment(),
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stdin.end('start pump-inspection PUMP-07\nyes\n2.1');
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code).toBe(0);
    expect(out).toContain('Recorded, suction pressure 2.1 bar.');
  });

  test('talks to a running server with a token of its data folder, or with one that is given', async () => {
    const folder = await dataFolder();
    const { url } = await serve(folder);
    const remote = ['--url', url];
    const first = await talked(
      folder,
      'ana',
      ['start pump inspection on PUMP-07', 'yes', '42', 'yes'],
      remote,
    );
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toContain('Recorded, suction pressure 42 bar.');
    const refused = await talked(folder, 'ana', ['mine'], [...remote, '--token', 'nonsense']);
    expect(refused).toEqual({
      code: 1,
      out: '',
      err: `${url} did not answer: check --url, the token, and that the server runs.\n`,
    });
  });

  test.each([
    [['--scope', 'everything'], '--scope: unknown everything'],
    [['--token', 'x'], '--token needs --url.'],
  ])('%j is refused in one sentence', async (flags, message) => {
    const { code, err } = await talked(await dataFolder(), 'ana', ['mine'], flags);
    expect(code).toBe(1);
    expect(err).toContain(message);
  });
});
