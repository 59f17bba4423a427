// What a read on another path found of a write, compared with the action field by field. Pure.
import { canonicalJson } from '../canonical.ts';
import type { Action } from '../model/run.ts';
import type { Ticket } from '../ports/ticket.ts';

/** What was found. `differs` names the members that are not those of the action, and never their values. */
export type ReadBack =
  | { readonly found: 'absent' }
  | { readonly found: 'same'; readonly reference: string }
  | {
      readonly found: 'different';
      readonly reference: string;
      readonly differs: readonly string[];
    };

/** Compares a ticket, or that there is none, with the approved action. */
export function readBack(action: Action, ticket: Ticket | undefined): ReadBack {
  if (ticket === undefined) return { found: 'absent' };
  const { reference } = ticket;
  const names = new Set([...Object.keys(action.arguments), ...Object.keys(ticket.arguments)]);
  const differs = [
    ...(ticket.type === action.type ? [] : ['type']),
    ...[...names].filter((name) => !sameArgument(action, ticket, name)).toSorted(),
  ];
  return differs.length === 0
    ? { found: 'same', reference }
    : { found: 'different', reference, differs };
}

function sameArgument(action: Action, ticket: Ticket, name: string): boolean {
  const [one, two] = [action, ticket].map((side) =>
    Object.hasOwn(side.arguments, name) ? side.arguments[name] : undefined,
  );
  if (one === undefined || two === undefined) return one === two;
  return canonicalJson(one) === canonicalJson(two);
}
