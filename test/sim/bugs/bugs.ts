// Bugs that are planted, at least one for each invariant (F: what releases owe each other): each changes what the product is given or what
// leaves it, so that its code stays as it is. The simulation has to find every one of them.
import type { Command } from '../../../lib/core/model/commands.ts';
import type { Outcome } from '../../../lib/core/outcome.ts';
import { keyText } from '../../../lib/core/keys.ts';
import type { StorageBackend, Write } from '../../../lib/core/ports/storage.ts';
import { without } from '../../exhaustive/guards.ts';
import type { Ports, Program } from '../../exhaustive/replay.ts';
import type { Service } from '../../../lib/core/service/service.ts';
import { forgetful } from '../releases.ts';
import type { Bug } from '../simulate.ts';

type Page = Parameters<StorageBackend['listDue']>[1];

const HEAD = 'head_hash, head_seq, version';
const EVENT = 'event is not there yet';

/** The bugs by what is wrong. */
export const BUGS: { readonly [what: string]: Bug } = {
  'I1: a lock is taken without looking who has it': {
    alter: without('lock is not there yet', 'update lock at its fence, held'),
  },
  'I1: a release that says nothing to the work that holds the asset': {
    alter: ({ writes, ...rest }) => ({ ...rest, writes: releasedAlone(writes) }),
  },
  'I1: a lost lock is released by whoever had it': {
    alter: without(
      'update lock at its fence, held, workflow',
      `update workflow at its ${HEAD}`,
      EVENT,
    ),
  },
  'I2: a key is looked up, and not guarded': { alter: without('ledger is not there yet') },
  'I2: the key is remembered after the effect, in a transaction of its own': {
    alter: ({ writes, ...rest }) => {
      const others = writes.filter(({ key }) => key.kind !== 'ledger');
      return { ...rest, writes: others.length === 0 ? writes : others };
    },
  },
  'I2: the digest of a call without a key holds only for a moment': {
    alter: ({ writes, ...rest }) => ({ ...rest, writes: writes.map(shortLived) }),
  },
  'I3: a notification is written apart from its event, and a crash comes between': {
    alter: ({ writes, ...rest }) => ({
      ...rest,
      writes: writes.filter(({ op, key }) => op !== 'create' || key.kind !== 'outbox'),
    }),
  },
  'I3: a row is taken out before its sink has accepted it': {
    wrap: (what, program) => (what === 'delivery' || what === 'sweep' ? deaf(program) : program),
  },
  'I3: one failing receiver holds up everybody': {
    wrap: (what, program) => (what === 'sweep' ? firstLaneOnly(program) : program),
  },
  'I4: a whole that is remembered is put over what is there': {
    alter: without(`update workflow at its ${HEAD}`, `update run at its ${HEAD}`, EVENT),
  },
  'I5: a repair carries no epoch': { alter: without('lease') },
  'I5: a claim is not looked at when a row is settled': {
    alter: without('delete outbox at its rev', 'update outbox at its rev'),
  },
  'I6: a refusal is given from memory': { service: forgetsNothing },
  'I7: the last moment is not looked at when a write is sent': {
    wrap: (what, program) => (what === 'worker' ? atItsBeginning(program) : program),
  },
  'I7: what is written is not what was approved': {
    wrap: (what, program) => (what === 'worker' ? elsewhere(program) : program),
  },
  'I8: a process takes everybody for a member of the tenant that it served first': {
    service: oneTenant,
  },
  'F: an older release keeps of an item only what it knows': {
    alter: ({ writes, ...rest }) => ({ ...rest, writes: writes.map(forgetful) }),
  },
  'F: an older release reads what it does not know': { anyFormat: true },
  'R4 compares items that it has read one by one': { tornReads: true },
};

/** The first seed that finds each, by `npm run sim -- --bugs`: where the tests look first. */
export const FOUND_AT: { readonly [what: string]: number } = {
  'F: an older release keeps of an item only what it knows': 5,
  'F: an older release reads what it does not know': 6,
  'I1: a lock is taken without looking who has it': 200,
  'I1: a lost lock is released by whoever had it': 5,
  'I2: a key is looked up, and not guarded': 19,
  'I2: the digest of a call without a key holds only for a moment': 4,
  'I2: the key is remembered after the effect, in a transaction of its own': 4,
  'I3: a notification is written apart from its event, and a crash comes between': 2,
  'I3: one failing receiver holds up everybody': 8,
  'I4: a whole that is remembered is put over what is there': 5,
  'I5: a claim is not looked at when a row is settled': 21,
  'I5: a repair carries no epoch': 179,
  'I6: a refusal is given from memory': 146,
  'I7: the last moment is not looked at when a write is sent': 1203,
  'I7: what is written is not what was approved': 13,
  'R4 compares items that it has read one by one': 6,
};

/** A release without what it says to the state of the work. */
function releasedAlone(writes: readonly Write[]): readonly Write[] {
  const lock = writes.find(
    (write) => write.op === 'update' && write.key.kind === 'lock' && write.set['held'] === false,
  );
  return lock === undefined ? writes : [lock];
}

function shortLived(write: Write): Write {
  if (write.op !== 'create' || write.key.kind !== 'ledger') return write;
  if ((write.item as { operation?: string }).operation !== 'create_run') return write;
  return { ...write, item: { ...write.item, expires_at: 1 } as typeof write.item };
}

/** Ports of which some calls are answered otherwise. */
function changed(
  ports: Ports,
  change: (port: string, name: string, args: readonly unknown[]) => unknown,
): Ports {
  return {
    ...ports,
    port: <T extends object>(name: string): T => {
      const real = ports.port<Record<string, (...args: unknown[]) => unknown>>(name);
      return new Proxy({} as T, {
        get: (_, method) =>
          typeof method === 'string' && method !== 'then'
            ? (...args: unknown[]) => change(name, method, args) ?? real[method]?.(...args)
            : undefined,
      });
    },
  };
}

/** A dispatcher that takes every answer of a sink for a success, none included. */
const deaf =
  (program: Program): Program =>
  (ports, by) =>
    program(
      changed(ports, (port) => (port === 'sink' ? Promise.resolve() : undefined)),
      by,
    );

/** A dispatcher that stays at the first lane of all until that one is empty. */
const firstLaneOnly =
  (program: Program): Program =>
  (ports, by) => {
    const store = ports.port<Pick<StorageBackend, 'listDue'>>('store');
    const one = async (shard: number, page: Page): Promise<unknown> => {
      const all = await store.listDue(shard, { ...page, until: Number.MAX_SAFE_INTEGER });
      const rows = all.items.filter(({ key }) => key.kind === 'outbox');
      const [first] = rows.toSorted((a, b) => (keyText(a.key) < keyText(b.key) ? -1 : 1));
      const due = all.items.filter(({ due_at }) => due_at <= page.until);
      return { items: due.filter((item) => item.key.kind !== 'outbox' || item === first) };
    };
    return program(
      changed(ports, (port, name, args) =>
        port === 'store' && name === 'listDue'
          ? one(args[0] as number, args[1] as Page)
          : undefined,
      ),
      by,
    );
  };

/** A worker that looks at the clock once, when it begins. */
const atItsBeginning =
  (program: Program): Program =>
  (ports, by) => {
    const now = ports.clock.now();
    return program({ ...ports, clock: { ...ports.clock, now: () => now } }, by);
  };

/** A worker whose write goes to another target. */
const elsewhere =
  (program: Program): Program =>
  (ports, by) => {
    const desk = ports.port<{ create: (...args: unknown[]) => Promise<unknown> }>('desk');
    return program(
      changed(ports, (port, name, [order, ...rest]) =>
        port === 'desk' && name === 'create'
          ? desk.create({ ...(order as object), target: 'elsewhere' }, ...rest)
          : undefined,
      ),
      by,
    );
  };

/** A process that answers a refusal again without looking. */
function forgetsNothing(service: Service): Service {
  const refused = new Map<string, Outcome>();
  return {
    ...service,
    execute: async (...call: Parameters<typeof service.execute>): Promise<Outcome> => {
      const [who, command] = call;
      const name = JSON.stringify([who.subject, nameOf(command)]);
      const before = refused.get(name);
      if (before !== undefined) return before;
      const outcome = await service.execute(...call);
      if (outcome.code === 'ASSET_BUSY') refused.set(name, outcome);
      return outcome;
    },
  };
}

/** A process that keeps the tenant of its first call. */
function oneTenant(service: Service): Service {
  let tenant: string | undefined;
  return {
    ...service,
    execute: (who, ...rest) => {
      tenant ??= who.tenant;
      return service.execute({ ...who, tenant }, ...rest);
    },
  };
}

const nameOf = (command: Command): unknown =>
  command.type === 'start_workflow' ? command.asset : command;
