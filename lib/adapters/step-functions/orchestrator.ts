// The orchestrator on AWS Step Functions: an execution of one standard state machine for each attempt.
// Source: Step Functions API reference, StartExecution and DescribeExecution.
import {
  DescribeExecutionCommand,
  SFNClient,
  StartExecutionCommand,
  type ExecutionStatus as Status,
} from '@aws-sdk/client-sfn';
import type { ExecutionStatus, Orchestrator } from '../../core/ports/orchestrator.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import { DeliveryError } from '../../core/ports/sink.ts';
import { sendingOnce, sent, type AwsClient } from '../outbound/aws.ts';

/** The state machine, and where it is. */
export interface StepFunctionsOptions {
  readonly stateMachineArn: string;
  readonly clock: Clock;
  readonly client?: AwsClient;
}

/** Opens it; sends nothing before the first call. Throws a `RangeError` for what is no state machine. */
export function stepFunctionsOrchestrator({
  stateMachineArn,
  clock,
  client = {},
}: StepFunctionsOptions): Orchestrator & { close(): void } {
  const executions = executionsOf(stateMachineArn);
  const sfn = new SFNClient(sendingOnce(client));
  return {
    start: async (name, { tenant, run, attempt }, deadlineMs) => {
      const input = JSON.stringify({ tenant, run, attempt });
      const command = new StartExecutionCommand({ stateMachineArn, name, input });
      try {
        await sent(clock, deadlineMs, (options) => sfn.send(command, options));
      } catch (error) {
        // The name says which attempt of which run it is: somebody has begun it.
        if (nameOfCause(error) !== 'ExecutionAlreadyExists') throw error;
      }
    },
    describe: async (name, deadlineMs) => {
      const command = new DescribeExecutionCommand({ executionArn: `${executions}:${name}` });
      try {
        const answer = await sent(clock, deadlineMs, (options) => sfn.send(command, options));
        return statusOf(answer.status);
      } catch (error) {
        if (nameOfCause(error) === 'ExecutionDoesNotExist') return 'absent';
        throw error;
      }
    },
    close: () => {
      sfn.destroy();
    },
  };
}

/** The part of the ARN that all executions of a state machine share. */
function executionsOf(stateMachineArn: string): string {
  const machine = /^(arn:[^:]+:states:[^:]+:[^:]+):stateMachine:([^:]+)$/u.exec(stateMachineArn);
  if (machine === null) throw new RangeError('expected the ARN of a state machine');
  return `${machine[1]}:execution:${machine[2]}`;
}

function statusOf(status: Status | undefined): ExecutionStatus {
  switch (status) {
    case 'RUNNING':
    case 'PENDING_REDRIVE':
      return 'running';
    case 'SUCCEEDED':
    case 'FAILED':
    case 'TIMED_OUT':
    case 'ABORTED':
      return 'ended';
    case undefined:
      throw new DeliveryError('unknown', 'an answer without a status');
  }
}

function nameOfCause(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly name?: unknown } };
  return String(cause?.name);
}
