/** A whole pump inspection through any client: what everybody calls, and what it was answered. */

/** What a tool answered. */
export interface Called {
  readonly text: string;
  readonly fields: { readonly [name: string]: unknown };
  readonly isError: boolean;
}

/** Calls a tool for one person. */
export type Caller = (name: string, args: { readonly [name: string]: unknown }) => Promise<Called>;

/** The people of an inspection. */
export interface Crew {
  readonly operator: Caller;
  readonly second: Caller;
  readonly supervisor: Caller;
}

/** What an inspection of `INSPECTION` answers, in the order of its calls. */
export const INSPECTION = [
  'start_workflow: OK started CREATED, next guards_check',
  'guards_check: OK recorded RUNNING, next suction_pressure',
  'suction_pressure: OK recorded RUNNING, next discharge_pressure',
  'discharge_pressure: NEEDS_CONFIRMATION RUNNING, next discharge_pressure',
  'discharge_pressure: OK blocked BLOCKED',
  'list_blocked: OK',
  'resolve_block: OK reopened RUNNING, next discharge_pressure',
  'discharge_pressure: OK recorded RUNNING, next bearing_temperature',
  'bearing_temperature: OK recorded RUNNING, next vibration',
  'vibration: OK recorded RUNNING, next seal_condition',
  'seal_condition: OK recorded RUNNING, next motor_current',
  'isolation_check: OK awaiting_second_person RUNNING, next isolation_check',
  'isolation_check: OK confirmed RUNNING',
  'complete_workflow: OK completed COMPLETED',
];

/** Plays an inspection of an asset to its end; answers one line per call. */
export async function inspect(crew: Crew, asset: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const call = async (
    who: Caller,
    name: string,
    args: { readonly [name: string]: unknown },
  ): Promise<Called> => {
    const answer = await who(name, args);
    lines.push(lineOf(args['step'] ?? name, answer));
    return answer;
  };
  const { operator, second, supervisor } = crew;
  const started = await call(operator, 'start_workflow', {
    procedure: 'pump-inspection',
    asset,
    idempotency_key: `start ${asset}`,
  });
  const workflow_id = started.fields['workflow_id'];
  const record = (who: Caller, step: string, args: object): Promise<Called> =>
    call(who, 'record_step', { workflow_id, step, ...args });

  await record(operator, 'guards_check', { confirmed: true });
  await record(operator, 'suction_pressure', { reading: 2.1, unit: 'bar' });
  const high = { reading: 42, idempotency_key: `high ${asset}` };
  const asked = await record(operator, 'discharge_pressure', high);
  const { confirmation_token } = asked.fields;
  await record(operator, 'discharge_pressure', { ...high, confirmation_token });
  const listed = await call(supervisor, 'list_blocked', {});
  const { block } = (listed.fields['workflows'] as { block?: { seq: number } }[])[0] ?? {};
  await call(supervisor, 'resolve_block', {
    workflow_id,
    block: block?.seq,
    decision: 'retake',
    reason: 'gauge was read wrongly',
  });
  await record(operator, 'discharge_pressure', { reading: 7.2, replaces: block?.seq });
  await record(operator, 'bearing_temperature', { reading: 61.5 });
  await record(operator, 'vibration', { reading: 2.2 });
  await record(operator, 'seal_condition', { choice: 'damp' });
  const waiting = await record(operator, 'isolation_check', { confirmed: true });
  const { seq } = waiting.fields['receipt'] as { seq: number };
  await record(second, 'isolation_check', { confirmed: true, confirms: seq });
  await call(operator, 'complete_workflow', { workflow_id });
  return lines;
}

function lineOf(what: unknown, { fields, isError }: Called): string {
  const { code, receipt, workflow, next_step } = fields as {
    readonly code: string;
    readonly receipt?: { readonly result: string };
    readonly workflow?: { readonly state: string };
    readonly next_step?: { readonly step: string };
  };
  const words = [code, receipt?.result, workflow?.state].filter((word) => word !== undefined);
  const next = next_step === undefined ? '' : `, next ${next_step.step}`;
  return `${String(what)}: ${words.join(' ')}${next}${isError ? ' (error)' : ''}`;
}
