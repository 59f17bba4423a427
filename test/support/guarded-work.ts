/** Work that its procedure lets propose something, by its own commands, and people who decide on it. */
import type { Command, StepInput } from '../../lib/core/model/commands.ts';
import type { Principal } from '../../lib/core/model/principal.ts';
import type { Workflow } from '../../lib/core/model/workflow.ts';
import type { Outcome } from '../../lib/core/outcome.ts';
import { principal } from './harness.ts';

type Execute = (who: Principal, command: Command) => Promise<Outcome>;

/** Two people of a tenant who may approve and take no part. */
export const deciders = (tenant: string) => ({
  dora: decider(tenant, 'Dora'),
  eli: decider(tenant, 'Eli'),
});

const decider = (tenant: string, name: string): Principal =>
  principal({
    tenant,
    name,
    via: 'rest',
    subject: `dev:${name.toLowerCase()}`,
    scopes: ['approvals:decide'],
  });

/** Work of `who` on a vessel. */
export function guardedWork(execute: Execute, who: Principal, asset = 'VESSEL-1') {
  const ok = async (by: Principal, command: Command) => {
    const outcome = await execute(by, command);
    if (outcome.code !== 'OK') throw new Error(JSON.stringify(outcome));
    return outcome;
  };
  const deviating = async (procedure: string, step: string, input: StepInput) => {
    const { workflow } = (await ok(who, { type: 'start_workflow', procedure, asset })).workflow;
    const command = { type: 'record_step', workflow, step, input } as const;
    const asked = await execute(who, command);
    if (asked.code !== 'NEEDS_CONFIRMATION') throw new Error(JSON.stringify(asked));
    await ok(who, { ...command, confirmation: asked.confirmation ?? '' });
    return workflow;
  };
  return {
    /** Starts work that a pressure of 42 bar blocks; answers its id. */
    blocked: (): Promise<string> =>
      deviating('guarded', 'pressure', { kind: 'reading', value: 42 }),
    /** Starts other work and denies a step of it. */
    denied: (procedure: string, step: string): Promise<string> =>
      deviating(procedure, step, { kind: 'confirm', confirmed: false }),
    /** Ends the work, so that its asset is free. */
    end: async (workflow: string, supervisor: Principal, { block, tenure }: Workflow) => {
      const reason = 'over';
      await (block === undefined
        ? ok(who, { type: 'abandon_workflow', workflow, tenure, reason })
        : ok(supervisor, {
            type: 'resolve_block',
            workflow,
            block: block.seq,
            decision: 'abandon',
            reason,
          }));
    },
  };
}
