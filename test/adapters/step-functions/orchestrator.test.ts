import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../lib/adapters/runtime/system.ts';
import { stepFunctionsOrchestrator } from '../../../lib/adapters/step-functions/orchestrator.ts';
import { executionName } from '../../../lib/core/runs/execution.ts';
import { failureOf } from '../../contract/orchestrator/contract.ts';
import { clientAt } from '../../contract/sinks/subjects.ts';
import {
  MACHINE_ARN,
  startStepFunctions,
  type Fault,
  type StepFunctions,
} from '../../support/step-functions.ts';

const work = { tenant: 'acme', run: 'run-1', attempt: 2 };
const name = executionName(work);
const soon = (): number => Date.now() + 10_000;

let service: StepFunctions;
let orchestrator: ReturnType<typeof stepFunctionsOrchestrator>;
beforeEach(async () => {
  service = await startStepFunctions();
  const client = clientAt(service.url);
  orchestrator = stepFunctionsOrchestrator({
    stateMachineArn: MACHINE_ARN,
    clock: systemClock,
    client,
  });
});
afterEach(async () => {
  orchestrator.close();
  await service.close();
});

test('a start carries the machine, the name and the ids', async () => {
  await orchestrator.start(name, work, soon());
  const [sent] = service.received;
  expect(sent?.headers['x-amz-target']).toBe('AWSStepFunctions.StartExecution');
  expect(JSON.parse(sent?.body ?? '')).toEqual({
    stateMachineArn: MACHINE_ARN,
    name,
    input: '{"tenant":"acme","run":"run-1","attempt":2}',
  });
});

test('a question names the execution of the machine', async () => {
  await orchestrator.describe(name, soon());
  const [sent] = service.received;
  expect(JSON.parse(sent?.body ?? '')).toEqual({
    executionArn: `arn:aws:states:eu-central-1:123456789012:execution:checkpoint-run:${name}`,
  });
});

test.each([
  ['RUNNING', 'running'],
  ['PENDING_REDRIVE', 'running'],
  ['SUCCEEDED', 'ended'],
  ['FAILED', 'ended'],
  ['TIMED_OUT', 'ended'],
  ['ABORTED', 'ended'],
])('the status %s means %s', async (status, expected) => {
  await orchestrator.start(name, work, soon());
  service.end(name, status);
  expect(await orchestrator.describe(name, soon())).toBe(expected);
});

test('a name that was taken with another input is a success too', async () => {
  await orchestrator.start(name, { ...work, attempt: 9 }, soon());
  await orchestrator.start(name, work, soon());
  expect(service.begun()).toEqual([{ ...work, attempt: 9 }]);
});

const FAULTS: readonly (readonly [string, Fault, string])[] = [
  ['throttling', { status: 400, code: 'ThrottlingException' }, 'retryable'],
  ['too many executions', { status: 400, code: 'ExecutionLimitExceeded' }, 'retryable'],
  ['a machine that is gone', { status: 400, code: 'StateMachineDoesNotExist' }, 'retryable'],
  ['a machine that is being deleted', { status: 400, code: 'StateMachineDeleting' }, 'retryable'],
  ['no right to it', { status: 400, code: 'AccessDeniedException' }, 'retryable'],
  ['a name that is none', { status: 400, code: 'InvalidName' }, 'terminal'],
  ['an input that is none', { status: 400, code: 'InvalidExecutionInput' }, 'terminal'],
  ['a failure inside', { status: 500, code: 'InternalServerError' }, 'unknown'],
  ['a service that is away', { status: 503, code: 'ServiceUnavailable' }, 'unknown'],
  ['an answer that is none', { body: '<html>' }, 'unknown'],
  ['a connection that is cut', 'cut', 'unknown'],
  ['no answer in time', 'hang', 'unknown'],
];

describe.each(['start', 'describe'] as const)('%s', (call) => {
  test.each(FAULTS)(
    '%s is a failure of its kind, told without its words',
    async (_what, fault, kind) => {
      service.answer(fault);
      const deadline = fault === 'hang' ? Date.now() + 300 : soon();
      const failure = await failureOf(
        call === 'start'
          ? orchestrator.start(name, work, deadline)
          : orchestrator.describe(name, deadline),
      );
      expect(failure.kind).toBe(kind);
      expect(failure.message).toMatch(/^[\w ()]{1,60}$/u);
      // The outbox is what tries again, and the next sweep is what asks again.
      expect(service.received).toHaveLength(1);
    },
  );
});

test.each([
  '',
  'checkpoint-run',
  'arn:aws:states:eu-central-1:1:execution:a:b',
  `${MACHINE_ARN}:2`,
])('what is no state machine is refused at the start: %j', (stateMachineArn) => {
  expect(() => stepFunctionsOrchestrator({ stateMachineArn, clock: systemClock })).toThrow(
    RangeError,
  );
});
