import { setImmediate } from 'node:timers/promises';
import { createWorkPool } from '../../lib/adapters/runtime/work-pool.ts';
import { systemClock } from '../../lib/adapters/runtime/system.ts';
import { stepFunctionsOrchestrator } from '../../lib/adapters/step-functions/orchestrator.ts';
import { LIMITS } from '../../lib/core/limits.ts';
import { executionName } from '../../lib/core/runs/execution.ts';
import { MACHINE_ARN, startStepFunctions } from '../support/step-functions.ts';
import { clientAt } from './sinks/subjects.ts';
import { orchestratorContract } from './orchestrator/contract.ts';

orchestratorContract({
  name: 'of a local process',
  open: () => {
    const begun: unknown[] = [];
    const ends = new Map<string, (how: 'well' | 'crashed') => void>();
    const pool = createWorkPool({
      onError: () => undefined,
      work: (work) => {
        begun.push(work);
        return new Promise((resolve, reject) => {
          ends.set(executionName(work), (how) => {
            if (how === 'well') resolve();
            else reject(new Error('planted'));
          });
        });
      },
    });
    return Promise.resolve({
      orchestrator: pool,
      begun: async () => {
        await setImmediate();
        return [...begun];
      },
      end: async (name, how) => {
        await setImmediate();
        ends.get(name)?.(how);
        await setImmediate();
      },
      fill: async () => {
        const most = LIMITS.localExecutions.max + LIMITS.waitingExecutions.max;
        for (let attempt = 100; attempt < most + 100; attempt++) {
          const work = { tenant: 'acme', run: 'run-other', attempt };
          await pool.start(executionName(work), work, 0);
          await setImmediate();
        }
      },
      close: async () => {
        for (const end of ends.values()) end('well');
        await pool.stop(0);
      },
    });
  },
});

orchestratorContract({
  name: 'on Step Functions',
  open: async () => {
    const service = await startStepFunctions();
    const client = clientAt(service.url);
    const orchestrator = stepFunctionsOrchestrator({
      stateMachineArn: MACHINE_ARN,
      clock: systemClock,
      client,
    });
    return {
      orchestrator,
      begun: () => Promise.resolve(service.begun()),
      end: (name, how) => {
        service.end(name, how === 'well' ? 'SUCCEEDED' : 'FAILED');
        return Promise.resolve();
      },
      fill: () => {
        service.answer({ status: 400, code: 'ThrottlingException' });
        return Promise.resolve();
      },
      close: async () => {
        orchestrator.close();
        await service.close();
      },
    };
  },
});
