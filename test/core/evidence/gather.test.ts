import { describe, expect, test } from '@jest/globals';
import { definitionHash } from '../../../lib/core/evidence/definition.ts';
import { createGathering } from '../../../lib/core/evidence/gather.ts';
import { reportTools } from '../../../lib/core/evidence/report.ts';
import {
  EvidenceError,
  type AdvertisedTool,
  type EvidenceSource,
} from '../../../lib/core/ports/evidence.ts';
import { testClock } from '../../support/harness.ts';

const status: AdvertisedTool = {
  server: 'ops',
  name: 'status',
  inputSchema: { type: 'object' },
};
const request = { server: 'ops', tool: 'status', arguments: { service: 'payments' } };
const allowlist = [{ server: 'ops', name: 'status', pin: definitionHash(status) }];
const bounds = { steps: 3, callTimeoutMs: 1_000, outputBytes: 8 };
const LATE = 10_000_000_000_000;

/** A source that notes what reaches it. */
function sourceOf(change: Partial<EvidenceSource> = {}) {
  const reached: string[] = [];
  const source: EvidenceSource = {
    servers: ['ops'],
    list: (server, deadlineMs) => {
      reached.push(`list ${server} ${deadlineMs}`);
      return Promise.resolve([status]);
    },
    call: ({ name }, _args, deadlineMs) => {
      reached.push(`call ${name} ${deadlineMs}`);
      return Promise.resolve({ text: 'all is well', isError: false });
    },
    argumentFaults: () => [],
    close: () => Promise.resolve(),
    ...change,
  };
  return { source, reached };
}

const gatheringOn = (source: EvidenceSource, spent = 0) => {
  const clock = testClock();
  return { clock, gathering: createGathering({ source, allowlist, bounds, clock }, spent) };
};

describe('gathering', () => {
  test('observes what an allowed tool answers, bounded and with the full text beside it', async () => {
    const { source, reached } = sourceOf();
    const { clock, gathering } = gatheringOn(source);
    const outcome = await gathering.ask(request, LATE);
    expect(outcome).toMatchObject({
      code: 'OBSERVED',
      text: 'all is well',
      observation: {
        text: 'all is w',
        bytes: 11,
        truncated: true,
        untrusted: true,
        definition: definitionHash(status),
      },
    });
    const until = clock.now() + 1_000;
    expect(reached).toEqual([`list ops ${until}`, `call status ${until}`]);
  });

  test('makes no further call once the steps are spent, those of before included', async () => {
    const { source, reached } = sourceOf();
    const { gathering } = gatheringOn(source, 1);
    for (let i = 0; i < 2; i++) expect((await gathering.ask(request, LATE)).code).toBe('OBSERVED');
    const before = reached.length;
    expect(await gathering.ask(request, LATE)).toEqual({ code: 'STEP_BUDGET_EXCEEDED', steps: 3 });
    expect([gathering.left(), reached.length]).toEqual([0, before]);
  });

  test('spends a step on a refused request too', async () => {
    const { source, reached } = sourceOf();
    const { gathering } = gatheringOn(source);
    const other = { ...request, tool: 'shell' };
    expect(await gathering.ask(other, LATE)).toEqual({
      code: 'TOOL_REFUSED',
      reason: 'NOT_ON_ALLOWLIST',
    });
    expect([gathering.left(), reached]).toEqual([2, []]);
  });

  test('lists before every call, so that a changed definition is not called', async () => {
    let listings = 0;
    const { source, reached } = sourceOf({
      list: () => {
        const description = listings++ === 0 ? {} : { description: 'Now with force.' };
        return Promise.resolve([{ ...status, ...description }]);
      },
    });
    const { gathering } = gatheringOn(source);
    expect((await gathering.ask(request, LATE)).code).toBe('OBSERVED');
    expect(await gathering.ask(request, LATE)).toEqual({
      code: 'TOOL_REFUSED',
      reason: 'DEFINITION_CHANGED',
    });
    expect(reached.length).toBe(1);
  });

  test('refuses an allowed tool that is no longer offered', async () => {
    const { source } = sourceOf({ list: () => Promise.resolve([]) });
    expect(await gatheringOn(source).gathering.ask(request, LATE)).toEqual({
      code: 'TOOL_REFUSED',
      reason: 'NOT_OFFERED',
    });
  });

  test('sends no arguments that the schema refuses', async () => {
    const faults = [{ path: '/service', message: 'expected a text' }];
    const { source, reached } = sourceOf({ argumentFaults: () => faults });
    const outcome = await gatheringOn(source).gathering.ask(request, LATE);
    expect(outcome).toEqual({ code: 'ARGUMENTS_REFUSED', faults });
    expect(reached.filter((line) => line.startsWith('call'))).toEqual([]);
  });

  test('answers what a server did instead of throwing', async () => {
    const { source } = sourceOf({
      call: () => Promise.reject(new EvidenceError('SERVER_TIMEOUT', 'ops', 'no answer in time')),
    });
    expect(await gatheringOn(source).gathering.ask(request, LATE)).toEqual({
      code: 'SERVER_TIMEOUT',
      message: 'no answer in time',
    });
  });
});

describe('the report of tools', () => {
  test('names what is offered, what is missing, and who did not answer', async () => {
    const { source } = sourceOf({
      servers: ['ops', 'dead'],
      list: (server) =>
        server === 'ops'
          ? Promise.resolve([status])
          : Promise.reject(new EvidenceError('SERVER_UNREACHABLE', 'dead', 'it ended')),
    });
    const listed = [
      ...allowlist,
      { server: 'ops', name: 'gone' },
      { server: 'dead', name: 'unknown' },
    ];
    const report = await reportTools(source, listed, LATE);
    expect(report.tools.map(({ name, allowed }) => [name, allowed])).toEqual([['status', true]]);
    expect(report.missing).toEqual([{ server: 'ops', name: 'gone' }]);
    expect(report.problems).toEqual([
      { server: 'dead', code: 'SERVER_UNREACHABLE', message: 'it ended' },
    ]);
  });
});
