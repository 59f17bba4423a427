import { expect, test } from '@jest/globals';
import { eventBody } from '../../lib/core/events.ts';
import { Fault } from '../../lib/core/fault.ts';
import { createQueries } from '../../lib/core/queries.ts';
import { callTool, ERAS, post, send } from '../support/rpc.ts';
import { closeWorldsAfterEach, openWorld, shippedRegistry } from '../support/surface-world.ts';

closeWorldsAfterEach();

test.each(ERAS)(
  'one id is in the answer, its header, its log line and its event (%s)',
  async (era) => {
    const { app, store, logs } = await openWorld();
    const args = { procedure: 'pump-inspection', asset: 'PUMP-07' };
    const answer = await send(app, era, 'tools/call', { name: 'start_workflow', arguments: args });
    const id = answer.headers.get('x-request-id');
    const result = answer.body['result'] as {
      structuredContent: { request_id: string; workflow_id: string };
    };
    expect(result.structuredContent.request_id).toBe(id);
    expect(logs.filter(({ msg }) => msg === 'request').at(-1)?.['request_id']).toBe(id);
    const { workflow_id: workflow } = result.structuredContent;
    const [event] = await store.listEvents('plant', workflow, { after: 0, limit: 1 });
    expect(event && eventBody(event).data['request_id']).toBe(id);
  },
);

test('a refused token is logged with the id of its request', async () => {
  const { app, logs } = await openWorld();
  const answer = await post(app, '{}', { authorization: 'Bearer nobody' });
  expect(logs.find(({ msg }) => msg === 'token refused')).toMatchObject({
    request_id: answer.headers.get('x-request-id'),
    reason: 'signature',
  });
});

test('a person who cannot be noted is logged with the id of the request', async () => {
  const noteProfile = () => Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'no'));
  const { app, logs } = await openWorld((store) => ({ store: { ...store, noteProfile } }));
  const answer = await send(app, 'handshake', 'tools/list');
  expect(logs.find(({ msg }) => msg === 'a profile could not be noted')).toMatchObject({
    request_id: answer.headers.get('x-request-id'),
  });
});

test.each(['get_workflow', 'list_my_workflows', 'list_blocked'])(
  'a store that fails under %s is reported with the id of the request',
  async (tool) => {
    const told: unknown[] = [];
    const broken = (): Promise<never> =>
      Promise.reject(new Fault('retryable', 'BACKEND_UNAVAILABLE', 'no'));
    const { app } = await openWorld((store) => ({
      queries: createQueries(
        { ...store, snapshot: broken, listPointers: broken, listWorkflows: broken },
        shippedRegistry(),
        (fault, operation, requestId) => told.push([fault.code, operation, requestId]),
      ),
    }));
    const { data } = await callTool(app, tool, {}, 'sue');
    expect(data['code']).toBe('BACKEND_UNAVAILABLE');
    expect(told).toEqual([['BACKEND_UNAVAILABLE', tool, data['request_id']]]);
  },
);
