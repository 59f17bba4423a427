import { describe, expect, test } from '@jest/globals';
import { usePlant } from '../support/plant.ts';
import { onDataFile } from '../support/trail.ts';
import { at, rpc, tool } from '../support/wire.ts';

const plant = usePlant();

/** Ends the life of every key that had an effect on a workflow, as time would. */
function expireKeysOf(workflow: string): void {
  onDataFile(plant.folder, (db) => {
    for (const { key, body } of db.prepare('SELECT "key", body FROM ledger').all()) {
      const row = JSON.parse(String(body)) as { receipt: { workflow: string }; expires_at: number };
      if (row.receipt.workflow !== workflow) continue;
      const expired = JSON.stringify({ ...row, expires_at: 1_700_000_000 });
      db.prepare('UPDATE ledger SET expires_at = 1700000000, body = ? WHERE "key" = ?').run(
        expired,
        String(key),
      );
    }
  });
}

describe('what a key may be', () => {
  test.each([
    ['255 characters', 'k'.repeat(255), 'OK'],
    ['every printable character', ' !"#$%&\'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~', 'OK'],
    ['256 characters', 'k'.repeat(256), 'INVALID_ARGUMENT'],
    ['nothing', '', 'INVALID_ARGUMENT'],
    ['a line break', 'a\nb', 'INVALID_ARGUMENT'],
    ['a null character', 'a\u0000b', 'INVALID_ARGUMENT'],
    ['a delete character', 'a\u007Fb', 'INVALID_ARGUMENT'],
    ['a letter beyond ASCII', 'ä', 'INVALID_ARGUMENT'],
  ])('a key of %s is answered %3$s', async (_what, key, code) => {
    const workflow_id = await plant.started();
    const args = { workflow_id, step: 'vibration', reading: 2.2, idempotency_key: key };
    const answer = await tool(plant.ana, 'record_step', args);
    expect(answer.fields['code']).toBe(code);
    if (code === 'OK') {
      expect((await tool(plant.ana, 'record_step', args)).fields['duplicate']).toBe(true);
    } else {
      expect(at(answer, 'faults.0.path')).toBe('/idempotency_key');
      expect(plant.typesOf(workflow_id)).toEqual(['workflow_started']);
    }
  });
});

describe('no key, or a new one for each attempt', () => {
  test('three calls with the same words and three random keys have one effect', async () => {
    const workflow_id = await plant.started();
    const answers = [];
    for (let n = 0; n < 3; n++) {
      const idempotency_key = crypto.randomUUID();
      const args = { workflow_id, step: 'vibration', reading: 2.2, idempotency_key };
      answers.push((await tool(plant.ana, 'record_step', args)).fields);
    }
    expect(answers.map(({ duplicate }) => duplicate)).toEqual([false, true, true]);
    expect(answers[2]?.['receipt']).toEqual(answers[0]?.['receipt']);
    expect(plant.typesOf(workflow_id)).toEqual(['workflow_started', 'step_recorded']);
  });

  test('the words that list a key tell the model to keep it for a repeat', async () => {
    const { body } = await rpc(plant.ana, 'tools/list');
    const { tools } = body['result'] as {
      tools: {
        name: string;
        description: string;
        inputSchema: { properties: Record<string, { description?: string }> };
      }[];
    };
    const keyed = tools.flatMap(({ name, description, inputSchema }) => {
      const key = inputSchema.properties['idempotency_key'];
      return key === undefined ? [] : [{ name, said: `${key.description} ${description}` }];
    });
    for (const { said } of keyed) {
      expect(said).toContain('Random, new for each request.');
      expect(said).toContain('After a lost answer repeat it with its idempotency_key.');
    }
    expect(keyed.map(({ name }) => name)).toEqual([
      'start_workflow',
      'record_step',
      'resolve_block',
      'hand_over',
      'complete_workflow',
      'abandon_workflow',
      'investigate_incident',
    ]);
  });
});

describe('the life of a key', () => {
  test('a key whose life is over is new', async () => {
    const workflow_id = await plant.started();
    const args = { workflow_id, step: 'vibration', idempotency_key: 'old' };
    await tool(plant.ana, 'record_step', { ...args, reading: 2.2 });
    const conflict = await tool(plant.ana, 'record_step', { ...args, reading: 2.3, replaces: 2 });
    expect(conflict.fields['code']).toBe('IDEMPOTENCY_CONFLICT');
    expireKeysOf(workflow_id);
    const corrected = await tool(plant.ana, 'record_step', { ...args, reading: 2.3, replaces: 2 });
    expect(corrected.fields).toMatchObject({ code: 'OK', duplicate: false, receipt: { seq: 3 } });
  });
});
