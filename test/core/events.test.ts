import { describe, expect, it } from '@jest/globals';
import { canonicalJson, sha256Hex } from '../../lib/core/canonical.ts';
import {
  appendEvent,
  ChainVerifier,
  eventBody,
  GENESIS,
  readableEvent,
  type Head,
} from '../../lib/core/events.ts';
import type { StoredEvent } from '../../lib/core/model/workflow.ts';

const actor = { subject: 'dev:ana', name: 'Ana', kind: 'person', via: 'mcp' } as const;

function chain(length: number): { events: StoredEvent[]; head: Head } {
  let head: Head = { seq: 0, hash: GENESIS };
  const events: StoredEvent[] = [];
  for (let i = 0; i < length; i++) {
    const place = { tenant: 'acme', workflow: 'w1', head };
    const draft = {
      type: 'step_recorded',
      at: '2026-01-01T00:00:00.000Z',
      actor,
      data: { i },
    } as const;
    const next = appendEvent(place, draft);
    events.push(next.event);
    head = next.head;
  }
  return { events, head };
}

function verify(events: readonly StoredEvent[], head: Head, workflow = 'w1', tenant = 'acme') {
  const verifier = new ChainVerifier(tenant, workflow);
  for (const event of events) verifier.add(event);
  return verifier.finish(head);
}

/** Changes the body of one event and hashes it anew, as somebody with write access could. */
function forged(event: StoredEvent, change: object): StoredEvent {
  const text = canonicalJson({ ...(JSON.parse(event.text) as object), ...change });
  return { ...event, text, hash: sha256Hex(text) };
}

describe('a chain of events', () => {
  const { events, head } = chain(5);
  const at = (i: number): StoredEvent => events[i] as StoredEvent;

  it('verifies as written, and so does an empty one', () => {
    expect(verify(events, head)).toEqual([]);
    expect(verify([], { seq: 0, hash: GENESIS })).toEqual([]);
  });

  it('carries the canonical text that was hashed', () => {
    expect(at(0).text).toBe(
      '{"actor":{"kind":"person","name":"Ana","subject":"dev:ana","via":"mcp"},' +
        '"at":"2026-01-01T00:00:00.000Z","data":{"i":0},"format":1,' +
        `"prev":"${'0'.repeat(64)}","seq":1,"tenant":"acme","type":"step_recorded","workflow":"w1"}`,
    );
    expect(at(0).hash).toBe(sha256Hex(at(0).text));
  });

  it.each([
    ['a removed event', [at(0), at(1), at(3), at(4)], head, { seq: 3, what: 'missing' }],
    ['a removed first event', events.slice(1), head, { seq: 1, what: 'missing' }],
    ['a truncated tail', events.slice(0, 3), head, { seq: 4, what: 'missing' }],
    ['a doubled event', [at(0), at(0), ...events.slice(1)], head, { seq: 2, what: 'missing' }],
    ['swapped events', [at(1), at(0), ...events.slice(2)], head, { seq: 1, what: 'missing' }],
    [
      'a changed text',
      [at(0), { ...at(1), text: at(1).text.replace('1}', '2}') }, ...events.slice(2)],
      head,
      { seq: 2, what: 'hash' },
    ],
    [
      'a changed event with a new hash',
      [at(0), forged(at(1), { data: { i: 9 } }), ...events.slice(2)],
      head,
      { seq: 3, what: 'link' },
    ],
    [
      'a changed last event with a new hash',
      [...events.slice(0, 4), forged(at(4), { data: {} })],
      head,
      { seq: 5, what: 'head' },
    ],
    [
      'an event beyond the head',
      events,
      { seq: 4, hash: at(3).hash },
      { seq: 5, what: 'beyond_head' },
    ],
    [
      'a head that was rewritten',
      events,
      { seq: 5, hash: 'f'.repeat(64) },
      { seq: 5, what: 'head' },
    ],
    [
      'a text that is no JSON',
      [{ ...at(0), text: '{', hash: sha256Hex('{') }],
      { seq: 1, hash: sha256Hex('{') },
      { seq: 1, what: 'content' },
    ],
    [
      'another sequence inside the text',
      [forged(at(0), { seq: 2 })],
      { seq: 1, hash: forged(at(0), { seq: 2 }).hash },
      { seq: 1, what: 'content' },
    ],
  ])('shows %s', (_name, tampered, claimed, fault) => {
    expect(verify(tampered, claimed)).toEqual([fault]);
  });

  it('shows a chain that was copied to another workflow or tenant', () => {
    expect(verify(events, head, 'w2')).toEqual([{ seq: 1, what: 'content' }]);
    expect(verify(events, head, 'w1', 'other')).toEqual([{ seq: 1, what: 'content' }]);
  });
});

describe('a fault that a person has looked at', () => {
  const { events, head } = chain(4);
  const at = (i: number): StoredEvent => events[i] as StoredEvent;
  const changed = { ...at(1), text: at(1).text.replace('1}', '2}') };
  const broken = [at(0), changed, at(2), at(3)];
  const rowsOf = (rows: readonly StoredEvent[]): string => {
    const verifier = new ChainVerifier('acme', 'w1');
    for (const row of rows) verifier.add(row);
    return verifier.rows();
  };
  const acknowledging = (
    rows: readonly StoredEvent[],
    faults: readonly string[],
    from: Head = head,
  ) =>
    appendEvent(
      { tenant: 'acme', workflow: 'w1', head: from },
      {
        type: 'faults_acknowledged',
        at: '2026-01-02T00:00:00.000Z',
        actor,
        data: { faults: [...faults], rows: rowsOf(rows), reason: 'looked at' },
      },
    );

  it('stays a fault, named with the event that says so, and the chain verifies from there', () => {
    const { event, head: after } = acknowledging(broken, ['2 hash']);
    expect(verify([...broken, event], after)).toEqual([{ seq: 2, what: 'hash', acknowledged: 5 }]);
    const next = appendEvent(
      { tenant: 'acme', workflow: 'w1', head: after },
      { type: 'step_recorded', at: '2026-01-03T00:00:00.000Z', actor, data: {} },
    );
    expect(verify([...broken, event, next.event], next.head)).toHaveLength(1);
    expect(verify([...broken, event, forged(next.event, { prev: GENESIS })], next.head)).toEqual([
      { seq: 2, what: 'hash', acknowledged: 5 },
      { seq: 6, what: 'link' },
    ]);
  });

  it('is open again where a row before the event is not as it was found', () => {
    const { event, head: after } = acknowledging(broken, ['2 hash']);
    const more = [at(0), changed, { ...at(2), hash: 'f'.repeat(64) }, at(3)];
    expect(verify([...more, event], after)).toEqual([{ seq: 2, what: 'hash' }]);
  });

  it('is open where the event names another fault, or belongs to another trail', () => {
    const { event, head: after } = acknowledging(broken, ['3 hash']);
    expect(verify([...broken, event], after)).toEqual([{ seq: 2, what: 'hash' }]);
    const { event: good } = acknowledging(broken, ['2 hash']);
    const foreign = forged(good, { workflow: 'w2' });
    expect(verify([...broken, foreign], { seq: 5, hash: foreign.hash })).toEqual([
      { seq: 2, what: 'hash' },
    ]);
  });

  it('can be a tail that is gone, or a head that does not fit', () => {
    const cut = events.slice(0, 2);
    const { event, head: after } = acknowledging(cut, ['3 missing']);
    expect(verify([...cut, event], after)).toEqual([{ seq: 3, what: 'missing', acknowledged: 5 }]);
    const claimed = { seq: 4, hash: 'f'.repeat(64) };
    const other = acknowledging(events, ['4 head'], claimed);
    expect(verify([...events, other.event], other.head)).toEqual([
      { seq: 4, what: 'head', acknowledged: 5 },
    ]);
  });
});

describe('an event for people', () => {
  const place = { tenant: 'acme', workflow: 'w1', head: { seq: 4, hash: 'e'.repeat(64) } };
  const draft = { type: 'step_recorded', at: '2026-01-01T00:00:00.000Z', actor } as const;
  const read = (data: { readonly [key: string]: string }) => {
    const { event } = appendEvent(place, { ...draft, data });
    return { event, readable: readableEvent(event) };
  };

  it('says what was hashed, and neither the tenant nor the workflow', () => {
    const { event, readable } = read({ step: 'inlet' });
    expect(readable).toEqual({
      ...draft,
      seq: 5,
      data: { step: 'inlet' },
      redacted: false,
      prev: 'e'.repeat(64),
      hash: event.hash,
    });
  });

  it('says of a sensitive value only that there is one', () => {
    const { readable } = read({ step: 'remarks', commitment: 'c'.repeat(64) });
    expect(readable).toMatchObject({ redacted: true });
    expect(readable.data).toEqual({ step: 'remarks' });
  });
});

describe('the body of an event', () => {
  it.each(['', 'no JSON', 'null', '7', '[]', '{}', '{"actor":{}}', '{"actor":{},"data":null}'])(
    'is never taken from a text that is none: %j',
    (text) => {
      const stored = { format: 1, tenant: 't', workflow: 'w', seq: 1, hash: '', text };
      expect(() => eventBody(stored)).toThrow(
        expect.objectContaining({ kind: 'retryable', code: 'ITEM_DAMAGED' }),
      );
    },
  );
});
