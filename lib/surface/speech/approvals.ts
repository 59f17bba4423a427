// What is said about decisions, whether they are about an incident or about blocked work.
import type { Forbidden } from '../../core/runs/outcome.ts';
import { phrase, say } from './words.ts';

/** Why somebody may not decide, apart from the scopes of their account. */
export function speakForbidden(why: Exclude<Forbidden['why'], 'scope'>): string {
  return {
    person: say('only a person can do that', 'please sign in with your own account'),
    channel: say('decisions do not come this way here', 'please decide on the page for it'),
    involved: say(
      'you asked for that or worked on it yourself',
      'somebody else has to decide on it',
    ),
  }[why];
}

/** Why there is nothing to decide under the digest that was given. */
export function speakUndecidable(
  refusal:
    | {
        readonly code: 'ALREADY_DECIDED';
        readonly decision: 'approved' | 'denied';
        readonly name: string;
      }
    | { readonly code: 'STALE_PROPOSAL' },
): string {
  if (refusal.code === 'ALREADY_DECIDED') {
    return say(`that was already ${refusal.decision}, by ${phrase(refusal.name, 64)}`);
  }
  return say(
    'the action is not the one that you were told, so I changed nothing',
    'please ask for it again and decide then',
  );
}
