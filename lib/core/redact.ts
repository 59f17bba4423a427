// Redaction: what must never reach logs, notifications or the clear text of the audit trail.
import { createHmac } from 'node:crypto';
import { canonicalJson } from './canonical.ts';
import type { Json } from './json.ts';

const SECRET_NAMES =
  /^(authorization|cookie|set-cookie|token|confirmation|confirmation_token|secret|password|key|idempotency_key|text|value|reading|spoken_reading|note|reason|skip_reason)$/i;

/**
 * The commitment that stands in an event for a sensitive value: an HMAC under the value's own
 * random key, so that deleting the key makes the value unguessable and the chain still verifies.
 */
export function commitment(key: string, value: Json): string {
  return createHmac('sha256', key).update(canonicalJson(value), 'utf8').digest('hex');
}

/** A copy for log lines in which every member that could hold a secret or a value is masked. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > 6) return '[deep]';
  if (Array.isArray(value)) return value.slice(0, 20).map((member) => redact(member, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      SECRET_NAMES.test(name) ? '[redacted]' : redact(member, depth + 1),
    ]),
  );
}
