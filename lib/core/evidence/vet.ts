// Which of the advertised tools may be called: our own allowlist, intersected with what is offered.
// What a server says of itself can only take a tool away, never grant one.
import { sameDigest } from '../canonical.ts';
import { isJsonFault } from '../json.ts';
import type { AdvertisedTool } from '../ports/evidence.ts';
import { definitionHash } from './definition.ts';

/** One entry of the allowlist. Without a pin the tool is known but not called. */
export interface AllowedTool {
  readonly server: string;
  readonly name: string;
  /** The hash of the definition that somebody looked at. */
  readonly pin?: string | undefined;
}

/** Why a tool is not called, in order of precedence. */
export type RefusalReason =
  | 'NAME_REFUSED'
  | 'NAME_REPEATED'
  | 'SHADOWS_ALLOWED_TOOL'
  | 'NOT_ON_ALLOWLIST'
  | 'DEFINITION_UNUSABLE'
  | 'NOT_READ_ONLY'
  | 'NOT_PINNED'
  | 'DEFINITION_CHANGED';

/** The verdict on one advertised tool. */
export interface VettedTool {
  readonly server: string;
  readonly name: string;
  /** Whether it may be called. */
  readonly allowed: boolean;
  /** Whether its definition is the pinned one. */
  readonly pinned: boolean;
  /** Why it is not called; null where it is. */
  readonly reason: RefusalReason | null;
  /** The hash of its definition as it is now; null where that cannot be said. */
  readonly definition: string | null;
}

/** What a name of a tool may be. Source: MCP 2025-11-25, Tool Names. */
const NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/** Vets tools of any number of servers, in the order given. */
export function vetTools(
  advertised: readonly AdvertisedTool[],
  allowlist: readonly AllowedTool[],
): readonly VettedTool[] {
  const offers = new Map<string, number>();
  for (const { server, name } of advertised) {
    const key = keyOf(server, name);
    offers.set(key, (offers.get(key) ?? 0) + 1);
  }
  const listed = new Map(allowlist.map((entry) => [keyOf(entry.server, entry.name), entry]));
  const spoken = new Set(allowlist.map(({ name }) => likeness(name)));
  return advertised.map((tool) => {
    const { server, name } = tool;
    const entry = listed.get(keyOf(server, name));
    const definition = hashOf(tool);
    const pin = entry?.pin;
    const pinned = pin !== undefined && definition !== null && sameDigest(pin, definition);
    const reason = ((): RefusalReason | null => {
      if (!NAME.test(name)) return 'NAME_REFUSED';
      if ((offers.get(keyOf(server, name)) ?? 0) > 1) return 'NAME_REPEATED';
      if (entry === undefined) {
        return spoken.has(likeness(name)) ? 'SHADOWS_ALLOWED_TOOL' : 'NOT_ON_ALLOWLIST';
      }
      if (definition === null) return 'DEFINITION_UNUSABLE';
      if (tool.writes === true) return 'NOT_READ_ONLY';
      if (pin === undefined) return 'NOT_PINNED';
      return pinned ? null : 'DEFINITION_CHANGED';
    })();
    return { server, name, allowed: reason === null, pinned, reason, definition };
  });
}

/** What each reason means and what to do about it, as one sentence. */
export const REASON_WORDS: { readonly [reason in RefusalReason]: string } = {
  NAME_REFUSED: 'its name is not one that a tool may have',
  NAME_REPEATED: 'its server offers several tools of this name',
  SHADOWS_ALLOWED_TOOL: 'it has the name of an allowed tool and is not that tool',
  NOT_ON_ALLOWLIST: 'it is not on the allowlist',
  DEFINITION_UNUSABLE: 'its definition cannot be hashed, so it cannot be pinned',
  NOT_READ_ONLY: 'its server says that it changes something',
  NOT_PINNED: 'it has no pin: look at its definition, then pin it',
  DEFINITION_CHANGED: 'its definition is not the pinned one: look at it, then pin it again',
};

/** Names that are read, or misread, as the same. */
function likeness(name: string): string {
  return name.toLowerCase().replace(/[_.-]/g, '');
}

function keyOf(server: string, name: string): string {
  return JSON.stringify([server, name]);
}

function hashOf(tool: AdvertisedTool): string | null {
  try {
    return definitionHash(tool);
  } catch (error) {
    if (isJsonFault(error)) return null;
    throw error;
  }
}
