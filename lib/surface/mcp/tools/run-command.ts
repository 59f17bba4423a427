// Runs one command of a tool call within its deadline and answers with its outcome.
import type { Command } from '../../../core/model/commands.ts';
import { answerOutcome } from '../structured.ts';
import type { ToolAnswer, ToolCall, ToolKit } from '../tool.ts';

/** Executes a command for the caller; `key` is the caller's idempotency key. */
export async function runCommand(
  kit: ToolKit,
  command: Command,
  key: string | undefined,
  call: ToolCall,
): Promise<ToolAnswer> {
  const deadlineMs = kit.clock.now() + kit.commandTimeoutMs;
  const keyed: Command = key === undefined ? command : { ...command, key };
  const outcome = await kit.service.execute(call.principal, keyed, deadlineMs, call.requestId);
  return answerOutcome(kit, outcome, command.type, call);
}

/** The workflow of a command, where one is named. */
export function named(workflow: string | undefined): { readonly workflow?: string } {
  return workflow === undefined ? {} : { workflow };
}
