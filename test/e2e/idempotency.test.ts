import { describe, expect, test } from '@jest/globals';
import { usePlant } from '../support/plant.ts';
import { tool, type Peer } from '../support/wire.ts';

const plant = usePlant();

describe('one key', () => {
  test('of two parallel calls with different arguments one takes effect and the other conflicts', async () => {
    for (let n = 0; n < 10; n++) {
      const workflow_id = await plant.started();
      const args = { workflow_id, step: 'bearing_temperature', idempotency_key: `parallel ${n}` };
      const answers = await Promise.all(
        [50, 51].map((reading) => tool(plant.ana, 'record_step', { ...args, reading })),
      );
      const conflict = answers.find(({ isError }) => isError);
      expect(answers.map(({ fields }) => String(fields['code'])).toSorted()).toEqual([
        'IDEMPOTENCY_CONFLICT',
        'OK',
      ]);
      expect(conflict?.fields['detail']).toEqual({ operation: 'record_step', fields: ['reading'] });
      expect(plant.typesOf(workflow_id)).toEqual(['workflow_started', 'step_recorded']);
    }
  });

  test('of two parallel equal calls one takes effect and both carry its receipt', async () => {
    const workflow_id = await plant.started();
    const args = { workflow_id, step: 'vibration', reading: 2.2, idempotency_key: 'equal' };
    const answers = await Promise.all(
      [1, 2, 3, 4].map((id) => tool(plant.ana, 'record_step', args, id)),
    );
    expect(answers.filter(({ fields }) => fields['duplicate'] === false)).toHaveLength(1);
    expect(answers.filter(({ fields }) => fields['duplicate'] === true)).toHaveLength(3);
    for (const { fields } of answers) {
      expect(fields['receipt']).toEqual(answers[0]?.fields['receipt']);
    }
    expect(plant.typesOf(workflow_id)).toEqual(['workflow_started', 'step_recorded']);
  });

  test('a refused argument leaves no record, so the corrected call with the key takes effect', async () => {
    const workflow_id = await plant.started();
    const args = { workflow_id, step: 'vibration', idempotency_key: 'corrected' };
    const refused = await tool(plant.ana, 'record_step', args);
    expect(refused.isError).toBe(true);
    expect(refused.fields).toMatchObject({
      code: 'INVALID_ARGUMENT',
      retryable: false,
      faults: [{ path: '/reading' }],
    });
    const wrongUnit = await tool(plant.ana, 'record_step', { ...args, reading: 2.2, unit: 'bar' });
    expect(wrongUnit.fields).toMatchObject({
      code: 'INVALID_ARGUMENT',
      faults: [{ path: '/unit' }],
    });
    const corrected = await tool(plant.ana, 'record_step', { ...args, reading: 2.2, unit: 'mm/s' });
    expect(corrected.fields).toMatchObject({ code: 'OK', duplicate: false });
  });

  test('on another operation is a conflict that names the first one', async () => {
    const workflow_id = await plant.started();
    const args = { workflow_id, idempotency_key: 'operation' };
    await tool(plant.ana, 'record_step', { ...args, step: 'vibration', reading: 2.2 });
    const other = await tool(plant.ana, 'complete_workflow', args);
    expect(other.isError).toBe(true);
    expect(other.fields).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
      retryable: false,
      detail: { operation: 'record_step', fields: ['operation'] },
    });
  });

  test('on another workflow is a conflict', async () => {
    const [first, second] = [await plant.started(), await plant.started()];
    const args = { step: 'vibration', reading: 2.2, idempotency_key: 'resource' };
    await tool(plant.ana, 'record_step', { ...args, workflow_id: first });
    const other = await tool(plant.ana, 'record_step', { ...args, workflow_id: second });
    expect(other.fields).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
      detail: { fields: ['workflow_id'] },
    });
    expect(plant.typesOf(second)).toEqual(['workflow_started']);
  });

  test('of two tenants, and of two people, is two keys', async () => {
    const start = (peer: Peer, asset: string) =>
      tool(peer, 'start_workflow', {
        procedure: 'pump-inspection',
        asset,
        idempotency_key: '2025-001',
      });
    const answers = [
      await start(plant.ana, 'PUMP-01'),
      await start(plant.elsewhere, 'PUMP-01'),
      await start(plant.ben, 'PUMP-02'),
    ];
    for (const { fields } of answers) {
      expect(fields).toMatchObject({ code: 'OK', duplicate: false, receipt: { seq: 1 } });
    }
    expect(new Set(answers.map(({ fields }) => fields['workflow_id'])).size).toBe(3);
  });
});
