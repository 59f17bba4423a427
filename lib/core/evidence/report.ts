// What every configured server offers, each tool with its verdict: what people look at, and pin.
import {
  isEvidenceError,
  type AdvertisedTool,
  type EvidenceErrorCode,
  type EvidenceSource,
} from '../ports/evidence.ts';
import { vetTools, type AllowedTool, type VettedTool } from './vet.ts';

/** Every advertised tool with its verdict, and what could not be had. */
export interface ToolReport {
  /** The tools as their servers offer them, in the order of `tools`. */
  readonly offered: readonly AdvertisedTool[];
  readonly tools: readonly VettedTool[];
  /** Entries of the allowlist that nobody offers. */
  readonly missing: readonly { readonly server: string; readonly name: string }[];
  /** Servers that did not answer. */
  readonly problems: readonly {
    readonly server: string;
    readonly code: EvidenceErrorCode;
    readonly message: string;
    /** The end of what its process wrote on standard error: to be shown through `display` only. */
    readonly lastWords?: string;
  }[];
}

/** The verdicts without the definitions, which can be more than one answer of a function holds. */
export type ToolVerdicts = Omit<ToolReport, 'offered'>;

/** Asks every server what it offers, all at once, and vets it. */
export async function reportTools(
  source: Pick<EvidenceSource, 'servers' | 'list'>,
  allowlist: readonly AllowedTool[],
  deadlineMs: number,
): Promise<ToolReport> {
  const offered: AdvertisedTool[] = [];
  const problems: ToolReport['problems'][number][] = [];
  const listings = await Promise.allSettled(
    source.servers.map((server) => source.list(server, deadlineMs)),
  );
  for (const listing of listings) {
    if (listing.status === 'fulfilled') offered.push(...listing.value);
    else if (isEvidenceError(listing.reason)) {
      const { server, code, message, lastWords } = listing.reason;
      problems.push({ server, code, message, ...(lastWords !== undefined && { lastWords }) });
    } else throw listing.reason;
  }
  const silent = new Set(problems.map(({ server }) => server));
  const missing = allowlist
    .filter(({ server, name }) => {
      if (silent.has(server)) return false;
      return !offered.some((tool) => tool.server === server && tool.name === name);
    })
    .map(({ server, name }) => ({ server, name }));
  return { offered, tools: vetTools(offered, allowlist), missing, problems };
}
