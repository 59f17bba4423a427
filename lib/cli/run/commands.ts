// `checkpoint run`: incident runs on a running server, as a person.
import { visibleJson } from '../../core/display.ts';
import { isRunId } from '../../core/model/aggregate.ts';
import type { Scope } from '../../core/model/principal.ts';
import { systemClock } from '../../wiring/local.ts';
import type { Commands } from '../commands.ts';
import { CliProblem } from '../failure.ts';
import { eventLines, pendingLines, runLines, workLines } from './lines.ts';
import { runServer, type Answer, type RunServer, type ServerFlags } from './server.ts';

interface Flags extends ServerFlags {
  readonly json?: boolean;
  readonly key?: string;
}

/** How long `--wait` waits for a proposal, in milliseconds, and how often it looks. */
const WAIT_MS = 120_000;
const LOOK_MS = 500;

/** Adds the commands. */
export function addRunCommands({ program, out, settings, fail }: Commands): void {
  const run = program
    .command('run')
    .description('incident runs on a running server: evidence, one action, a decision, one ticket');

  const connect = ({ data, ...flags }: Flags, scope: Scope): Promise<RunServer> =>
    runServer(settings({ ...(data !== undefined && { data }) }), flags, scope);
  const keyed = ({ key }: Flags): Readonly<Record<string, string>> =>
    key === undefined ? {} : { 'idempotency-key': key };
  const show = (answer: Answer, { json }: Flags): void => {
    if (json === true) out(visibleJson(JSON.stringify(answer)));
    else for (const line of linesOf(answer)) out(line);
    if (answer['status'] === 'failed') fail();
  };
  /** A command with the options of all of them; `by` is who calls where nobody is named. */
  const command = (name: string, description: string, by?: string) =>
    run
      .command(name)
      .description(description)
      .option('--as <subject>', 'who calls, by a token of the data folder', by)
      .option('--name <name>', 'the name that is shown')
      .option('--tenant <tenant>', 'the tenant they belong to', 'local')
      .option('--token <token>', 'a token of theirs, in place of one of the data folder')
      .option('--url <url>', 'a running server; the one of HOST and PORT where left out')
      .option('--json', 'the answer as JSON')
      .option('--data <folder>', 'data folder (CHECKPOINT_DATA)');

  command('create', 'report an incident', 'ana')
    .requiredOption('--service <service>', 'the service that it is about')
    .requiredOption('--symptom <symptom>', 'what is wrong')
    .option('--wait', 'until there is something to decide')
    .option('--key <key>', 'idempotency key; the same incident attaches for ten minutes anyway')
    .action(async (flags: Flags & { service: string; symptom: string; wait?: boolean }) => {
      const { service, symptom, wait } = flags;
      const server = await connect(flags, 'runs:create');
      const prefer = { prefer: `wait=${wait === true ? 10 : 0}` };
      const created = await server.post(
        '/runs',
        { service, symptom },
        { ...prefer, ...keyed(flags) },
      );
      show(wait === true ? await proposed(server, created) : created, flags);
    });

  command('show', 'one run: what was read, the exact action, what was decided', 'ana')
    .argument('<id>', 'the run')
    .action(async (id: string, flags: Flags) => {
      const server = await connect(flags, 'runs:create');
      show(await server.get(pathOf(id)), flags);
    });

  command('events', 'the trail of one run', 'ana')
    .argument('<id>', 'the run')
    .action(async (id: string, flags: Flags) => {
      const server = await connect(flags, 'audit:read');
      for await (const events of trailOf(server, id)) {
        const lines =
          flags.json === true
            ? events.map((event) => visibleJson(JSON.stringify(event)))
            : eventLines(events);
        for (const line of lines) out(line);
      }
    });

  command('pending', 'what waits for a decision: of runs, and of blocked work').action(
    async (flags: Flags) => {
      const server = await connect(flags, 'approvals:decide');
      let none = true;
      for await (const pending of pagesOf(server, '/approvals')) {
        none &&= pending.length === 0;
        for (const one of pending) {
          if (flags.json === true) out(visibleJson(JSON.stringify(one)));
          else for (const line of pendingLines(one)) out(line);
        }
      }
      if (none && flags.json !== true) out('Nothing waits for a decision.');
    },
  );

  for (const [name, approved, description] of DECISIONS) {
    command(name, description)
      .argument('<id>', 'the run, or the blocked work')
      .requiredOption('--hash <digest>', 'the full action_hash of the action that was looked at')
      .option('--key <key>', 'idempotency key')
      .action(async (id: string, flags: Flags & { hash: string }) => {
        if (!/^[0-9a-f]{64}$/.test(flags.hash)) {
          throw new CliProblem('--hash: expected the full action_hash, 64 lower-case hex digits.');
        }
        const server = await connect(flags, 'approvals:decide');
        const body = { approved, action_hash: flags.hash };
        const path = isRunId(id) ? pathOf(id) : `/workflows/${encodeURIComponent(id)}`;
        const answer = await server.post(`${path}/approval`, body, keyed(flags));
        show((answer['run'] ?? answer['workflow']) as Answer, flags);
      });
  }

  command('resume', 'let a failed run go on', 'ana')
    .argument('<id>', 'the run')
    .option('--key <key>', 'idempotency key')
    .action(async (id: string, flags: Flags) => {
      const server = await connect(flags, 'runs:create');
      const answer = await server.post(`${pathOf(id)}/resume`, {}, keyed(flags));
      show(answer['run'] as Answer, flags);
    });
}

const DECISIONS = [
  ['approve', true, 'approve exactly one action, by its digest'],
  ['deny', false, 'deny exactly one action, by its digest'],
] as const;

function pathOf(id: string): string {
  if (isRunId(id)) return `/runs/${encodeURIComponent(id)}`;
  throw new CliProblem('expected the id of a run, such as run-09b982a3d3ijmf4qde6ilammzh.');
}

/** Looks until the run waits for a decision or has ended. */
async function proposed(server: RunServer, created: Answer): Promise<Answer> {
  const until = systemClock.now() + WAIT_MS;
  const { run_id: id } = created;
  if (typeof id !== 'string') throw new CliProblem('The server names no run: check --url.');
  let seen = created;
  while (seen['status'] === 'created' || seen['status'] === 'gathering') {
    if (systemClock.now() > until) {
      throw new CliProblem(`${id} is still gathering: look at it later.`);
    }
    await systemClock.sleep(LOOK_MS);
    seen = await server.get(pathOf(id));
  }
  return seen;
}

/** What stands after a decision: a run, or work. */
const linesOf = (answer: Answer): readonly string[] =>
  answer['workflow_id'] === undefined ? runLines(answer) : workLines(answer);

const trailOf = (server: RunServer, id: string): AsyncGenerator<readonly Answer[]> =>
  pagesOf(server, `${pathOf(id)}/events`);

async function* pagesOf(server: RunServer, path: string): AsyncGenerator<readonly Answer[]> {
  for (let cursor: string | undefined; ;) {
    const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const page = await server.get(`${path}${query}`);
    yield (Array.isArray(page['items']) ? page['items'] : []) as readonly Answer[];
    const next = page['next_cursor'];
    if (typeof next !== 'string') return;
    cursor = next;
  }
}
