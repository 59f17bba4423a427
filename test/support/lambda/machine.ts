/** Executes the reconciler's state machine: the very file, with real handlers behind its tasks. */
import { readFileSync } from 'node:fs';
import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions';
import type { Context } from 'aws-lambda';
import { RECONCILER_FILE } from '../../../lib/infra/reconciler.ts';
import { lambdaContext } from './observed.ts';

/** A function as the state machine calls it. */
export type TaskHandler = (event: unknown, context: Context) => Promise<unknown>;

/** What an execution did. */
export interface Executed {
  readonly result: unknown;
  /** Inputs of the tasks in the order of their calls. */
  readonly calls: readonly { readonly [name: string]: unknown }[];
  /** The most bytes that went into or out of a task. */
  readonly bytesMost: number;
}

/** The definition, with an ARN where the deployment puts the function's. */
export function reconcilerDefinition(): StateMachineDefinition {
  const text = readFileSync(RECONCILER_FILE, 'utf8');
  const arn = 'arn:aws:lambda:eu-central-1:123456789012:function:reconcile';
  return JSON.parse(text.replaceAll('${ReconcileFunctionArn}', arn)) as StateMachineDefinition;
}

/** Executes it once, without the pauses between retries. Rejects as the execution fails. */
export async function execute(
  handler: TaskHandler,
  input: unknown = {},
  name = 'execution-1',
  remainingMs = 60_000,
): Promise<Executed> {
  const calls: { readonly [name: string]: unknown }[] = [];
  let bytesMost = 0;
  const measured = (value: unknown): void => {
    bytesMost = Math.max(bytesMost, Buffer.byteLength(JSON.stringify(value)));
  };
  const task = async (event: object): Promise<unknown> => {
    calls.push(event as { readonly [name: string]: unknown });
    measured(event);
    const answer = await handler(event, lambdaContext(remainingMs));
    measured(answer);
    return answer;
  };
  const handlers = { Look: task, Sweep: task, Report: task, Heads: task };
  const machine = new StateMachine(reconcilerDefinition());
  const execution = machine.run(input as object as never, {
    overrides: {
      taskResourceLocalHandlers: handlers as never,
      retryIntervalOverrides: { Look: 0, Sweep: 0, Report: 0, Heads: 0 },
    },
    context: { Execution: { Name: name, Input: input } } as never,
  });
  return { result: await execution.result, calls, bytesMost };
}
