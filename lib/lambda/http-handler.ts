// The chain around the HTTP app that is about Lambda alone: log context, metrics, deadline, timeout, and
// the boundary behind which no error is seen. Knows no route.
// Invariant: every event is answered in the project's own words, by one HTTP answer.
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { parseJson, type JsonObject } from '../core/json.ts';
import { LIMITS } from '../core/limits.ts';
import type { HostCall } from '../surface/host-call.ts';
import { notReady, problem, refusalAt, tooLate, type RpcId } from '../surface/reply.ts';
import {
  bodyOf,
  isHttpEvent,
  requestOf,
  resultOf,
  type HttpEvent,
  type HttpResult,
} from './events.ts';
import type { Observers } from './observers.ts';
import { toldStart } from './told-start.ts';

/** The app as a function needs it. */
export interface FunctionApp {
  fetch(request: Request, host: HostCall): Response | Promise<Response>;
}

/** A function that answers events. */
export type HttpHandler = (event: unknown, context: Context) => Promise<HttpResult>;

/** The handler, and its start, which may be waited for while the platform still allows for it. */
export interface HttpFunction {
  readonly handler: HttpHandler;
  /** Resolves when the first start has ended, whichever way. */
  readonly started: Promise<unknown>;
}

/** Builds the function and starts it. `open` is called again by the next event after it failed. */
export function createHttpFunction(
  observers: Observers,
  open: () => Promise<FunctionApp>,
): HttpFunction {
  const { logger, metrics, log, count } = observers;
  const app = toldStart(observers, open);

  const answer = async (event: unknown, context: Context): Promise<Response> => {
    if (!isHttpEvent(event)) return problem(400, 'BAD_REQUEST', 'expected a request over HTTP');
    const deadlineMs = Date.now() + context.getRemainingTimeInMillis() - LIMITS.hostMarginMs.max;
    const opened = await app();
    if (opened === undefined) return notReady(event.rawPath, rpcIdOf(event));
    let request: Request;
    try {
      request = requestOf(event);
    } catch (error) {
      log({ level: 'info', msg: 'a request could not be read', err: error });
      return refusalAt(event.rawPath, 400, 'BAD_REQUEST', 'the request cannot be read');
    }
    return opened.fetch(request, { deadlineMs });
  };

  const result = (response: Response): Promise<HttpResult> => {
    if (response.status >= 500) count('serverErrors');
    return resultOf(response);
  };

  const handler = middy<unknown, HttpResult, Error, Context>(
    async (event: unknown, context: Context) => result(await answer(event, context)),
    // Half of the margin is for sending the answer.
    { timeoutEarlyInMillis: LIMITS.hostMarginMs.max / 2 },
  )
    .use(injectLambdaContext(logger))
    .use(logMetrics(metrics, { captureColdStartMetric: true }))
    .onError(async (failed) => {
      const { event, error } = failed;
      const path = isHttpEvent(event) ? event.rawPath : '';
      const late = error?.name === 'TimeoutError';
      if (late) count('timeouts');
      const msg = late ? 'the answer took too long' : 'unexpected error';
      log({ level: late ? 'warn' : 'error', msg, ...(!late && { err: error }) });
      const response = late
        ? tooLate(path, isHttpEvent(event) ? rpcIdOf(event) : null)
        : refusalAt(path, 500, 'INTERNAL_ERROR', 'internal error');
      failed.response = await result(response);
    });
  return { handler, started: app() };
}

/** The id of a JSON-RPC request, for an answer that the app cannot give. */
function rpcIdOf(event: HttpEvent): RpcId {
  try {
    const body = bodyOf(event);
    if (body === undefined || body.byteLength > LIMITS.bodyBytes.max) return null;
    const message = parseJson(Buffer.from(body).toString('utf8'));
    const id = Object(message) === message ? (message as JsonObject)['id'] : null;
    return typeof id === 'string' || Number.isSafeInteger(id) ? (id as RpcId) : null;
  } catch {
    return null;
  }
}
