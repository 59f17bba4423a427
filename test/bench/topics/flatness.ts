// Whether what people do stays as fast with a million stored workflows as with a thousand. All sizes are
// open at once and take turns, so that a busy moment of the machine meets every one of them.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import {
  bulkLoad,
  busyPerson,
  MEASURED_TENANTS,
  supervisor,
  TENANTS,
  ASSETS,
  type Copier,
} from '../support/bulk-load.ts';
import { person, start, threeSteps } from '../support/domain.ts';
import { median, mib, ms, timed, times } from '../support/measure.ts';
import { openStore, serviceOn, withFolder } from '../support/service-on.ts';
import type { Topic } from '../support/table.ts';

const OPERATIONS = [
  'start',
  'step, workflow read from the store',
  'list_my, three of them',
  'blocked list, two of them',
  'disambiguation between three',
  'bare engine: seven rows in one transaction',
] as const;
const PEER = OPERATIONS.length - 1;
type Samples = { readonly [O in (typeof OPERATIONS)[number]]: number[] };

interface Sized {
  readonly count: number;
  readonly bytes: number;
  readonly store: StorageBackend;
  /** A bare connection to the same file. */
  readonly raw: DatabaseSync;
  readonly copy: Copier;
  readonly samples: Samples;
}

/** Measures every operation at every size. */
export const flatness: Topic = (size, note) =>
  withFolder(async (folder) => {
    const counts = [1_000, 10_000, 100_000, ...(size === 'full' ? [1_000_000] : [])];
    const rounds = size === 'quick' ? 60 : 300;
    const sized: Sized[] = [];
    for (const count of counts) {
      const path = join(folder, `${count}.sqlite`);
      const copy = await bulkLoad(folder, path, count);
      const bytes = statSync(path).size;
      note(`${count} workflows loaded, ${mib(bytes)}`);
      const samples = Object.fromEntries(
        OPERATIONS.map((name) => [name, []]),
      ) as unknown as Samples;
      const store = await openStore(path);
      const raw = new DatabaseSync(path);
      raw.exec('PRAGMA synchronous = FULL;');
      sized.push({ count, bytes, store, raw, copy, samples });
    }
    const warmUp = 20;
    for (let round = -warmUp; round < rounds; round++) {
      if (round === 0) {
        for (const { samples } of sized) for (const name of OPERATIONS) samples[name].length = 0;
      }
      const first = (round + warmUp) % sized.length;
      for (const one of [...sized.slice(first), ...sized.slice(0, first)]) {
        await playRound(one, round + warmUp);
      }
    }
    for (const { store, raw } of sized) {
      raw.close();
      await store.close();
    }

    const p50s = OPERATIONS.map((name) => sized.map(({ samples }) => median(samples[name])));
    const growth = p50s.map((values) => (values.at(-1) ?? 0) / (values[0] ?? 1));
    const reads = Math.max(...growth.slice(2, PEER));
    const writes = Math.max(...growth.slice(0, 2)) / (growth[PEER] ?? 1);
    const span = `${counts[0] ?? 0} to ${counts.at(-1) ?? 0} workflows`;
    return {
      title: `Stored workflows, over ${TENANTS} tenants and ${ASSETS} assets`,
      head: ['p50', ...counts.map((count) => count.toLocaleString('en')), 'last to first'],
      rows: [
        ...OPERATIONS.map((name, i) => [
          name,
          ...(p50s[i] ?? []).map(ms),
          times(growth[i] ?? Number.NaN),
        ]),
        ['file', ...sized.map(({ bytes }) => mib(bytes)), ''],
      ],
      targets: [
        {
          name: `slowest growth of a list from ${span}`,
          measured: times(reads),
          target: 'flat: at most 1.25×',
          met: reads <= 1.25,
        },
        {
          name: `slowest growth of a write from ${span}, over the bare engine’s own`,
          measured: times(writes),
          target: 'flat: at most 1.25×',
          met: writes <= 1.25,
        },
      ],
    };
  });

async function playRound({ store, raw, copy, samples }: Sized, round: number): Promise<void> {
  const tenant = round % MEASURED_TENANTS;
  const busy = busyPerson(tenant);
  const boss = supervisor(tenant);
  const who = person(busy.tenant, `round-${round}`);
  const service = serviceOn(store);
  // A process that has never seen the workflow has to read it.
  const stranger = serviceOn(store);
  const started = await timed(samples['start'], () =>
    service.ok(who, start(`VALVE-${1_000_000 + round}`)),
  );
  const [step] = threeSteps(started.receipt.workflow);
  if (step === undefined) throw new Error('there are three steps');
  await timed(samples['step, workflow read from the store'], () => stranger.ok(who, step));
  const mine = await timed(samples['list_my, three of them'], () => service.queries.listMine(busy));
  const blocked = await timed(samples['blocked list, two of them'], () =>
    service.queries.listBlocked(boss),
  );
  const { workflow: _which, ...unnamed } = step as typeof step & { workflow: string };
  const asked = await timed(samples['disambiguation between three'], () =>
    service.execute(busy, { ...unnamed, key: crypto.randomUUID() } as typeof step),
  );
  await timed(samples['bare engine: seven rows in one transaction'], () => {
    raw.exec('BEGIN IMMEDIATE');
    const asset = `VALVE-${2_000_000 + round}`;
    copy(raw, 'running', { tenant: busy.tenant, subject: 'bench:nobody', asset });
    raw.exec('COMMIT');
    return Promise.resolve();
  });
  if (mine.code !== 'FOUND' || mine.value.workflows.length !== 3) throw new Error('three are mine');
  if (blocked.code !== 'FOUND' || blocked.value.workflows.length !== 2) {
    throw new Error('two are blocked');
  }
  if (asked.code !== 'AMBIGUOUS' || asked.total !== 3) throw new Error('three to choose from');
}
