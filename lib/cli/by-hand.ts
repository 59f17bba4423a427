// What is done by hand on a data folder: as the command line itself, with a reason where it must have one.
import { randomUUID } from 'node:crypto';
import { commandLine } from '../core/erase.ts';
import { LIMITS } from '../core/limits.ts';
import { isBlank } from '../core/names.ts';
import type { Asked } from '../core/operations/operate.ts';
import { systemClock } from '../wiring/local.ts';
import { CliProblem } from './failure.ts';

const DEADLINE_MS = 30_000;

/** An operation of the command line in a tenant, asked for now. */
export function byHand(tenant: string): Asked {
  const deadlineMs = systemClock.now() + DEADLINE_MS;
  return { principal: commandLine(tenant), deadlineMs, requestId: randomUUID() };
}

/** Throws a problem for a reason that says nothing or too much. */
export function checkReason(reason: string): void {
  const { max } = LIMITS.reasonChars;
  if (!isBlank(reason) && [...reason].length <= max) return;
  throw new CliProblem(`--reason: expected 1 to ${max} characters.`);
}
