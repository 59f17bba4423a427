// What is said about runs: one or two sentences, without ids and digests. Symptoms and evidence are texts
// of others and are never read out.
import type { Run } from '../../core/model/run.ts';
import type { Pending } from '../../core/pending.ts';
import type { RunRefusal } from '../../core/runs/outcome.ts';
import { speakForbidden, speakUndecidable } from './approvals.ts';
import { speakFaults } from './faults.ts';
import { counted, listed, phrase, say } from './words.ts';

/** Where a run stands. */
export function speakRun({ state, service, proposal, end, approval }: Run): string {
  const name = phrase(service, 64);
  switch (state) {
    case 'created':
    case 'gathering':
      return say(`I am looking into ${name}`, 'ask me again in a moment what was found');
    case 'awaiting_approval':
      return say(
        `for ${name} one action is proposed: ${actionWords(proposal?.action.type ?? 'an action')}`,
        proposal?.missing === undefined
          ? 'somebody who did not ask for it has to decide'
          : 'some evidence is missing, and somebody who did not ask for it has to decide',
      );
    case 'executing':
    case 'verifying':
      return say(`the action for ${name} is approved and is being carried out`);
    case 'completed':
      return say(`it is done: the action for ${name} was carried out, and a second look found it`);
    case 'failed':
      if (end?.code === 'STEP_BUDGET_EXCEEDED') {
        return say(
          `I found nothing on ${name} within the number of looks that I have`,
          'it can be tried again',
        );
      }
      return say(`the work on ${name} failed`, 'it can be resumed, and nothing is done twice');
    case 'cancelled':
      return approval?.decision === 'denied'
        ? say(`the action for ${name} was denied`, 'nothing was changed')
        : say(`nobody decided on the action for ${name} in time`, 'nothing was changed');
  }
}

/** What waits for a decision. */
export function speakPending(pending: readonly Pending[], more: boolean): string {
  const { length } = pending;
  if (length === 0 && more) {
    return say(
      'I found nothing that waits for a decision, but I could not look through everything',
      'please look at the whole list on the page for it',
    );
  }
  if (length === 0) return say('nothing waits for a decision');
  const names = pending.slice(0, 3).map((one) => phrase(nameOf(one), 64));
  const count = more ? `more than ${length} actions` : counted(length, 'action');
  const rest = length > names.length || more ? ' and others' : '';
  return say(
    `${count} ${length === 1 && !more ? 'waits' : 'wait'} for a decision: ${listed(names)}${rest}`,
  );
}

/** A run is about a service, work about an asset. */
const nameOf = (one: Pending): string => ('run' in one ? one.run.service : one.workflow.asset);

/** Why a command or a read was refused. */
export function speakRunRefusal(refusal: RunRefusal): string {
  switch (refusal.code) {
    case 'FORBIDDEN':
      return refusal.why === 'scope'
        ? say('your account is not allowed to do that', 'ask whoever manages access')
        : speakForbidden(refusal.why);
    case 'INVALID_ARGUMENT':
      return speakFaults(refusal.faults);
    case 'BACKEND_UNAVAILABLE':
      return refusal.retryable
        ? say(
            'I cannot reach the records right now',
            'please say it again in a moment; nothing is recorded twice',
          )
        : say(
            'something is wrong on my side, and nothing was recorded',
            'please tell whoever runs this service',
          );
    case 'IDEMPOTENCY_CONFLICT':
      return say(
        'that request was already used for something else, so I changed nothing',
        'please say the whole thing again',
      );
    case 'NOT_FOUND':
      return say(
        'I cannot find that incident',
        'ask what waits for a decision, or report it again',
      );
    case 'ALREADY_DECIDED':
    case 'STALE_PROPOSAL':
      return speakUndecidable(refusal);
    case 'APPROVAL_EXPIRED':
      return say(
        'the time to decide is over, so I changed nothing',
        'the incident has to be reported again',
      );
    case 'WRONG_STATE':
      return say('there is nothing to decide on it right now', speakRun(refusal.run));
    case 'LIMIT_REACHED':
      return say('it was tried as often as it may be', 'please report it again');
    case 'STALE_ATTEMPT':
    case 'TOO_LATE':
      return say('that is over, so I changed nothing');
  }
}

/** A type of action is a name of ours, with dots or underscores. */
const actionWords = (type: string): string => phrase(type.replaceAll(/[_.]/g, ' '), 64);
