/** Work whose every step has an effect elsewhere, for processes that are killed in the middle. */
import type { DomainPolicy } from '../../lib/core/ports/policy.ts';
import type { StoreOpener } from './writers.ts';

/** What the process is to do. */
export interface EffectsTask {
  readonly opener: StoreOpener;
  readonly url: string;
  readonly tenant: string;
  readonly assets: readonly string[];
  /** How far the clock of the process is ahead, in milliseconds, so that claims of the dead end. */
  readonly aheadMs: number;
}

/** The secret that signs what is sent to the target. */
export const EFFECTS_SECRET = `whsec_${Buffer.from('a secret for the target of the tests').toString('base64')}`;

/** The steps, each of which notifies somebody. */
export const STEPS = ['first', 'second', 'third'] as const;

/** Three readings whose warning band excludes what is read. */
export const effectsPolicy: DomainPolicy = {
  domain: 'effects',
  procedures: [
    {
      id: 'effects',
      version: 1,
      title: 'Three effects',
      description: 'Three readings, each outside its warning band.',
      asset: { type: 'unit', pattern: 'U-[0-9]+', example: 'U-1' },
      steps: STEPS.map((id) => ({
        id,
        kind: 'reading' as const,
        title: `The ${id} gauge`,
        instruction: 'Read the gauge.',
        unit: { symbol: 'bar', spoken: 'bar' },
        decimals: 1,
        bounds: { min: 0, max: 20 },
        warning: { min: 1, max: 10 },
        expected: { min: 2, max: 8 },
        on_deviation: 'retake' as const,
      })),
      escalation: [{ on: 'warning', notify: 'planner' }],
    },
  ],
};
