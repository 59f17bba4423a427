import { expect, test } from '@jest/globals';
import { buildRegistry, type ProcedureRegistry } from '../../lib/core/procedures.ts';
import { registerProcedures } from '../../lib/core/register-procedures.ts';
import { smallProcedure } from '../support/small-procedure.ts';

/** The port's promise: a version is registered once, and the answer is what is registered. */
function store() {
  const rows = new Map<string, string>();
  const registerProcedure = (id: string, version: number, digest: string): Promise<string> => {
    const key = `${id}@${version}`;
    rows.set(key, rows.get(key) ?? digest);
    return Promise.resolve(rows.get(key) ?? '');
  };
  return { rows, registerProcedure };
}

function registryOf(...procedures: ReturnType<typeof smallProcedure>[]): ProcedureRegistry {
  const built = buildRegistry([{ domain: 'test', procedures }]);
  if (!built.ok) throw new Error(JSON.stringify(built.faults));
  return built.registry;
}

test('registers every version, and accepts the same content again', async () => {
  const known = store();
  const registry = registryOf(smallProcedure(), smallProcedure({ version: 2 }));
  await registerProcedures(known, registry);
  await registerProcedures(known, registry);
  expect([...known.rows.keys()]).toEqual(['round@1', 'round@2']);
});

test('refuses to start when contents changed under their version, naming all of them', async () => {
  const known = store();
  await registerProcedures(known, registryOf(smallProcedure(), smallProcedure({ id: 'tour' })));
  const changed = registryOf(
    smallProcedure({ title: 'other' }),
    smallProcedure({ id: 'tour', title: 'other' }),
    smallProcedure({ version: 2 }),
  );
  await expect(registerProcedures(known, changed)).rejects.toMatchObject({
    name: 'CheckpointFault',
    kind: 'terminal',
    code: 'START_REFUSED',
    message: [
      'These procedures differ from what is on record:',
      '  round@1: its content changed; give it a new version number',
      '  tour@1: its content changed; give it a new version number',
    ].join('\n'),
  });
});
