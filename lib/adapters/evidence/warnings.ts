// What is odd about a server, counted: a flood of it must not become a flood of log lines, and nothing
// of what a server wrote goes into one.

/** Kinds of oddities that are passed over. */
export type Oddity =
  | 'a line that is no message'
  | 'a line that is not UTF-8'
  | 'an answer to nothing that was asked'
  | 'a request that is refused'
  | 'text on standard error';

/** An oddity, and how often it has been seen. */
export interface EvidenceWarning {
  readonly server: string;
  readonly what: Oddity;
  readonly count: number;
}

/** Hears of the first oddity of a kind, then of the tenth, the hundredth and so on. */
export type OnWarning = (warning: EvidenceWarning) => void;

/** Counts the oddities of one connection. */
export function countOddities(server: string, onWarning: OnWarning): (what: Oddity) => void {
  const counts = new Map<Oddity, number>();
  return (what) => {
    const count = (counts.get(what) ?? 0) + 1;
    counts.set(what, count);
    if (/^10*$/.test(String(count))) onWarning({ server, what, count });
  };
}
