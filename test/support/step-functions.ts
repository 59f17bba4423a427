/** Step Functions on a local port, as far as executions are started and described, with faults on demand. */
import { startReceiver, type Receiver } from './receiver.ts';

/** A running one: it remembers names as the service does. */
export interface StepFunctions extends Receiver {
  /** The inputs of the executions that were begun, in their order. */
  begun(): readonly unknown[];
  /** Sets the status of an execution, which is RUNNING once it was started. */
  end(name: string, status: string): void;
  /** From now on every call is answered so: an error by status and name, a text, or nothing at all. */
  answer(how: Fault | undefined): void;
}

/** What goes wrong. */
export type Fault =
  { readonly status: number; readonly code: string } | { readonly body: string } | 'hang' | 'cut';

/** The state machine that it has. */
export const MACHINE_ARN = 'arn:aws:states:eu-central-1:123456789012:stateMachine:checkpoint-run';

/** Starts it. */
export async function startStepFunctions(): Promise<StepFunctions> {
  const executions = new Map<string, { readonly input: string; status: string }>();
  let fault: Fault | undefined;
  const receiver = await startReceiver((response, _nth, { headers, body }) => {
    const json = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(typeof value === 'string' ? value : JSON.stringify(value));
    };
    const refuse = (status: number, code: string): void => {
      json(status, { __type: `com.amazonaws.states#${code}`, message: 'the input was secret-1' });
    };
    if (fault === 'hang') return;
    if (fault === 'cut') {
      response.destroy();
      return;
    }
    if (fault !== undefined) {
      if ('body' in fault) json(200, fault.body);
      else refuse(fault.status, fault.code);
      return;
    }
    const asked = JSON.parse(body) as Record<string, string>;
    if (headers['x-amz-target'] === 'AWSStepFunctions.StartExecution') {
      const { stateMachineArn, name = '', input = '' } = asked;
      if (stateMachineArn !== MACHINE_ARN) {
        refuse(400, 'StateMachineDoesNotExist');
        return;
      }
      if (!/^[A-Za-z0-9_-]{1,80}$/u.test(name)) {
        refuse(400, 'InvalidName');
        return;
      }
      const known = executions.get(name);
      // The service answers a running one with the same input as if it were new.
      if (known !== undefined && (known.status !== 'RUNNING' || known.input !== input)) {
        refuse(400, 'ExecutionAlreadyExists');
        return;
      }
      if (known === undefined) executions.set(name, { input, status: 'RUNNING' });
      json(200, { executionArn: arnOf(name), startDate: 1_772_355_600 });
      return;
    }
    const name = asked['executionArn']?.split(':').at(-1) ?? '';
    const known = executions.get(name);
    if (known === undefined || asked['executionArn'] !== arnOf(name)) {
      refuse(400, 'ExecutionDoesNotExist');
      return;
    }
    json(200, {
      executionArn: arnOf(name),
      stateMachineArn: MACHINE_ARN,
      name,
      status: known.status,
      startDate: 1_772_355_600,
    });
  });
  return {
    ...receiver,
    begun: () => [...executions.values()].map(({ input }): unknown => JSON.parse(input)),
    end: (name, status) => {
      const known = executions.get(name);
      if (known === undefined) throw new Error(`${name} was not started`);
      known.status = status;
    },
    answer: (how) => {
      fault = how;
    },
  };
}

const arnOf = (name: string): string =>
  `${MACHINE_ARN.replace('stateMachine', 'execution')}:${name}`;
