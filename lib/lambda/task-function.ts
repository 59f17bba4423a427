// The chain around a task of a state machine, whatever it does: log, metrics, and the boundary of errors.
// Source: AWS Lambda, errors of functions that a state machine calls.
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { isFault } from '../core/fault.ts';
import type { Observers } from './observers.ts';

/** A task as the state machine calls it. */
export type TaskHandler<T> = (event: unknown, context: Context) => Promise<T>;

/** Builds the handler. */
export function taskFunction<T>(observers: Observers, run: TaskHandler<T>): TaskHandler<T> {
  const { logger, metrics, log, count } = observers;
  const handler = middy<unknown, T, Error, Context>(run)
    .use(injectLambdaContext(logger))
    .use(logMetrics(metrics, { captureColdStartMetric: true }))
    .onError(({ error }) => {
      log({ level: 'error', msg: 'a task failed', err: error });
      count('faults');
    });
  // An error's message is kept with the execution, so a foreign one does not go there.
  return async (event, context) =>
    handler(event, context).catch((error: unknown) => {
      throw isFault(error) ? new Error(error.code) : ownError(error);
    });
}

/** A refusal of the input, which may be told to whoever looks at the execution. */
export class TaskError extends Error {
  override readonly name = 'TaskError';
}

function ownError(error: unknown): Error {
  return error instanceof TaskError ? error : new Error('the task failed');
}

/** The function cannot be opened; the state machine tries again. */
export const cannotStart = (): TaskError => new TaskError('the function cannot start');

/** Reads a whole number from 0. */
export function whole(value: unknown, name: string): number {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value);
  throw new TaskError(`expected ${name} to be a whole number from 0`);
}

/** Reads a text that is not empty. */
export function text(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new TaskError(`expected ${name} to be a text`);
}
