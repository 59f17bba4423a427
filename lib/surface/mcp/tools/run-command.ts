// Runs one command of a tool call within its deadline and answers with its outcome.
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Command } from '../../../core/model/commands.ts';
import { NOT_ASKED } from '../../../core/outcome.ts';
import { DECLINED } from '../../speech.ts';
import { answerIn, askIn, type Dialogue } from '../dialogue.ts';
import { answerOutcome, done } from '../structured.ts';
import type { ToolAnswer, ToolCall, ToolKit } from '../tool.ts';

const NOBODY: Dialogue = { canAsk: false };

/** Executes a command for the caller; `key` is the caller's idempotency key. */
export async function runCommand(
  kit: ToolKit,
  command: Command,
  key: string | undefined,
  call: ToolCall,
): Promise<ToolAnswer> {
  const { dialogue = NOBODY, deadlineMs: givenUpAt = Number.POSITIVE_INFINITY } = call;
  const deadlineMs = Math.min(kit.clock.now() + kit.commandTimeoutMs, givenUpAt);
  const answer = answerIn(dialogue);
  if (answer === 'declined') {
    return { text: DECLINED, structured: { ...done(call), code: 'DECLINED' }, isError: false };
  }
  const full: Command = {
    ...command,
    ...(key !== undefined && { key }),
    ...(answer !== undefined && { answer }),
  };
  const outcome = await kit.service.execute(call.principal, full, deadlineMs, call.requestId);
  if (outcome === NOT_ASKED) throw notAsked();
  const ask = askIn(dialogue, outcome);
  return {
    ...answerOutcome(kit, outcome, command.type, call),
    ...(ask !== undefined && { ask }),
  };
}

/** A state that is forged, foreign, over, or of other arguments: one answer for all of them. */
function notAsked(): ProtocolError {
  const reason = { reason: 'invalid_request_state' };
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'Invalid or expired requestState',
    reason,
  );
}

/** The workflow of a command, where one is named. */
export function named(workflow: string | undefined): { readonly workflow?: string } {
  return workflow === undefined ? {} : { workflow };
}
