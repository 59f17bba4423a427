// Another function of the deployment, called for its answer. Source: AWS Lambda API reference, Invoke.
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Fault } from '../../core/fault.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import { signedRequest } from './signed-request.ts';

/** Calls the function of a name, until `deadlineMs` in epoch milliseconds. */
export type CallFunction = (name: string, input: object, deadlineMs: number) => Promise<unknown>;

/** Makes it. Its calls throw a retryable fault where no answer came, or not the function's own. */
export function functionCaller(clock: Pick<Clock, 'now'>): CallFunction {
  // Only what it knows of the account is used.
  const { config } = new SecretsManagerClient();
  return async (name, input, deadlineMs) => {
    const attemptMs = Math.max(1, deadlineMs - clock.now());
    try {
      const response = await signedRequest(
        config,
        {
          service: 'lambda',
          path: `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(input),
        },
        { signal: AbortSignal.timeout(attemptMs), attemptMs, attempts: 1 },
      );
      const failed = response.headers.get('x-amz-function-error') !== null;
      const answer: unknown = await response.json();
      if (failed) throw new Error('it failed');
      return answer;
    } catch (cause) {
      const what = `the function ${name} gave no answer`;
      throw new Fault('retryable', 'BACKEND_UNAVAILABLE', what, { cause });
    }
  };
}
