// What one MCP call costs in the process: request object in, answer read. The store is in memory, tokens
// are verified for real, and the bare SDK with one trivial tool takes turns with every call.
import { systemClock, systemRandom } from '../../../lib/adapters/runtime/system.ts';
import { openDevIssuer } from '../../../lib/adapters/identity/dev-issuer.ts';
import { createTokenVerifier } from '../../../lib/adapters/identity/token-verifier.ts';
import { createTokenBuckets } from '../../../lib/adapters/runtime/token-buckets.ts';
import { createRunQueries } from '../../../lib/core/runs/queries.ts';
import { createRunService } from '../../../lib/core/runs/service.ts';
import { createQueries } from '../../../lib/core/queries.ts';
import { secretsOf } from '../../../lib/core/secrets.ts';
import { createService } from '../../../lib/core/service/service.ts';
import { createApp } from '../../../lib/surface/app.ts';
import { bareHandshake, bareStateless, trivialServer, type Serve } from '../support/bare-sdk.ts';
import { callRequest, resultOf, URL_OF_APP, type Called, type Era } from '../support/calls.ts';
import { benchRegistry, newKey } from '../support/domain.ts';
import { median, ms, spread, timed } from '../support/measure.ts';
import { memoryStore } from '../support/memory-store.ts';
import { withFolder } from '../support/service-on.ts';
import type { Topic } from '../support/table.ts';

const ERAS: readonly (readonly [Era, string])[] = [
  ['handshake', '2025-11-25'],
  ['stateless', '2026-07-28'],
];

/** The app on a store in memory, with a token of its own issuer. */
async function openApp(folder: string, mcpFactory?: () => ReturnType<typeof trivialServer>) {
  const issuer = await openDevIssuer(folder);
  const registry = benchRegistry();
  const store = memoryStore();
  const secrets = secretsOf('a secret of at least thirty-two characters');
  const parts = { store, registry, secrets, clock: systemClock, random: systemRandom };
  const app = createApp({
    service: createService({ ...parts, sinks: ['log'] }),
    queries: createQueries(store, registry),
    runs: createRunService({ ...parts, sinks: ['log'] }),
    runQueries: createRunQueries(store),
    mcpApprovals: false,
    registry,
    store,
    verifier: createTokenVerifier({ issuers: [issuer.issuerConfig()], clock: systemClock }),
    clock: systemClock,
    publicUrl: URL_OF_APP,
    authorizationServers: [],
    allowedOrigins: [],
    allowedHosts: [],
    authProfile: 'standard',
    commandTimeoutMs: 60_000,
    serverVersion: '0.0.0',
    rateLimiter: createTokenBuckets(600_000, systemClock),
    log: () => undefined,
    ...(mcpFactory !== undefined && { mcpFactory }),
  });
  await app.warmUp();
  const token = await issuer.sign({ subject: 'ana', name: 'Ana', scopes: ['procedures:run'] });
  return { token, serve: (async (request) => app.fetch(request)) satisfies Serve };
}

/** Measures calls in both eras. */
export const mcp: Topic = (size, note) =>
  withFolder(async (folder) => {
    const rounds = size === 'quick' ? 400 : 3_000;
    note(`${rounds} rounds of each call in each era`);
    const rows: string[][] = [];
    const targets: { era: string; over: number }[] = [];
    for (const [era, revision] of ERAS) {
      const samples = await measure(era, folder, rounds);
      const bare = median(samples.bare);
      for (const [what, values] of Object.entries(LABELS)) {
        const { p50, p99 } = spread(samples[what as keyof typeof LABELS]);
        const over = what === 'bare' ? '' : ms(p50 - bare);
        rows.push([`${revision}: ${values}`, ms(p50), ms(p99), over]);
      }
      const ours = [...samples.read, ...samples.step, ...samples.repeat];
      targets.push({ era: revision, over: median(ours) - bare });
    }
    return {
      title: 'One MCP call, storage excluded',
      head: ['request object in to answer read', 'p50', 'p99', 'p50 over the bare SDK'],
      rows,
      targets: targets.map(({ era, over }) => ({
        name: `${era}: median of reads, steps and repeats over the bare SDK`,
        measured: ms(over),
        target: 'less than 0.5 ms',
        met: over < 0.5,
      })),
    };
  });

const LABELS = {
  bare: 'bare SDK, one trivial tool',
  pipeline: 'our pipeline with that tool: host, token, body, era',
  help: 'what_can_i_do',
  read: 'get_workflow',
  step: 'record_step',
  repeat: 'record_step, repeated with its key',
} as const;

async function measure(era: Era, folder: string, rounds: number) {
  const bare = era === 'handshake' ? bareHandshake : bareStateless();
  const { serve, token } = await openApp(folder);
  const fixture = await openApp(folder, trivialServer);
  const samples = {
    bare: [] as number[],
    pipeline: [] as number[],
    help: [] as number[],
    read: [] as number[],
    step: [] as number[],
    repeat: [] as number[],
  };
  const call = async (into: number[], on: Serve, request: Request): Promise<Called> =>
    resultOf(await timed(into, async () => (await on(request)).text()));
  const ask = (into: number[], name: string, args: object): Promise<Called> =>
    call(into, serve, callRequest(era, name, args, token));
  const echo = { text: 'the pressure is five point two bar' };
  const warmUp = 300;
  for (let i = 0; i < rounds + warmUp; i++) {
    if (i === warmUp) for (const list of Object.values(samples)) list.length = 0;
    await call(samples.bare, bare, callRequest(era, 'echo', echo));
    await call(samples.pipeline, fixture.serve, callRequest(era, 'echo', echo, fixture.token));
    await ask(samples.help, 'what_can_i_do', {});
    const asset = { procedure: 'valve-check', asset: `VALVE-${i}`, idempotency_key: newKey() };
    const started = await ask([], 'start_workflow', asset);
    const id = started.structuredContent['workflow_id'];
    const step = { workflow_id: id, step: 'isolated', confirmed: true, idempotency_key: newKey() };
    const first = await ask(samples.step, 'record_step', step);
    const again = await ask(samples.repeat, 'record_step', step);
    const read = await ask(samples.read, 'get_workflow', { workflow_id: id });
    const codes = [first, again, read].map(({ structuredContent }) => structuredContent['code']);
    if (codes.some((code) => code !== 'OK')) throw new Error(`refused: ${codes.join(', ')}`);
    if (again.structuredContent['duplicate'] !== true) throw new Error('a repeat took effect');
  }
  return samples;
}
