// The work of one attempt of a run, in short steps: gathers until a planner proposes, or writes what was
// approved and reads it back. What crashes, or meets a fault, leaves the run as it is: the reconciler
// begins the next attempt.
// Invariants: target and arguments of a write come from the approved record alone; the run is read again
// before every external call, and nothing is sent for another attempt, another state or after its last
// moment (I7); a fault never fails a run (I6).
import { createGathering, type Gathering, type GatheringParts } from '../evidence/gather.ts';
import { Fault } from '../fault.ts';
import { WORKING, type Run } from '../model/run.ts';
import type { RunWork } from '../ports/orchestrator.ts';
import type { Miss, Planner } from '../ports/planner.ts';
import type { Clock } from '../ports/runtime.ts';
import { isDeliveryError } from '../ports/sink.ts';
import type { StorageBackend } from '../ports/storage.ts';
import type { Ticket, TicketProvider } from '../ports/tickets.ts';
import { orderOf } from './order.ts';
import { presentEvidence } from './present-evidence.ts';
import { differences } from './read-back.ts';
import type { RunService } from './service.ts';
import { RUN } from './timing.ts';
import { refusalForWriting, type WorkStep } from './work.ts';

/** What a worker works with. */
export interface WorkerParts {
  readonly store: Pick<StorageBackend, 'snapshot' | 'listEvidence'>;
  readonly service: Pick<RunService, 'advance'>;
  readonly clock: Clock;
  readonly planner: Planner;
  readonly evidence: GatheringParts;
  readonly tickets: TicketProvider;
}

/** Does the work of attempts. Nothing more is begun once the signal is aborted. */
export type Worker = (of: RunWork, signal?: AbortSignal) => Promise<void>;

/** Builds a worker. */
export function createWorker(parts: WorkerParts): Worker {
  const { store, service, clock, planner, tickets } = parts;

  return async (of, signal) => {
    const { tenant, run: id, attempt } = of;
    const by = (ms: number): number => clock.now() + ms;

    /** The run, if it still waits for this attempt in this state; undefined where there is nothing to do. */
    const current = async (state?: Run['state']): Promise<Run | undefined> => {
      if (signal?.aborted === true) return undefined;
      const [run] = await store.snapshot([{ kind: 'run', tenant, id }]);
      if (run?.attempt !== attempt || run.frozen !== undefined) return undefined;
      return (state === undefined ? WORKING.has(run.state) : run.state === state) ? run : undefined;
    };

    /** Takes a step; undefined where the run has moved on and the attempt is over. */
    const step = async (what: WorkStep): Promise<Run | undefined> => {
      const outcome = await service.advance(of, what, by(RUN.stepMs));
      return outcome.code === 'OK' ? outcome.run : undefined;
    };

    const fail = (reason: string, message: string): Promise<Run | undefined> =>
      step({ do: 'fail', reason, message });

    const gather = async (): Promise<void> => {
      let run = await step({ do: 'begin' });
      if (run === undefined) return;
      const gathering = createGathering(parts.evidence, run.evidence.length);
      const misses: Miss[] = [];
      for (;;) {
        const { service: name, symptom } = run;
        const evidence = await presentEvidence(store, run);
        const budget = gathering.left();
        const seen = { run: { service: name, symptom }, evidence, misses, budget };
        const plan = await planner.plan(seen, by(RUN.callMs));
        if (plan.next === 'give_up') {
          await fail(plan.reason, plan.message);
          return;
        }
        if (plan.next === 'propose') {
          const { action, missing } = plan;
          await step({ do: 'propose', action, ...(missing !== undefined && { missing }) });
          return;
        }
        if (budget === 0) {
          await fail('STEP_BUDGET_EXCEEDED', 'the evidence that was asked for is too much');
          return;
        }
        if ((await current('gathering')) === undefined) return;
        const next: Run | undefined = await ask(gathering, plan.request, misses, run);
        if (next === undefined) return;
        run = next;
      }
    };

    const ask = async (
      gathering: Gathering,
      request: Parameters<Gathering['ask']>[0],
      misses: Miss[],
      run: Run,
    ): Promise<Run | undefined> => {
      const outcome = await gathering.ask(request, by(RUN.callMs));
      // What was cut off because the process ends is no answer of a tool: the next attempt asks again.
      if (signal?.aborted === true) return undefined;
      if (outcome.code === 'OBSERVED') {
        return step({ do: 'observe', observation: outcome.observation });
      }
      misses.push({ server: request.server, tool: request.tool, code: outcome.code });
      return run;
    };

    /** What is there under the key of the write, if it may be looked at. */
    const lookUp = async (state: 'executing' | 'verifying') => {
      const run = await current(state);
      const order = run && orderOf(run);
      if (run === undefined || order === undefined) return undefined;
      const found = await tickets.find(tenant, order.key, by(RUN.callMs));
      return { run, order, found };
    };

    const differs = async (names: readonly string[]): Promise<void> => {
      const message = `what was written differs from what was approved: ${names.join(', ')}`;
      await fail('READ_BACK_DIFFERS', message);
    };

    const written = (reference: string): Promise<Run | undefined> =>
      step({ do: 'written', provider: tickets.name, reference });

    const write = async (): Promise<void> => {
      const seen = await lookUp('executing');
      if (seen === undefined) return;
      const { run, order, found } = seen;
      if (found !== undefined) {
        const names = differences(order, found);
        if (names.length > 0) await differs(names);
        else if ((await written(found.reference)) !== undefined) await verify();
        return;
      }
      // Whoever comes too late sends nothing; what became of it is found out by the reconciler.
      const intended = await step({ do: 'intend', provider: tickets.name });
      const still = intended && (await current('executing'));
      if (still === undefined || refusalForWriting(still, attempt, clock.now()) !== undefined)
        return;
      const notAfter = Date.parse(run.proposal?.action.not_after ?? '');
      let reference: string;
      try {
        reference = await tickets.create(order, Math.min(notAfter, by(RUN.callMs)));
      } catch (error) {
        if (!isDeliveryError(error) || error.kind !== 'terminal') throw error;
        await fail('WRITE_REFUSED', error.message);
        return;
      }
      if ((await written(reference)) !== undefined) await verify();
    };

    const verify = async (): Promise<void> => {
      const seen = await lookUp('verifying');
      if (seen === undefined) return;
      const found: Ticket | undefined = seen.found;
      // Absent is unknown: the next attempt looks again, and the reconciler once it can be no more.
      if (found === undefined) {
        throw new Fault('retryable', 'BACKEND_UNAVAILABLE', 'the write cannot be seen yet');
      }
      const names = differences(seen.order, found);
      if (names.length > 0) await differs(names);
      else await step({ do: 'verified', provider: tickets.name, reference: found.reference });
    };

    const run = await current();
    if (run === undefined) return;
    if (run.state === 'executing') await write();
    else if (run.state === 'verifying') await verify();
    else await gather();
  };
}
