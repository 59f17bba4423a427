/** Executes the state machines: the very files, with real handlers behind their tasks. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions';
import type { Context } from 'aws-lambda';
import { PROJECT_ROOT } from '../../../lib/infra/bundle.ts';
import { RECONCILER_FILE } from '../../../lib/infra/reconciler.ts';
import { RUN_FILE } from '../../../lib/infra/runs.ts';
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

/** A state machine of ours: its definition, and the names of its tasks. */
export interface Machine {
  readonly definition: StateMachineDefinition;
  readonly tasks: readonly string[];
}

/** A definition, with an ARN where the deployment puts the function's. */
function definitionOf(file: string, placeholder: string): StateMachineDefinition {
  const text = readFileSync(join(PROJECT_ROOT, file), 'utf8');
  const arn = 'arn:aws:lambda:eu-central-1:123456789012:function:task';
  return JSON.parse(text.replaceAll(`\${${placeholder}}`, arn)) as StateMachineDefinition;
}

/** The reconciler's. */
export const reconcilerDefinition = (): StateMachineDefinition =>
  definitionOf(RECONCILER_FILE, 'ReconcileFunctionArn');

/** The one of runs. */
export const runDefinition = (): StateMachineDefinition => definitionOf(RUN_FILE, 'RunFunctionArn');

/** Executes it once, without the pauses between retries. Rejects as the execution fails. */
export async function execute(
  handler: TaskHandler,
  input: unknown = {},
  name = 'execution-1',
  remainingMs = 60_000,
  { definition, tasks }: Machine = {
    definition: reconcilerDefinition(),
    tasks: ['Look', 'Sweep', 'Report', 'Heads'],
  },
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
  const each = <T>(value: T) => Object.fromEntries(tasks.map((state) => [state, value]));
  const machine = new StateMachine(definition);
  const execution = machine.run(input as object as never, {
    overrides: {
      taskResourceLocalHandlers: each(task) as never,
      retryIntervalOverrides: each(0),
    },
    context: { Execution: { Name: name, Input: input } } as never,
  });
  return { result: await execution.result, calls, bytesMost };
}
