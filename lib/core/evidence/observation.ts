// What a tool answered, as it is kept: bounded, with the digest of the whole, and marked as untrusted.
import { sha256Hex } from '../canonical.ts';
import { cutAtBytes } from '../cut.ts';
import type { JsonObject } from '../json.ts';

/** One observation. What it says is data of somebody else. */
export interface Observation {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** The text, cut between two code points where it was too long. */
  readonly text: string;
  /** Bytes of the full text in UTF-8. */
  readonly bytes: number;
  readonly truncated: boolean;
  /** SHA-256 of the full text in UTF-8, 64 lower-case hex digits. */
  readonly digest: string;
  /** Whether the tool said that it failed. */
  readonly is_error: boolean;
  /** The hash of the definition that was called. */
  readonly definition: string;
  readonly untrusted: true;
}

/** Makes an observation of a full text. At most `maxBytes` of it are kept. */
export function observationOf(
  called: Pick<Observation, 'server' | 'tool' | 'arguments' | 'definition' | 'is_error'>,
  fullText: string,
  maxBytes: number,
): Observation {
  const whole = fullText.toWellFormed();
  const text = cutAtBytes(whole, maxBytes);
  return {
    ...called,
    text,
    bytes: Buffer.byteLength(whole),
    truncated: text.length < whole.length,
    digest: sha256Hex(whole),
    untrusted: true,
  };
}
