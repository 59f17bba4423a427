// The procedure of the benchmarks: three steps with texts as long as real ones.
import type { Command } from '../../../lib/core/model/commands.ts';
import type { Principal, Scope } from '../../../lib/core/model/principal.ts';
import type { ProcedureInput } from '../../../lib/core/model/procedure.ts';
import { buildRegistry } from '../../../lib/core/procedures.ts';

const valveCheck: ProcedureInput = {
  id: 'valve-check',
  version: 1,
  title: 'valve check',
  description: 'The daily check of a control valve.',
  asset: { type: 'valve', pattern: 'VALVE-[0-9]+', example: 'VALVE-1' },
  steps: [
    {
      id: 'isolated',
      kind: 'confirm',
      title: 'isolation check',
      instruction: 'Confirm that the valve is isolated and the tag is on it.',
      on_deviation: 'block',
    },
    {
      id: 'pressure',
      kind: 'reading',
      title: 'line pressure',
      instruction: 'Read the gauge in front of the valve.',
      unit: { symbol: 'bar', spoken: 'bar', aliases: ['bars'] },
      decimals: 1,
      bounds: { min: 0, max: 12 },
      warning: { min: 1, max: 10 },
      expected: { min: 2, max: 8 },
      on_deviation: 'block',
    },
    {
      id: 'packing',
      kind: 'choice',
      title: 'packing condition',
      instruction: 'Say how the packing looks.',
      options: [
        { id: 'dry', title: 'dry' },
        { id: 'damp', title: 'damp' },
        { id: 'leaking', title: 'leaking', deviates: true },
      ],
      on_deviation: 'block',
    },
  ],
  escalation: [{ on: 'block', notify: 'supervisor' }],
};

/** The registry of the benchmarks. */
export function benchRegistry() {
  const built = buildRegistry([{ domain: 'valves', procedures: [valveCheck] }]);
  if (!built.ok) throw new Error(JSON.stringify(built.faults));
  return built.registry;
}

/** A person of a tenant who may work, or do what the scopes say. */
export function person(
  tenant: string,
  name: string,
  scopes: readonly Scope[] = ['procedures:run'],
): Principal {
  const subject = `bench:${name}`;
  return { tenant, subject, name, kind: 'person', scopes: new Set(scopes), via: 'mcp' };
}

/** A key as assistants make them: 36 characters, new for each request. */
export const newKey = (): string => crypto.randomUUID();

/** Starts the check on an asset. */
export const start = (asset: string, key = newKey()): Command => ({
  type: 'start_workflow',
  procedure: 'valve-check',
  asset,
  key,
});

/** The three steps of a workflow, in order, each under a key of its own. */
export const threeSteps = (workflow: string): readonly Command[] => {
  const step = { type: 'record_step', workflow } as const;
  return [
    { ...step, step: 'isolated', input: { kind: 'confirm', confirmed: true }, key: newKey() },
    { ...step, step: 'pressure', input: { kind: 'reading', value: 5.2 }, key: newKey() },
    { ...step, step: 'packing', input: { kind: 'choice', option: 'dry' }, key: newKey() },
  ];
};

/** Completes a workflow. */
export const complete = (workflow: string): Command => ({
  type: 'complete_workflow',
  workflow,
  key: newKey(),
});
