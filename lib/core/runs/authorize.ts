// Who may do what with runs. Decided from the token alone, before anything is read and any replay.
import type { Principal, Scope } from '../model/principal.ts';
import type { RunCommandType } from '../model/run.ts';
import type { Forbidden, RunRefusal } from './outcome.ts';

const NEEDS: { readonly [C in RunCommandType]: readonly Scope[] } = {
  create_run: ['runs:create'],
  decide_approval: ['approvals:decide'],
  resume_run: ['runs:create', 'approvals:decide'],
};

/** The ways by which a decision may come, unless a deployment says otherwise: assistants are none. */
export const APPROVAL_CHANNELS: ReadonlySet<Principal['via']> = new Set(['rest', 'cli']);

/** The refusal of whoever asked for an action or worked on what it is about. */
export const INVOLVED: Forbidden = {
  code: 'FORBIDDEN',
  why: 'involved',
  need: 'somebody who did not work on it',
};

/** Refuses a command that its principal may not give. Only a person decides on an approval. */
export function refusalForRun(
  principal: Principal,
  command: RunCommandType,
  channels: ReadonlySet<Principal['via']>,
): Forbidden | undefined {
  const decides = command === 'decide_approval';
  if (decides && principal.kind !== 'person') return forbidden('person', 'a person');
  if (!NEEDS[command].some((scope) => principal.scopes.has(scope))) {
    return forbidden('scope', NEEDS[command][0] ?? '');
  }
  if (decides && !channels.has(principal.via)) return forbidden('channel', 'another channel');
  return undefined;
}

/** Refuses a read of runs. */
export function refusalForReadingRuns({ scopes }: Principal): RunRefusal | undefined {
  const some = (['runs:create', 'approvals:decide', 'audit:read'] as const).some((scope) =>
    scopes.has(scope),
  );
  return some ? undefined : forbidden('scope', 'runs:create');
}

/** Refuses a read of the trail of a run. */
export function refusalForRunTrail({ scopes }: Principal): RunRefusal | undefined {
  return scopes.has('audit:read') ? undefined : forbidden('scope', 'audit:read');
}

const forbidden = (why: Forbidden['why'], need: string): Forbidden => ({
  code: 'FORBIDDEN',
  why,
  need,
});
