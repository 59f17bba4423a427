// The evidence port: read-only tools of peers. What they say is data, whatever it says.
import type { Json } from '../json.ts';

/** A tool that may be called: offered by its peer, on the allowlist, and defined as it was pinned. */
export interface EvidenceTool {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly inputSchema: { readonly [name: string]: Json };
}

/**
 * A source of evidence. Calls settle before `deadlineMs` (epoch milliseconds) and throw a
 * `DeliveryError` where a peer does not answer; a peer that fails ends no other's work.
 */
export interface EvidenceSource {
  /** The tools that may be called now; what a peer advertises alone grants nothing. */
  tools(deadlineMs: number): Promise<readonly EvidenceTool[]>;
  /** Calls one; a tool that is not among those is refused as `terminal`. The text is as it was said. */
  call(
    tool: { readonly server: string; readonly name: string },
    args: { readonly [name: string]: Json },
    deadlineMs: number,
  ): Promise<{ readonly text: string }>;
  close(): Promise<void>;
}
