// The story of `demo incident`: from a symptom to one verified ticket, with a server that is killed twice.
import { displayFields } from '../../core/display.ts';
import type { Json } from '../../core/json.ts';
import type { Answer, Assistant } from './assistant.ts';
import type { TicketDesk } from './ticket-desk.ts';
import { valueAt, type Transcript } from './transcript.ts';

/** The people of the story, the desk that tickets go to, and what can be done to the server. */
export interface IncidentStage {
  /** She reports the incident, and may decide on others. */
  readonly ana: Assistant;
  readonly cara: Assistant;
  readonly transcript: Transcript;
  readonly desk: Pick<TicketDesk, 'tickets' | 'writes' | 'silence'>;
  /** Ends the server at once, with SIGKILL. */
  readonly kill: () => Promise<void>;
  /** Starts the server again on the same data. */
  readonly restart: () => Promise<void>;
  /** Waits a moment between two looks. */
  readonly pause: () => Promise<void>;
  readonly audit: () => Promise<{ readonly code: number; readonly output: string }>;
}

/** How often the end of the run is looked for. */
const LOOKS = 600;

/** Plays the whole story; throws a `Deviation` where an answer is not the right one. */
export async function playIncident(stage: IncidentStage): Promise<void> {
  const { run, hash } = await report(stage);
  await refusals(stage, run, hash);
  await approveAndKill(stage, run, hash);
  await killAgain(stage);
  await end(stage, run, hash);
  await late(stage, run, hash);
  await trail(stage, run);
}

async function report({ ana, desk, transcript }: IncidentStage) {
  transcript.scene('Ana reports an incident; evidence is read, and one exact action is proposed');
  const proposed = await transcript.turn(
    ana,
    'Card payments time out.',
    'POST /v1/runs',
    {
      service: 'payments-api',
      symptom: 'card payments time out, the connection pool is exhausted',
    },
    {
      http: 201,
      status: 'awaiting_approval',
      'observations.0.tool': 'service_status',
      'observations.0.untrusted': true,
      'observations.1.tool': 'runbook_search',
      'proposed_action.type': 'ticket.create',
      'proposed_action.target': 'payments-api',
      'proposed_action.arguments.severity': 'high',
      'proposed_action.arguments.runbook': 'connection-pool-exhausted',
    },
  );
  transcript.note('(the exact action, as whoever decides sees it)');
  for (const { path, text } of displayFields((proposed.fields['proposed_action'] ?? {}) as Json)) {
    transcript.note(`${path} ${text}`);
  }
  transcript.expect('nothing has been written', desk.writes(), 0);
  return {
    run: String(proposed.fields['run_id']),
    hash: String(proposed.fields['action_hash']),
  };
}

async function refusals(
  { ana, cara, desk, transcript }: IncidentStage,
  run: string,
  action_hash: string,
): Promise<void> {
  transcript.scene('Whoever asked for it does not decide, and another action is not this one');
  const path = `POST /v1/runs/${run}/approval`;
  await transcript.turn(
    ana,
    'Then go ahead.',
    path,
    { approved: true, action_hash },
    { http: 403, code: 'FORBIDDEN' },
  );
  await transcript.turn(
    cara,
    'I approve what I saw elsewhere.',
    path,
    { approved: true, action_hash: '0'.repeat(64) },
    { http: 409, code: 'STALE_PROPOSAL', action_hash },
  );
  transcript.expect('nothing has been written', desk.writes(), 0);
}

async function approveAndKill(
  { cara, desk, kill, restart, transcript }: IncidentStage,
  run: string,
  action_hash: string,
): Promise<void> {
  transcript.scene('Cara approves exactly this action, and the server dies before it is done');
  const arrived = desk.silence('before it is kept');
  await transcript.turn(
    cara,
    'I approve this one.',
    `POST /v1/runs/${run}/approval`,
    { approved: true, action_hash },
    {
      http: 200,
      duplicate: false,
      'receipt.result': 'approved',
      'receipt.action_hash': action_hash,
    },
  );
  await arrived;
  await kill();
  transcript.note('(the server was killed with SIGKILL while it was about to write)');
  transcript.expect('there is no ticket', desk.tickets.length, 0);
  const again = desk.silence('after it is kept');
  await restart();
  transcript.note('(it is started again on the same data)');
  await again;
}

async function killAgain({ desk, kill, restart, transcript }: IncidentStage): Promise<void> {
  transcript.scene('The server dies again, after the write and before it knows');
  await kill();
  transcript.note('(the server was killed with SIGKILL before an answer arrived)');
  transcript.expect('there is one ticket', desk.tickets.length, 1);
  await restart();
  transcript.note('(it is started again on the same data)');
}

async function end(
  { ana, desk, pause, transcript }: IncidentStage,
  run: string,
  action_hash: string,
): Promise<void> {
  transcript.scene('The ticket is found, compared field by field, and the run is complete');
  for (let n = 0; n < LOOKS && (await statusOf(ana, run)) === 'executing'; n++) await pause();
  for (let n = 0; n < LOOKS && (await statusOf(ana, run)) === 'verifying'; n++) await pause();
  await transcript.turn(
    ana,
    'What became of it?',
    `GET /v1/runs/${run}`,
    {},
    { http: 200, status: 'completed', 'result.provider': 'webhook', 'result.reference': 'desk-1' },
  );
  const hashes = desk.tickets.map(({ ticket }) => ticket.action_hash);
  transcript.expect('there is exactly one ticket, of the approved action', hashes, [action_hash]);
  transcript.expect('it was sent twice under one key, and never a third time', desk.writes(), 2);
}

async function statusOf(who: Assistant, run: string): Promise<unknown> {
  return (await who.call(`GET /v1/runs/${run}`, {})).fields['status'];
}

async function late(
  { cara, transcript }: IncidentStage,
  run: string,
  action_hash: string,
): Promise<void> {
  transcript.scene('The same decision again is its first answer; another one comes too late');
  const path = `POST /v1/runs/${run}/approval`;
  await transcript.turn(
    cara,
    '(repeated by the network) I approve this one.',
    path,
    { approved: true, action_hash },
    { http: 200, duplicate: true, 'receipt.result': 'approved' },
  );
  await transcript.turn(
    cara,
    'On second thoughts, no.',
    path,
    { approved: false, action_hash },
    { http: 409, code: 'ALREADY_DECIDED', 'decided_by.name': 'Cara' },
  );
}

async function trail({ ana, audit, transcript }: IncidentStage, run: string): Promise<void> {
  transcript.scene('The trail tells every step, and verifies');
  const read: Answer = await transcript.turn(
    ana,
    'Show me every step.',
    `GET /v1/runs/${run}/events`,
    {},
    { http: 200, run_id: run },
  );
  const items = (valueAt(read.fields, 'items') ?? []) as readonly {
    readonly seq: number;
    readonly type: string;
  }[];
  const numbers = items.map(({ seq }) => seq);
  transcript.expect(
    'the events are numbered without a gap',
    numbers,
    numbers.map((_seq, i) => i + 1),
  );
  transcript.expect(
    'each write was recorded before it was sent',
    items.map(({ type }) => type),
    [
      'run_created',
      'gathering_started',
      'observation_recorded',
      'observation_recorded',
      'action_proposed',
      'action_approved',
      'write_intended',
      'write_intended',
      'write_made',
      'run_completed',
    ],
  );
  const { code, output } = await audit();
  for (const line of output.split('\n')) transcript.note(line);
  transcript.expect('every trail verifies', code, 0);
}
