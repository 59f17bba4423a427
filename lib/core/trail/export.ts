// Exports of audit trails, and their verification without a database. What verifies is the text that
// was hashed, so a reader needs SHA-256 and nothing of this product.
import { ChainVerifier, eventBody, type ChainFault, type Head } from '../events.ts';
import { LIMITS } from '../limits.ts';
import { recordKey, type Trailed } from '../model/aggregate.ts';
import { FORMAT, type StoredEvent } from '../model/workflow.ts';
import type { StorageBackend } from '../ports/storage.ts';
import { readLine, writeLine, type Line } from './lines.ts';
import { ValueClaims } from './values.ts';

/** Which trails to take. */
export interface Selection {
  readonly tenant?: string;
  readonly workflow?: string;
}

/** The lines of an export: of each trail its events and its head, and at last how many there were. */
export async function* exportLines(
  store: StorageBackend,
  only: Selection,
  now: number,
): AsyncGenerator<string> {
  let trails = 0;
  let events = 0;
  for await (const record of recordsOf(store, only)) {
    const { tenant, id, head_seq, head_hash } = record;
    for await (const { seq, hash, text } of eventsOf(store, record)) {
      events++;
      yield writeLine({ type: 'event', tenant, workflow: id, seq, hash, text });
    }
    trails++;
    yield writeLine({ type: 'head', tenant, workflow: id, seq: head_seq, hash: head_hash });
  }
  yield writeLine({ type: 'end', format: 1, at: new Date(now).toISOString(), trails, events });
}

/** How many records are read as of one moment; many at once would be in the way of who writes them. */
const RECORDS = 20;

/** The records of the chosen workflows and runs, in pages. */
export async function* recordsOf(
  store: StorageBackend,
  { tenant, workflow }: Selection,
): AsyncGenerator<Trailed> {
  for (let after: string | undefined; ;) {
    const page = await store.scanTrails({
      limit: RECORDS,
      ...(after !== undefined && { after }),
    });
    const chosen = page.items.filter(
      (trail) =>
        (tenant === undefined || trail.tenant === tenant) &&
        (workflow === undefined || trail.workflow === workflow),
    );
    const keys = chosen.map((trail) => recordKey(trail.tenant, trail.workflow));
    for (const record of await store.snapshot(keys)) if (record !== undefined) yield record;
    after = page.next;
    if (after === undefined) return;
  }
}

/** The events up to the head that was read: what is appended meanwhile belongs to the next export. */
async function* eventsOf(
  store: StorageBackend,
  { tenant, id, head_seq }: Trailed,
): AsyncGenerator<StoredEvent> {
  for (let after = 0; after < head_seq;) {
    const page = await store.listEvents(tenant, id, { after, limit: LIMITS.pageItems.max });
    const last = page.at(-1);
    if (last === undefined) return;
    yield* page.filter(({ seq }) => seq <= head_seq);
    after = last.seq;
  }
}

/** What is wrong with an export. */
export type ExportFault =
  | ({ readonly what: 'trail'; readonly tenant: string; readonly workflow: string } & {
      readonly fault: ChainFault;
    })
  /** A trail without its head line, so that its end may be missing. */
  | { readonly what: 'no_head'; readonly tenant: string; readonly workflow: string }
  | { readonly what: 'line' | 'order'; readonly line: number }
  | { readonly what: 'cut' | 'counts' };

/** The result of verifying an export. */
export interface ExportReport {
  readonly trails: number;
  readonly events: number;
  /** Sensitive values that the events commit to; an export never holds them. */
  readonly values: number;
  readonly faults: readonly ExportFault[];
}

interface Open {
  readonly tenant: string;
  readonly workflow: string;
  readonly verifier: ChainVerifier;
  readonly claims: ValueClaims;
}

/** Verifies an export line by line, in memory that does not grow with it. */
export class ExportVerifier {
  #open: Open | undefined;
  #end: Extract<Line, { type: 'end' }> | undefined;
  #line = 0;
  #trails = 0;
  #events = 0;
  #values = 0;
  readonly #faults: ExportFault[] = [];

  /** Takes the next line. */
  add(text: string): void {
    const line = ++this.#line;
    const content = readLine(text);
    if (content === undefined) this.#faults.push({ what: 'line', line });
    else if (this.#end !== undefined) this.#faults.push({ what: 'order', line });
    else this.#take(content, line);
  }

  /** Says what was found, once every line was taken. */
  finish(): ExportReport {
    this.#close(undefined);
    if (this.#end === undefined) this.#faults.push({ what: 'cut' });
    else if (this.#end.trails !== this.#trails || this.#end.events !== this.#events) {
      this.#faults.push({ what: 'counts' });
    }
    const [trails, events, values] = [this.#trails, this.#events, this.#values];
    return { trails, events, values, faults: this.#faults };
  }

  #take(content: Line, line: number): void {
    switch (content.type) {
      case 'event': {
        const { tenant, workflow, seq, hash, text } = content;
        this.#events++;
        const event = { format: FORMAT, tenant, workflow, seq, text, hash };
        const { verifier, claims } = this.#of(tenant, workflow);
        if (verifier.add(event)) claims.add(eventBody(event));
        return;
      }
      case 'head':
        this.#of(content.tenant, content.workflow);
        this.#close(content);
        return;
      case 'end':
        this.#end = content;
        return;
      case 'heads':
      case 'total':
      case 'signature':
        this.#faults.push({ what: 'order', line });
    }
  }

  /** The trail that is open, or the next one: events of a trail stand together. */
  #of(tenant: string, workflow: string): Open {
    const { tenant: t, workflow: w } = this.#open ?? {};
    if (t !== tenant || w !== workflow) this.#close(undefined);
    const verifier = new ChainVerifier(tenant, workflow);
    this.#open ??= { tenant, workflow, verifier, claims: new ValueClaims() };
    return this.#open;
  }

  /** Ends a trail at its head; one that has no head line fails, because it may have been cut. */
  #close(head: Head | undefined): void {
    if (this.#open === undefined) return;
    const { tenant, workflow, verifier, claims } = this.#open;
    this.#open = undefined;
    this.#trails++;
    this.#values += claims.kept().length;
    if (head === undefined) {
      this.#faults.push({ what: 'no_head', tenant, workflow });
      return;
    }
    for (const fault of verifier.finish(head)) {
      this.#faults.push({ what: 'trail', tenant, workflow, fault });
    }
  }
}
