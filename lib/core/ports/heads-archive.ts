// Where lists of heads of a deployment are kept: what is there is never changed.

/** What is known of a part that is kept. */
export interface KeptPart {
  /** Where the next part goes on; undefined for the last one. */
  readonly next: string | undefined;
}

/** Keeps lists by day (`2026-03-01`) and part. Throws retryable faults while it cannot be used. */
export interface HeadsArchive {
  /** What is kept under a name; undefined where nothing is. */
  find(day: string, part: number): Promise<KeptPart | undefined>;
  /** Keeps a part with its lines as one text; false where another one has that name. */
  keep(day: string, part: number, text: string, kept: KeptPart): Promise<boolean>;
}
