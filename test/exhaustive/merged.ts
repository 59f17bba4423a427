// When two states are the same: times count as over or not, a chain as what happened in it, and
// everything else as it is. Names are ordinals already, because no program draws a random one.
import type { Attributes } from './items.ts';

/** What tells when something is over: milliseconds, seconds or a text in UTC. */
const ENDS = new Set(['due_at', 'until', 'expires_at', 'not_after', 'work_by', 'deadline_at']);
/** When something happened, and what follows from all that happened before. */
const PAST = new Set([
  'at',
  'since',
  'created_at',
  'updated_at',
  'verified_at',
  'parked_at',
  'hash',
  'head_hash',
  'prev',
  'action_hash',
  'evidence',
]);

/** How the time passes: in steps of `stepMs`, of which `left` are still to come. */
export interface Passing {
  readonly now: number;
  readonly stepMs: number;
  readonly left: number;
}

/** After how many more steps of time `end` is over; more than are left is never. */
export function stepsUntil(end: number, { now, stepMs, left }: Passing): number {
  return Math.min(Math.max(0, Math.ceil((end - now) / stepMs)), left + 1);
}

/** A value in its merged form, as text. */
export function merged(value: unknown, passing: Passing): string {
  return JSON.stringify(form(value, '', passing));
}

function form(value: unknown, name: string, passing: Passing): unknown {
  if (PAST.has(name)) return undefined;
  if (ENDS.has(name)) return stepsUntil(millisecondsOf(value), passing);
  if (name === 'text' && typeof value === 'string' && value.startsWith('{')) {
    return form(JSON.parse(value), '', passing);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return `${value.name} ${value.message}`;
  if (Array.isArray(value)) return value.map((one) => form(one, '', passing) ?? null);
  const members = Object.entries(value as Attributes).map(
    ([member, of]) => [member, form(of, member, passing)] as const,
  );
  return Object.fromEntries(
    members.filter(([, of]) => of !== undefined).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Times that are told in seconds lie far before every one that is told in milliseconds. */
function millisecondsOf(end: unknown): number {
  if (typeof end === 'string') return Date.parse(end);
  const number = Number(end);
  return number < 1e11 ? number * 1000 : number;
}
