/** The contract of the orchestrator port: what every one keeps, wherever the work is done. */
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Orchestrator } from '../../../lib/core/ports/orchestrator.ts';
import { isDeliveryError, type DeliveryError } from '../../../lib/core/ports/sink.ts';
import { executionName } from '../../../lib/core/runs/execution.ts';

/** An orchestrator, and the hands on what it begins. */
export interface OrchestratorBench {
  readonly orchestrator: Orchestrator;
  /** The inputs of the executions that were begun, in their order. */
  readonly begun: () => Promise<readonly unknown[]>;
  /** Ends an execution, well or by a crash. */
  readonly end: (name: string, how: 'well' | 'crashed') => Promise<void>;
  /** Fills it, or its service, until it takes no more. */
  readonly fill: () => Promise<void>;
  close(): Promise<void>;
}

/** Opens one. */
export interface OrchestratorSubject {
  readonly name: string;
  open(): Promise<OrchestratorBench>;
}

const work = { tenant: 'acme', run: 'run-1', attempt: 2 };
const name = executionName(work);
const soon = (): number => Date.now() + 10_000;

/** The error that a call rejects with. */
export async function failureOf(call: Promise<unknown>): Promise<DeliveryError> {
  try {
    await call;
  } catch (error) {
    if (isDeliveryError(error)) return error;
    throw error;
  }
  throw new Error('expected a failure');
}

/** Declares the cases for one orchestrator. */
export function orchestratorContract(subject: OrchestratorSubject): void {
  describe(`the orchestrator ${subject.name}`, () => {
    let bench: OrchestratorBench | undefined;
    afterEach(async () => {
      await bench?.close();
      bench = undefined;
    });
    const open = async (): Promise<OrchestratorBench> => (bench = await subject.open());

    test('begins an execution with ids and nothing else, and says that it is running', async () => {
      const { orchestrator, begun } = await open();
      await orchestrator.start(name, work, soon());
      expect(await begun()).toEqual([work]);
      expect(await orchestrator.describe(name, soon())).toBe('running');
    });

    test('knows nothing of a name that was never begun', async () => {
      const { orchestrator } = await open();
      expect(await orchestrator.describe(name, soon())).toBe('absent');
    });

    test.each(['well', 'crashed'] as const)(
      'says that one has ended that ended %s',
      async (how) => {
        const { orchestrator, end } = await open();
        await orchestrator.start(name, work, soon());
        await end(name, how);
        expect(await orchestrator.describe(name, soon())).toBe('ended');
      },
    );

    test('a name that runs or has ended is a success and begins nothing', async () => {
      const { orchestrator, begun, end } = await open();
      await orchestrator.start(name, work, soon());
      await orchestrator.start(name, work, soon());
      expect(await begun()).toHaveLength(1);
      await end(name, 'well');
      await orchestrator.start(name, work, soon());
      expect(await begun()).toHaveLength(1);
    });

    test('ten starts of one name at once begin one execution', async () => {
      const { orchestrator, begun } = await open();
      await Promise.all(Array.from({ length: 10 }, () => orchestrator.start(name, work, soon())));
      expect(await begun()).toHaveLength(1);
    });

    test('another attempt of the same run is another execution', async () => {
      const { orchestrator, begun } = await open();
      await orchestrator.start(name, work, soon());
      const next = { ...work, attempt: 3 };
      await orchestrator.start(executionName(next), next, soon());
      expect(await begun()).toEqual([work, next]);
    });

    test('one that takes no more is retryable, and has begun nothing', async () => {
      const { orchestrator, fill, begun } = await open();
      await fill();
      const before = await begun();
      const failure = await failureOf(orchestrator.start(name, work, soon()));
      expect(failure.kind).toBe('retryable');
      expect(await begun()).toEqual(before);
    });
  });
}
