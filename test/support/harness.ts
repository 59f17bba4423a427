/** What every test of the core on a store needs: time, randomness, people and a service. */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Command } from '../../lib/core/model/commands.ts';
import type { Principal } from '../../lib/core/model/principal.ts';
import type { Committed, Outcome } from '../../lib/core/outcome.ts';
import type { Clock, Random } from '../../lib/core/ports/runtime.ts';
import type { StorageBackend } from '../../lib/core/ports/storage.ts';
import { buildRegistry, type ProcedureRegistry } from '../../lib/core/procedures.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { createService, type Service } from '../../lib/core/service/service.ts';
import { testPolicy } from './test-policy.ts';

/** 2026-03-01T09:00:00.000Z, the time at which tests begin. */
export const START_MS = 1_772_355_600_000;

/** A clock that moves only when it is told to, and by sleeping. */
export interface TestClock extends Clock {
  set(ms: number): void;
  advance(ms: number): void;
}

/** A clock that stands at `startMs`. Sleeping moves it and lets other work go on. */
export function testClock(startMs = START_MS): TestClock {
  let now = startMs;
  return {
    now: () => Math.floor(now),
    sleep: async (ms) => {
      now += ms;
      await setImmediate();
    },
    set: (ms) => {
      now = ms;
    },
    advance: (ms) => {
      now += ms;
    },
  };
}

/** Randomness that is the same for the same seed; another seed never gives the same ids. */
export function testRandom(seed = 'seed'): Random {
  let n = 0;
  const next = (): string => createHash('sha256').update(`${seed}\n${n++}`).digest('hex');
  return {
    id: () =>
      BigInt(`0x${next().slice(0, 32)}`)
        .toString(36)
        .padStart(26, '0'),
    key: () => next(),
    fraction: () => Number.parseInt(next().slice(0, 8), 16) / 2 ** 32,
  };
}

/** A person with the scope to work, unless something else is asked for. */
export function principal(
  part: Partial<Omit<Principal, 'scopes'>> & { readonly scopes?: Iterable<string> } = {},
): Principal {
  const { scopes = ['procedures:run'], ...rest } = part;
  const defaults = { tenant: 'acme', subject: 'dev:ana', name: 'Ana', kind: 'person', via: 'mcp' };
  return { ...defaults, ...rest, scopes: new Set(scopes) } as Principal;
}

/** The registry of the test domain. */
export function testRegistry(): ProcedureRegistry {
  const built = buildRegistry([testPolicy]);
  if (!built.ok) throw new Error(JSON.stringify(built.faults));
  return built.registry;
}

/** A service with everything a test may look at. */
export interface TestService {
  readonly service: Service;
  readonly clock: TestClock;
  readonly registry: ProcedureRegistry;
  /** Executes with a deadline of ten seconds. */
  readonly execute: (who: Principal, command: Command) => Promise<Outcome>;
  /** Executes a command that must take effect. */
  readonly ok: (who: Principal, command: Command) => Promise<Committed>;
}

/** Builds a service of the test domain on a store. Give each service of one store its own seed. */
export function makeService(
  store: StorageBackend,
  parts: { readonly clock?: TestClock; readonly seed?: string; readonly sinks?: string[] } = {},
): TestService {
  const { clock = testClock(), seed = 'service', sinks = ['log'] } = parts;
  const registry = testRegistry();
  const secrets = secretsOf('a secret of at least thirty-two characters');
  const random = testRandom(seed);
  const service = createService({ store, registry, clock, random, secrets, sinks });
  const execute = (who: Principal, command: Command): Promise<Outcome> =>
    service.execute(who, command, clock.now() + 10_000);
  return {
    service,
    clock,
    registry,
    execute,
    ok: async (who, command) => {
      const outcome = await execute(who, command);
      if (outcome.code !== 'OK') throw new Error(`refused: ${JSON.stringify(outcome)}`);
      return outcome;
    },
  };
}
