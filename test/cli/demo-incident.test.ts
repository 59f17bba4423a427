import { describe, expect, jest, test } from '@jest/globals';
import type { Answer, Assistant } from '../../lib/cli/demo/assistant.ts';
import { exitCodeOf } from '../../lib/cli/demo/demo.ts';
import { playIncident } from '../../lib/cli/demo/incident-story.ts';
import { createTranscript } from '../../lib/cli/demo/transcript.ts';
import { ENTRY, runScript } from '../support/command-line.ts';

jest.setTimeout(180_000);

/** A person whose server gives these answers, one after the other. */
function person(name: string, answers: readonly object[]): Assistant {
  const left = [...answers];
  return {
    name,
    call: () => {
      const fields = left.shift();
      if (fields === undefined) return Promise.reject(new Error('the connection was lost'));
      return Promise.resolve({ isError: false, text: 'Fine.', fields } as Answer);
    },
    close: () => Promise.resolve(),
  };
}

const HASH = 'a'.repeat(64);
const proposed = {
  http: 201,
  run_id: 'run-1',
  status: 'awaiting_approval',
  action_hash: HASH,
  observations: [{ tool: 'service_status', untrusted: true }, { tool: 'runbook_search' }],
  proposed_action: {
    type: 'ticket.create',
    target: 'payments-api',
    arguments: { severity: 'high', runbook: 'connection-pool-exhausted' },
  },
};
const forbidden = { http: 403, code: 'FORBIDDEN' };
const completed = {
  http: 200,
  status: 'completed',
  result: { provider: 'webhook', reference: 'desk-1' },
};
const stale = { http: 409, code: 'STALE_PROPOSAL', action_hash: HASH };
const approved = {
  http: 200,
  duplicate: false,
  receipt: { result: 'approved', action_hash: HASH },
};

/** Plays the story with such answers and such a desk; says how it ended and what was printed. */
async function played(
  ana: readonly object[],
  cara: readonly object[],
  desk: { readonly tickets?: readonly string[]; readonly writes?: number } = {},
) {
  const lines: string[] = [];
  let kills = 0;
  const hashes = desk.tickets ?? [];
  const code = await exitCodeOf(
    () =>
      playIncident({
        ana: person('Ana', ana),
        cara: person('Cara', cara),
        transcript: createTranscript((line) => lines.push(line)),
        desk: {
          get tickets() {
            const kept = kills === 0 ? [] : hashes.slice(0, kills - 1);
            return kept.map((action_hash) => ({ id: 'desk-1', ticket: { key: 'k', action_hash } }));
          },
          writes: () => (kills === 0 ? (desk.writes ?? 0) : 2),
          silence: () => Promise.resolve(),
        },
        kill: () => {
          kills += 1;
          return Promise.resolve();
        },
        restart: () => Promise.resolve(),
        pause: () => Promise.resolve(),
        audit: () => Promise.resolve({ code: 0, output: '' }),
      }),
    (line) => lines.push(line),
  );
  return { code, lines };
}

describe('checkpoint demo incident', () => {
  test('plays to its end with two kills, one ticket and a trail that verifies, and ends with 0', async () => {
    const { code, out, err } = await runScript(ENTRY, ['demo', 'incident'], {
      // The story is the same whatever the machine is set up for.
      HOST: '0.0.0.0',
      CHECKPOINT_TICKETS: 'opscenter',
      CHECKPOINT_EVIDENCE_SERVERS: '[]',
    });
    expect(err).toBe('');
    const judged = out.split('\n').filter((line) => /^ {2}[✓✗]/.test(line));
    expect(
      judged.map((line) => line.slice(13).replaceAll(/[0-9a-f]{64}|run-\w{26}/g, '…')),
    ).toEqual([
      'http is 201',
      'status is "awaiting_approval"',
      'observations.0.tool is "service_status"',
      'observations.0.untrusted is true',
      'observations.1.tool is "runbook_search"',
      'proposed_action.type is "ticket.create"',
      'proposed_action.target is "payments-api"',
      'proposed_action.arguments.severity is "high"',
      'proposed_action.arguments.runbook is "connection-pool-exhausted"',
      'nothing has been written',
      'http is 403',
      'code is "FORBIDDEN"',
      'http is 409',
      'code is "STALE_PROPOSAL"',
      'action_hash is "…"',
      'nothing has been written',
      'http is 200',
      'duplicate is false',
      'receipt.result is "approved"',
      'receipt.action_hash is "…"',
      'there is no ticket',
      'there is one ticket',
      'http is 200',
      'status is "completed"',
      'result.provider is "webhook"',
      'result.reference is "desk-1"',
      'there is exactly one ticket, of the approved action',
      'it was sent twice under one key, and never a third time',
      'http is 200',
      'duplicate is true',
      'receipt.result is "approved"',
      'http is 409',
      'code is "ALREADY_DECIDED"',
      'decided_by.name is "Cara"',
      'http is 200',
      'run_id is "…"',
      'the events are numbered without a gap',
      'each write was recorded before it was sent',
      'every trail verifies',
    ]);
    expect(out).not.toContain('✗');
    expect(out).toContain('(the server was killed with SIGKILL while it was about to write)');
    expect(out).toContain('(the server was killed with SIGKILL before an answer arrived)');
    expect(out.endsWith('\nEvery answer was the right one.\n')).toBe(true);
    expect(code).toBe(0);
  });

  test.each<readonly [string, Parameters<typeof played>, string]>([
    ['nothing is proposed', [[{ http: 202 }], []], 'http is 201: expected 201, got 202'],
    ['something was written before', [[proposed], [], { writes: 1 }], 'nothing has been written'],
    ['the requester decides', [[proposed, { http: 200 }], []], 'http is 403'],
    ['another digest is taken', [[proposed, forbidden], [{ http: 200 }]], 'http is 409'],
    [
      'no ticket is left after the second kill',
      [
        [proposed, forbidden],
        [stale, approved],
      ],
      'there is one ticket: expected 1, got 0',
    ],
    [
      'the ticket is of another action',
      [
        [proposed, forbidden, completed, completed, completed],
        [stale, approved],
        { tickets: ['b'.repeat(64)] },
      ],
      'there is exactly one ticket, of the approved action',
    ],
  ])('ends with 1 where %s', async (_title, given, deviation) => {
    const { code, lines } = await played(...given);
    expect(code).toBe(1);
    expect(lines.at(-1)).toContain('The story took another course.');
    expect(lines.at(-1)).toContain(deviation);
  });
});
