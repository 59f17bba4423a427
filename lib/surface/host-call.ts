// What a host knows of one request beside the request itself. A server of one's own knows nothing.
import type { Clock } from '../core/ports/runtime.ts';

/** Handed in with a request, as the second argument of the app's `fetch`. */
export interface HostCall {
  /** Epoch milliseconds at which the host gives the request up: nothing is written after it. */
  readonly deadlineMs?: number;
}

/** The deadline as a field that is there or not. */
export function deadlineOf(host: HostCall | undefined): { readonly deadlineMs?: number } {
  return host?.deadlineMs === undefined ? {} : { deadlineMs: host.deadlineMs };
}

/** Whether the host has given the request up. */
export function isLate(host: HostCall | undefined, clock: Pick<Clock, 'now'>): boolean {
  return host?.deadlineMs !== undefined && clock.now() >= host.deadlineMs;
}
