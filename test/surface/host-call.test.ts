import { expect, test } from '@jest/globals';
import { systemClock } from '../../lib/adapters/runtime/system.ts';
import type { Service } from '../../lib/core/service/service.ts';
import type { ToolCallSeen } from '../../lib/surface/mcp/tool.ts';
import { closeWorldsAfterEach, openWorld, PUBLIC_URL } from '../support/surface-world.ts';

closeWorldsAfterEach();

const NOW = 1_000_000;
const clock = { ...systemClock, now: () => NOW };

/** An app at a fixed time, with what it hands to the service, to the store and to metrics. */
async function timed() {
  const deadlines: number[] = [];
  const noted: string[] = [];
  const seen: ToolCallSeen[] = [];
  const service: Service = {
    execute: (_principal, _command, deadlineMs) => {
      deadlines.push(deadlineMs);
      return Promise.resolve({
        code: 'BACKEND_UNAVAILABLE',
        retryable: true,
        retryAfterMs: 1_000,
      });
    },
  };
  const { app } = await openWorld((store) => ({
    clock,
    service,
    store: {
      check: () => store.check(),
      noteProfile: (profile) => {
        noted.push(profile.name);
        return Promise.resolve();
      },
    },
    onToolCall: (call) => seen.push(call),
  }));
  const start = (host?: { readonly deadlineMs?: number }) => {
    const params = {
      name: 'start_workflow',
      arguments: { procedure: 'pump-inspection', asset: 'PUMP-01' },
    };
    const request = new Request(PUBLIC_URL, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ana' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    return app.fetch(request, host);
  };
  return { start, deadlines, noted, seen };
}

test.each([
  ['without a host', undefined, NOW + 2_000],
  ['a host that waits longer than a command has', { deadlineMs: NOW + 2_001 }, NOW + 2_000],
  ['a host that waits less', { deadlineMs: NOW + 1_999 }, NOW + 1_999],
])('%s, a command ends in time', async (_what, host, deadline) => {
  const { start, deadlines } = await timed();
  expect((await start(host)).status).toBe(200);
  expect(deadlines).toEqual([deadline]);
});

test('a request that its host has given up writes nothing at all, not even who was here', async () => {
  const { start, deadlines, noted } = await timed();
  const response = await start({ deadlineMs: NOW });
  expect([response.status, await response.json()]).toEqual([
    504,
    expect.objectContaining({ error: expect.objectContaining({ code: -32_000 }) }),
  ]);
  expect([deadlines, noted]).toEqual([[], []]);
  await start({ deadlineMs: NOW + 1 });
  expect([deadlines, noted]).toEqual([[NOW + 1], ['Ana']]);
});

test('a call is told to metrics once, and the warm-up is not', async () => {
  const { start, seen } = await timed();
  await start();
  expect(seen).toEqual([
    { tool: 'start_workflow', code: 'BACKEND_UNAVAILABLE', duplicate: false, ms: 0 },
  ]);
});
