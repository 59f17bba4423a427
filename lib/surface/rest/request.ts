// What a REST request carries beside its path: query, body and `Idempotency-Key`, each refused by name.
import type { Context } from 'hono';
import type * as z from 'zod';
import { LIMITS } from '../../core/limits.ts';
import { expectedOf, valueAt } from '../../core/shape-words.ts';
import { readJsonBody } from '../body.ts';
import type { HostCall } from '../host-call.ts';
import { problem, refusalAt } from '../reply.ts';

/** A part of a request, or the answer that refuses it. */
export type Part<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly response: Response };

/** The context of a route. */
export type Call = Context<{ Bindings: HostCall }>;

/** Reads the query. A name that comes twice, or that the list does not know, is refused. */
export function readQuery<T extends z.ZodType>(c: Call, schema: T): Part<z.output<T>> {
  const all = c.req.queries();
  const twice = Object.entries(all).find(([, values]) => values.length > 1);
  if (twice !== undefined) {
    return invalid([{ pointer: `/${twice[0]}`, message: 'expected it once' }]);
  }
  return parsed(schema, Object.fromEntries(Object.entries(all).map(([k, [v]]) => [k, v])));
}

/** Reads the JSON body. */
export async function readBody<T extends z.ZodType>(
  c: Call,
  schema: T,
): Promise<Part<z.output<T>>> {
  const body = await readJsonBody(c.req.raw);
  if (body.ok) return parsed(schema, body.value);
  const { status, code, message, path } = body.fault;
  const rest = path === '' ? {} : { errors: [{ pointer: path, message }] };
  return { ok: false, response: problem(status, code, message, rest) };
}

/** Printable ASCII, as widely used APIs take it. */
const KEY = new RegExp(`^[\\x20-\\x7e]{1,${LIMITS.idempotencyKeyChars.max}}$`);

/** The `Idempotency-Key` header, where there is one. */
export function readKey(c: Call): Part<string | undefined> {
  const key = c.req.header('idempotency-key');
  if (key === undefined || KEY.test(key)) return { ok: true, value: key };
  const most = LIMITS.idempotencyKeyChars.max;
  const title = `Idempotency-Key: expected 1 to ${most} printable ASCII characters`;
  return { ok: false, response: problem(400, 'INVALID_IDEMPOTENCY_KEY', title) };
}

/** Body and key of a change. */
export async function sentWith<T extends z.ZodType>(
  c: Call,
  schema: T,
): Promise<Part<{ readonly key: string | undefined; readonly body: z.output<T> }>> {
  const key = readKey(c);
  if (!key.ok) return key;
  const body = await readBody(c, schema);
  if (!body.ok) return body;
  return { ok: true, value: { key: key.value, body: body.value } };
}

/** The answer to a method that a path does not have. */
export const notAllowed = (c: Call, allow: string): Response =>
  refusalAt(c.req.path, 405, 'METHOD_NOT_ALLOWED', 'method not allowed', { allow });

function parsed<T extends z.ZodType>(schema: T, value: unknown): Part<z.output<T>> {
  const result = schema.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  const faults = result.error.issues.flatMap((issue) => {
    const at = issue.path.map((part) => `/${String(part)}`).join('');
    if (issue.code !== 'unrecognized_keys')
      return [{ pointer: at, message: missingOr(issue, value) }];
    return issue.keys.map((key) => ({ pointer: `${at}/${key}`, message: 'unknown field' }));
  });
  return invalid(faults);
}

function missingOr(issue: z.core.$ZodIssue, input: unknown): string {
  const absent = issue.code !== 'custom' && valueAt(input, issue.path) === undefined;
  return absent ? 'required' : expectedOf(issue);
}

function invalid(
  errors: readonly { readonly pointer: string; readonly message: string }[],
): Part<never> {
  const shown = errors.slice(0, LIMITS.faultsShown.max);
  const response = problem(400, 'INVALID_ARGUMENT', 'some of the request cannot be used', {
    errors: shown,
  });
  return { ok: false, response };
}
