/**
 * People who work at once on a few assets through tools, say things twice, and say again what was not
 * answered: what they asked and were told is recorded.
 */
import type { Peer } from '../wire.ts';
import { tool } from '../wire.ts';
import type { Ask, Told } from './asset.ts';
import { Recorder, type Operation } from './history.ts';

/** How the crew works. */
export interface CrewTask {
  readonly clients: readonly { readonly name: string; readonly token: string }[];
  readonly assets: readonly string[];
  /** Pieces of work that each of them tries to do. */
  readonly rounds: number;
  /** Where the server is now; waits while there is none. */
  readonly url: () => Promise<string>;
  /** Called with the number of calls so far, before each. */
  readonly sending: (calls: number) => void;
  readonly fraction: () => number;
}

const STEPS = [
  { step: 'guards_check', said: { confirmed: true }, value: true },
  { step: 'vibration', said: { reading: 2.2 }, value: 2.2 },
] as const;

/** Works until everybody has done their rounds. */
export async function crew(task: CrewTask): Promise<readonly Operation<Ask, Told>[]> {
  const recorder = new Recorder<Ask, Told>();
  let calls = 0;

  const say = async (
    client: CrewTask['clients'][number],
    ask: Ask,
    name: string,
    args: { readonly [name: string]: unknown },
  ): Promise<Told> => {
    const once = async (): Promise<Operation<Ask, Told>> => {
      const url = await task.url();
      task.sending(++calls);
      const peer: Peer = { url, token: client.token };
      const all = { ...args, idempotency_key: ask.key };
      return recorder.call(
        client.name,
        ask,
        async () => toldBy(await tool(peer, name, all)),
        meaningOf,
      );
    };
    for (let n = 0; n < 200; n++) {
      // Some are impatient and send everything twice.
      const twice = task.fraction() < 0.3 ? once() : undefined;
      const first = await once();
      const second = await twice;
      for (const { end, told: answer } of [first, ...(second === undefined ? [] : [second])]) {
        if (end !== 'unknown' && answer !== undefined) return answer;
      }
    }
    throw new Error(`${client.name} was never answered about ${ask.key}`);
  };

  const work = async (client: CrewTask['clients'][number], round: number): Promise<void> => {
    const asset = task.assets[Math.floor(task.fraction() * task.assets.length)] ?? '';
    const about = (what: Ask['do'], part = ''): Ask => ({
      asset,
      do: what,
      key: `${asset} ${round} ${what}${part}`,
    });
    const started = await say(client, about('start'), 'start_workflow', {
      procedure: 'pump-inspection',
      asset,
    });
    const { workflow } = started;
    if (started.code !== 'OK' || workflow === undefined) return;
    for (const { step, said, value } of STEPS) {
      const ask = { ...about('record', ` ${step}`), workflow, step, value };
      await say(client, ask, 'record_step', { workflow_id: workflow, step, ...said });
    }
    const end = { ...about('end'), workflow };
    const args = { workflow_id: workflow, tenure: 1, reason: 'the shift is over' };
    await say(client, end, 'abandon_workflow', args);
  };

  await Promise.all(
    task.clients.map(async (client) => {
      for (let round = 0; round < task.rounds; round++) await work(client, round);
    }),
  );
  return recorder.operations;
}

/** What a tool's answer says of a command. */
export function toldBy({ fields }: Awaited<ReturnType<typeof tool>>): Told {
  const receipt = fields['receipt'] as { seq: number } | undefined;
  const retryable = fields['retryable'] === true;
  return {
    code: retryable ? 'AGAIN' : String(fields['code']),
    ...(receipt !== undefined && {
      duplicate: fields['duplicate'] === true,
      workflow: String(fields['workflow_id']),
      seq: receipt.seq,
    }),
  };
}

/** An answer that may be said again tells nothing of what became of the call. */
export function meaningOf({ code }: Told): 'ok' | 'fail' | 'unknown' {
  if (code === 'OK') return 'ok';
  return code === 'AGAIN' ? 'unknown' : 'fail';
}
