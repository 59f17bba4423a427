// Sends of the AWS SDK become deliveries here: errors are known by name, never by their message.
// Source: API references of SNS (Publish), EventBridge (PutEvents), Systems Manager (OpsItems) and Step
// Functions (StartExecution, DescribeExecution), and their common errors.
import type { Clock } from '../../core/ports/runtime.ts';
import { DeliveryError } from '../../core/ports/sink.ts';

/** Where a client sends to; left out, the service of the environment's region. */
export interface AwsClient {
  readonly endpoint?: string;
  readonly region?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

const CONNECTION_TIMEOUT_MS = 2_000;

/** The options of a client that sends once: whoever asked for the delivery is what tries again. */
export const sendingOnce = (client: AwsClient) => ({
  maxAttempts: 1,
  requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS },
  ...client,
});

/** This very message will never be taken. */
const REFUSED = new Set([
  'InvalidArgument',
  'InvalidExecutionInput',
  'InvalidName',
  'InvalidParameter',
  'InvalidParameterException',
  'InvalidParameterValue',
  'InvalidParameterValueException',
  'MalformedDetail',
  'OpsItemInvalidParameterException',
  'ParameterValueInvalid',
  'ValidationError',
  'ValidationException',
]);

/** The service failed on its own side, after it may have accepted. */
const FAILED_INSIDE = new Set([
  'InternalError',
  'InternalErrorException',
  'InternalException',
  'InternalFailure',
  'InternalServerError',
]);

/** Nothing was sent. */
const NOT_SENT = new Set([
  'CredentialsProviderError',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
]);

/** The fault of an answer, by its code. */
export function refusedBy(code: string, cause?: unknown): DeliveryError {
  const kind = REFUSED.has(code) ? 'terminal' : FAILED_INSIDE.has(code) ? 'unknown' : 'retryable';
  return new DeliveryError(kind, plain(code), { cause });
}

/** Sends within the time of a delivery. Throws a `DeliveryError` alone. */
export async function sent<T>(
  clock: Clock,
  deadlineMs: number,
  send: (options: { readonly abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const abortSignal = AbortSignal.timeout(Math.max(1, deadlineMs - clock.now()));
  try {
    return await send({ abortSignal });
  } catch (cause) {
    if (abortSignal.aborted) throw new DeliveryError('unknown', 'no answer in time', { cause });
    throw failureOf(cause);
  }
}

function failureOf(cause: unknown): DeliveryError {
  const { name, code, $metadata } = (cause ?? {}) as {
    readonly name?: unknown;
    readonly code?: unknown;
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  const known = [code, name].find((each) => NOT_SENT.has(String(each)));
  if (known !== undefined) {
    return new DeliveryError('retryable', `no answer (${plain(known)})`, { cause });
  }
  const status = $metadata?.httpStatusCode;
  if (status === undefined) {
    return new DeliveryError('unknown', `no answer (${plain(code ?? name)})`, { cause });
  }
  if (status >= 500 || status < 400) return new DeliveryError('unknown', plain(name), { cause });
  return refusedBy(String(name), cause);
}

/** A name or a code as people are shown it: of letters, digits and `_` only. */
function plain(text: unknown): string {
  return typeof text === 'string' && /^\w{1,60}$/.test(text) ? text : 'connection failed';
}
