// One display function on every surface: what others wrote is shown alike over REST, over MCP and on a
// terminal, and stays exact beside it.
import { describe, expect, test } from '@jest/globals';
import { toolLines } from '../../lib/cli/evidence/tools.ts';
import { runLines } from '../../lib/cli/run/lines.ts';
import { displayLines } from '../../lib/core/display.ts';
import { reportTools } from '../../lib/core/evidence/report.ts';
import { EvidenceError } from '../../lib/core/ports/evidence.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { callRest } from '../support/rest-call.ts';
import { INCIDENT, observes, workerOn } from '../support/rest-runs.ts';
import { callTool } from '../support/rpc.ts';
import { ACTION } from '../support/runs.ts';
import { closeWorldsAfterEach, openWorld, restOn } from '../support/surface-world.ts';

closeWorldsAfterEach();

interface Told {
  readonly run_id: string;
  readonly proposed_action: { readonly arguments: { readonly summary: string } };
  readonly proposed_action_display: readonly { readonly path: string; readonly text: string }[];
  readonly observations: readonly { readonly display: { readonly text: string } }[];
}

/** What a terminal shows, put together again from its lines. */
const onTerminal = (lines: readonly string[]): string => {
  const shown = lines.join('\n');
  expect(displayLines(shown)).toBe(shown);
  expect(Math.max(...shown.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  return shown.replaceAll(/\s/gu, '');
};
const squeezed = (text: string): string => text.replaceAll(/\s/gu, '');

describe.each(HOSTILE_TEXTS)('%s', (_what, text, shown) => {
  test('of an action and of evidence are shown alike by REST, MCP and the command line', async () => {
    const world = await openWorld();
    const { body } = await callRest(world, '/runs', {
      token: 'ira',
      body: INCIDENT,
      headers: { prefer: 'wait=0' },
    });
    const action = { ...ACTION, arguments: { summary: text } };
    const id = String(body['run_id']);
    const { steps } = workerOn(world.store);
    await steps(id, { do: 'begin' }, observes(text), { do: 'propose', action });
    const rest = await callRest(world, `/runs/${id}`, { token: 'dora' });
    const mcp = await callTool(world.app, 'get_run', { run_id: id }, 'dora');
    for (const run of [rest.body, mcp.data['run']] as unknown as readonly Told[]) {
      const summary = run.proposed_action_display.find(({ path }) => path === '/arguments/summary');
      expect([summary?.text, run.observations[0]?.display.text]).toEqual([shown, shown]);
      expect(run.proposed_action.arguments.summary).toBe(text);
    }
    const pending = await callRest(world, '/approvals', { token: 'dora' });
    const [first] = pending.body['items'] as unknown as readonly Told[];
    expect(first?.proposed_action_display).toContainEqual(
      expect.objectContaining({ path: '/arguments/summary', text: shown }),
    );
    const terminal = onTerminal(runLines(rest.body));
    expect(terminal.split(squeezed(shown)).length - 1).toBe(2);
  });

  test('of a server that fails are shown alike by REST and the command line', async () => {
    const words = `${text.slice(0, 400)}.`;
    const source = {
      servers: ['down'],
      list: () =>
        Promise.reject(
          new EvidenceError('SERVER_UNREACHABLE', 'down', 'no connection', { lastWords: words }),
        ),
    };
    const ask = (deadlineMs: number) => reportTools(source, [], deadlineMs);
    const world = await openWorld((store) => ({
      rest: { ...restOn(store).rest, evidenceTools: ask },
    }));
    const { body } = await callRest(world, '/tools', { token: 'ira' });
    const [problem] = body['problems'] as unknown as readonly { last_words: { text: string } }[];
    const whole = `${shown.startsWith('xxx') ? 'x'.repeat(400) : shown}.`;
    expect(problem?.last_words.text).toBe(whole);
    expect(onTerminal(toolLines(await ask(Date.now() + 1_000)))).toContain(squeezed(whole));
  });
});

test('half of a pair is refused at the edge, and what a tool says is made whole before it is kept', async () => {
  const world = await openWorld();
  const body = { ...INCIDENT, symptom: 'a\uD800b' };
  const refused = await callRest(world, '/runs', { token: 'ira', body });
  expect([refused.status, refused.body['errors']]).toMatchObject([400, [{ pointer: '/symptom' }]]);
  const made = await callRest(world, '/runs', {
    token: 'ira',
    body: INCIDENT,
    headers: { prefer: 'wait=0' },
  });
  const id = String(made.body['run_id']);
  await workerOn(world.store).steps(id, { do: 'begin' }, observes('a\uD800b'));
  const { body: run } = await callRest(world, `/runs/${id}`, { token: 'dora' });
  expect((run as unknown as Told).observations[0]?.display.text).toBe('a\uFFFDb');
});
