/** Conversations of `checkpoint talk` in this process, and the workflows they leave behind. */
import { Readable } from 'node:stream';
import { runCli } from '../../lib/cli/program.ts';
import type { Ended } from './command-line.ts';
import { eventsIn } from './trail.ts';

/** Says lines as one person; answers how the command ended. */
export async function talked(
  folder: string,
  who: string,
  lines: readonly string[],
  flags: readonly string[] = [],
): Promise<Ended> {
  let out = '';
  let err = '';
  const args = ['talk', '--as', who, '--data', folder, ...flags];
  const code = await runCli(args, {
    env: {},
    out: (text) => {
      out += `${text}\n`;
    },
    err: (text) => {
      err += `${text}\n`;
    },
    input: { stream: Readable.from(lines.map((line) => `${line}\n`)) },
    stopped: () => Promise.resolve(),
  });
  return { code, out, err };
}

/** What a supervisor's scope is asked for with. */
export const SUPERVISOR = ['--scope', 'procedures:supervise'];

/** The sentence that nobody may keep. */
export const SECRET = 'the seal smells of plums';

/** A workflow on PUMP-07 with a sensitive remark and a block that was resolved; answers its id. */
export async function inspected(folder: string): Promise<string> {
  await talked(folder, 'ana', [
    'start pump-inspection PUMP-07',
    'yes',
    'suction_pressure 2.1',
    '42',
    'yes',
  ]);
  await talked(folder, 'cara', ['resolve retake because it was read wrongly'], SUPERVISOR);
  await talked(folder, 'ana', ['discharge_pressure 7.2', 'yes', `operator_remarks ${SECRET}`]);
  const [first] = eventsIn(folder);
  if (first === undefined) throw new Error('nothing was recorded');
  return first.workflow;
}
