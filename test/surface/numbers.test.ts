import { describe, expect, test } from '@jest/globals';
import { eventBody } from '../../lib/core/events.ts';
import { post } from '../support/rpc.ts';
import { closeWorldsAfterEach, openWorld, type World } from '../support/surface-world.ts';

closeWorldsAfterEach();

describe('a reading as its digits stand on the wire (BR-041)', () => {
  const say = ({ app }: World, tool: string, args: string) =>
    post(
      app,
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${args}}}`,
    );
  const dataOf = ({ body }: Awaited<ReturnType<typeof say>>): Record<string, unknown> => {
    const { structuredContent } = body['result'] as { structuredContent: Record<string, unknown> };
    return structuredContent;
  };
  const readings = async (digits: string) => {
    const world = await openWorld();
    const begun = dataOf(
      await say(world, 'start_workflow', '{"procedure":"pump-inspection","asset":"PUMP-07"}'),
    );
    const id = String(begun['workflow_id']);
    const guards = `{"workflow_id":"${id}","step":"guards_check","confirmed":true}`;
    expect(dataOf(await say(world, 'record_step', guards))).toMatchObject({ code: 'OK' });
    const reading = `{"workflow_id":"${id}","step":"suction_pressure","reading":${digits}}`;
    const answer = await say(world, 'record_step', reading);
    const events = await world.store.listEvents('plant', id, { after: 2, limit: 10 });
    return { answer, recorded: events.map(eventBody) };
  };

  test.each(['0.1234567890123456789', '1e-131', '2.125'])(
    '%s has more decimals than the step keeps: refused by name, and nothing is recorded',
    async (digits) => {
      const { answer, recorded } = await readings(digits);
      expect(dataOf(answer)).toMatchObject({
        code: 'INVALID_ARGUMENT',
        faults: [{ path: '/reading' }],
      });
      expect(recorded).toEqual([]);
    },
  );

  test.each(['9007199254740993', '1e126', '1e400', '1e-400'])(
    '%s is no number that can be kept: refused with its place, and nothing is recorded',
    async (digits) => {
      const { answer, recorded } = await readings(digits);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        error: {
          data: { code: 'NUMBER_OUT_OF_RANGE', path: '/params/arguments/reading' },
        },
      });
      expect(recorded).toEqual([]);
    },
  );

  test.each([
    ['2.10', 2.1],
    ['21e-1', 2.1],
    ['2', 2],
  ])('%s is kept as its canonical text says', async (digits, value) => {
    const { answer, recorded } = await readings(digits);
    expect(dataOf(answer)).toMatchObject({ code: 'OK', receipt: { value } });
    expect(recorded).toMatchObject([{ type: 'step_recorded', data: { value } }]);
  });
});
