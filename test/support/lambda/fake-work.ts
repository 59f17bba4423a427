/**
 * What calls functions in a deployment, on a local port: Lambda's Invoke, and Step Functions, which executes
 * the very file of the state machine of runs.
 */
import { startReceiver } from '../receiver.ts';
import { execute, runDefinition } from './machine.ts';

/** A function of the deployment. */
export type Invoked = (event: unknown) => Promise<unknown>;

/** The stand-in. */
export interface FakeWork {
  /** Settings of functions that call it. */
  readonly env: { readonly [name: string]: string };
  /** Puts the function behind it. */
  connect(invoke: Invoked): void;
  /** How each execution ended, by its name; what still runs is waited for. */
  executions(): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}

const MACHINE = 'arn:aws:states:eu-central-1:123456789012:stateMachine:runs';

/** Starts it. */
export async function fakeWork(): Promise<FakeWork> {
  let invoke: Invoked = () => Promise.reject(new Error('nothing is connected'));
  const executions = new Map<string, Promise<string>>();
  const ended = new Map<string, string>();

  const begin = (name: string, input: string): void => {
    const machine = { definition: runDefinition(), tasks: ['Work'] };
    const run = execute(invoke, JSON.parse(input) as object, name, 60_000, machine);
    const end = run.then(
      () => 'SUCCEEDED',
      (error: unknown) => `FAILED: ${String(error)}`,
    );
    executions.set(name, end);
    void end.then((how) => ended.set(name, how));
  };

  const receiver = await startReceiver((response, _nth, { url, headers, body }) => {
    const json = (status: number, value: unknown, more: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', ...more });
      response.end(JSON.stringify(value));
    };
    if (url === '/2015-03-31/functions/checkpoint-run/invocations') {
      invoke(JSON.parse(body)).then(
        (answer) => json(200, answer),
        (error: unknown) =>
          json(200, { errorMessage: String(error) }, { 'x-amz-function-error': 'Unhandled' }),
      );
      return;
    }
    const { name = '', input = '', executionArn = '' } = JSON.parse(body) as Record<string, string>;
    if (headers['x-amz-target'] === 'AWSStepFunctions.StartExecution') {
      if (executions.has(name)) json(400, { __type: 'ExecutionAlreadyExists' });
      else {
        begin(name, input);
        json(200, { executionArn: arnOf(name), startDate: 1_772_355_600 });
      }
      return;
    }
    const asked = executionArn.split(':').at(-1) ?? '';
    if (!executions.has(asked)) json(400, { __type: 'ExecutionDoesNotExist' });
    else {
      const status = ended.get(asked)?.split(':')[0] ?? 'RUNNING';
      json(200, { executionArn, stateMachineArn: MACHINE, name: asked, status, startDate: 1 });
    }
  });
  return {
    env: {
      AWS_ENDPOINT_URL_LAMBDA: receiver.url,
      AWS_ENDPOINT_URL_SFN: receiver.url,
      CHECKPOINT_RUN_MACHINE_ARN: MACHINE,
      CHECKPOINT_RUN_FUNCTION: 'checkpoint-run',
    },
    connect: (handler) => {
      invoke = handler;
    },
    executions: async () => {
      await Promise.all(executions.values());
      return ended;
    },
    close: () => receiver.close(),
  };
}

const arnOf = (name: string): string => `${MACHINE.replace('stateMachine', 'execution')}:${name}`;
