import { expect, test } from '@jest/globals';
import { askedTools } from '../../lib/wiring/asked-tools.ts';

const TOOL = {
  server: 'metrics',
  name: 'latency',
  allowed: false,
  pinned: false,
  reason: 'NOT_PINNED',
  definition: 'a'.repeat(64),
};
const PROBLEM = { server: 'logs', code: 'SERVER_TIMEOUT', message: 'nothing in time' };
const REPORT = { tools: [TOOL], missing: [{ server: 'logs', name: 'find' }], problems: [PROBLEM] };

test('the function is given the time before the answer has to be there', async () => {
  const calls: unknown[] = [];
  const ask = askedTools((...call) => {
    calls.push(call);
    return Promise.resolve(REPORT);
  }, 'work');
  expect(await ask(60_000)).toEqual(REPORT);
  expect(calls).toEqual([['work', { task: 'tools', deadline_ms: 59_000 }, 60_000]]);
});

test.each([
  ['null', null],
  ['a text', 'tools'],
  ['an answer of another task', { round: 1, more: false }],
  ['a list that is none', { ...REPORT, tools: {} }],
  ['a tool without a verdict', { ...REPORT, tools: [{ server: 'metrics', name: 'latency' }] }],
  ['a reason of another release', { ...REPORT, tools: [{ ...TOOL, reason: 'ELSE' }] }],
  ['a problem of another release', { ...REPORT, problems: [{ ...PROBLEM, code: 'ELSE' }] }],
])('%s instead of a report is a retryable fault', async (_, answer) => {
  await expect(askedTools(() => Promise.resolve(answer), 'work')(60_000)).rejects.toMatchObject({
    kind: 'retryable',
    code: 'BACKEND_UNAVAILABLE',
  });
});
