import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { EXAMPLES, SERVER } from '../support/evidence/bundled.ts';

const onTestEnd: (() => unknown)[] = [];

afterEach(async () => {
  for (const act of onTestEnd.splice(0)) await act();
});

/** Noise from whatever is loaded beside the server, once it runs and again with every turn. */
const NOISE = `data:text/javascript,${encodeURIComponent(
  `setInterval(() => {
    console.log('noise');
    console.error('noise');
    process.stdout.write('noise without a line end');
    process.emitWarning('old', 'DeprecationWarning');
  }, 20).unref();`,
)}`;

function start(...nodeArgs: string[]) {
  const child = spawn(process.execPath, [...nodeArgs, SERVER, EXAMPLES]);
  onTestEnd.push(() => child.kill('SIGKILL'));
  child.stdin.on('error', () => undefined);
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const send = (...messages: object[]): void => {
    child.stdin.write(
      messages.map((each) => `${JSON.stringify({ jsonrpc: '2.0', ...each })}\n`).join(''),
    );
  };
  const until = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(out)) await once(child.stdout, 'data');
  };
  return { child, send, until, out: () => out, err: () => err };
}

const initialize = {
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};
const status = {
  id: 2,
  method: 'tools/call',
  params: { name: 'service_status', arguments: { service: 'payments' } },
};
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

describe('the process of the bundled server', () => {
  test('writes nothing but messages on standard output, whatever is loaded beside it', async () => {
    const { child, send, until, out, err } = start('--trace-deprecation', '--import', NOISE);
    send(initialize);
    await until(/"id":1/);
    send({ method: 'notifications/initialized' }, status);
    await until(/"id":2/);
    child.stdin.end();
    await once(child, 'close');
    const lines = out().trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { jsonrpc: string }).jsonrpc)).toEqual([
      '2.0',
      '2.0',
    ]);
    expect(err()).toContain('noise');
  });

  test('serves the stateless era too', async () => {
    const { child, send, until, out } = start();
    send({ id: 1, method: 'server/discover', params: { _meta } });
    await until(/"id":1/);
    send({ ...status, params: { ...status.params, _meta } });
    await until(/"id":2/);
    child.stdin.end();
    await once(child, 'close');
    expect(out()).toContain('2026-07-28');
    expect(out()).toContain('"status":"degraded"');
  });

  test('serves a client of the older line, with schemas that it accepts', async () => {
    const client = new Client({ name: 'older', version: '1' });
    const args = [SERVER, EXAMPLES];
    await client.connect(new StdioClientTransport({ command: process.execPath, args }));
    onTestEnd.push(() => client.close());
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['service_status', true],
      ['runbook_search', true],
    ]);
    for (const { outputSchema } of tools) expect(outputSchema?.type).toBe('object');
    const found = await client.callTool({ name: 'runbook_search', arguments: { query: 'pool' } });
    expect(found.structuredContent).toMatchObject({ total: 4 });
  });

  test.each([
    ['its input ends', (child: ReturnType<typeof spawn>) => child.stdin?.end()],
    ['SIGTERM comes during a call', (child: ReturnType<typeof spawn>) => child.kill('SIGTERM')],
    ['nobody reads its answers', (child: ReturnType<typeof spawn>) => child.stdout?.destroy()],
  ])('ends with 0 when %s', async (_what, act) => {
    const { child, send, until } = start();
    const ended = once(child, 'exit');
    send(initialize);
    await until(/"id":1/);
    send(status, { ...status, id: 3 });
    act(child);
    if (child.stdin.writable) send({ ...status, id: 4 });
    expect(await ended).toEqual([0, null]);
  });

  test('wants exactly one folder', async () => {
    const child = spawn(process.execPath, [join(SERVER)]);
    expect((await once(child, 'exit'))[0]).toBe(1);
  });
});
