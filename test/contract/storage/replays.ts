import { describe, expect, test } from '@jest/globals';
import type { Command } from '../../../lib/core/model/commands.ts';
import { NOT_ASKED, type Committed } from '../../../lib/core/outcome.ts';
import type { StorageBackend } from '../../../lib/core/ports/storage.ts';
import { makeService, principal } from '../../support/harness.ts';
import { losingFirstAnswer } from '../../support/store-hooks.ts';
import { workflowKey, type Bench, type UseBench } from './bench.ts';

const confirm = { kind: 'confirm', confirmed: true } as const;

/** What the ledger makes of a key that comes again, through the service. */
export function replayCases(use: UseBench): void {
  const open = ({ clock, store }: Bench, seed: string, other: StorageBackend = store) =>
    makeService(other, { clock, seed });
  const people = ({ tenant, otherTenant }: Bench) => ({
    ana: principal({ tenant }),
    bea: principal({
      tenant,
      subject: 'dev:bea',
      name: 'Bea',
      scopes: ['procedures:run', 'procedures:supervise'],
    }),
    foreign: principal({ tenant: otherTenant }),
  });
  const start = (key: string, asset = 'UNIT-1', procedure = 'sample'): Command => ({
    type: 'start_workflow',
    procedure,
    asset,
    key,
  });

  /** The commands of a whole procedure, each sent by whoever may. */
  const whole = async (bench: Bench, each: (run: () => Promise<Committed>) => Promise<unknown>) => {
    const { ana, bea } = people(bench);
    const { ok } = open(bench, 'whole');
    await bench.store.noteProfile({ tenant: bench.tenant, subject: 'dev:bea', name: 'Bea' });
    let key = 0;
    const send = async (who: typeof ana, command: Command) => {
      const keyed = { ...command, key: `key ${key++}` };
      const first = await ok(who, keyed);
      await each(() => ok(who, keyed));
      return first;
    };
    const { receipt } = await send(ana, {
      type: 'start_workflow',
      procedure: 'short',
      asset: 'A-1',
    });
    const { workflow } = receipt;
    const done = { step: 'done', input: confirm } as const;
    await send(ana, { type: 'record_step', workflow, ...done });
    await send(ana, { type: 'correct_step', workflow, replaces: 2, ...done });
    await send(ana, { type: 'hand_over', workflow, to: 'dev:bea', tenure: 1 });
    await send(bea, { type: 'complete_workflow', workflow });
    const other = await send(bea, { type: 'start_workflow', procedure: 'short', asset: 'A-1' });
    const { tenure } = other.workflow;
    const { workflow: second } = other.receipt;
    await send(bea, { type: 'abandon_workflow', workflow: second, tenure, reason: 'no time' });
  };

  test('every command that comes again gets its first receipt and changes nothing', async () => {
    const bench = use();
    const seen: string[] = [];
    await whole(bench, async (run) => {
      const first = await run();
      const second = await run();
      expect(first.duplicate).toBe(true);
      expect(second).toEqual(first);
      seen.push(first.receipt.command);
    });
    expect(seen).toEqual([
      'start_workflow',
      'record_step',
      'record_step',
      'hand_over',
      'complete_workflow',
      'start_workflow',
      'abandon_workflow',
    ]);
  });

  test('a replay shows the receipt of then and the state of now', async () => {
    const bench = use();
    const { ana } = people(bench);
    const { ok } = open(bench, 'a');
    const first = await ok(ana, start('k1'));
    const { workflow } = first.receipt;
    await ok(ana, { type: 'record_step', workflow, step: 'ready', input: confirm });
    const again = await ok(ana, start('k1'));
    expect(first).toMatchObject({ duplicate: false, workflow: { state: 'CREATED', version: 1 } });
    expect(again).toMatchObject({ duplicate: true, workflow: { state: 'RUNNING', version: 2 } });
    expect(again.receipt).toEqual(first.receipt);
  });

  test('a replay is recognised by another process', async () => {
    const bench = use();
    const { ana } = people(bench);
    const first = await open(bench, 'a').ok(ana, start('k1'));
    const again = await open(bench, 'b', await bench.reopen()).ok(ana, start('k1'));
    expect(again).toEqual({ ...first, duplicate: true });
  });

  test('a command whose answer was lost is answered with its receipt when it comes again', async () => {
    const bench = use();
    const { ana } = people(bench);
    const { execute } = open(bench, 'a', losingFirstAnswer(bench.store));
    expect(await execute(ana, start('k1'))).toEqual({
      code: 'BACKEND_UNAVAILABLE',
      retryable: true,
      retryAfterMs: 1_000,
    });
    expect(await execute(ana, start('k1'))).toMatchObject({
      code: 'OK',
      duplicate: true,
      receipt: { command: 'start_workflow', result: 'started', seq: 1 },
    });
  });

  test.each<readonly [string, Command, readonly string[]]>([
    ['another asset', start('k1', 'UNIT-2'), ['asset']],
    ['another procedure and asset', start('k1', 'UNIT-2', 'short'), ['asset', 'procedure']],
    ['another operation', { type: 'complete_workflow', workflow: 'w', key: 'k1' }, ['operation']],
  ])('the key with %s is a conflict that names what differs', async (_what, command, fields) => {
    const bench = use();
    const { ana } = people(bench);
    const { ok, execute } = open(bench, 'a');
    await ok(ana, start('k1'));
    expect(await execute(ana, command)).toEqual({
      code: 'IDEMPOTENCY_CONFLICT',
      operation: 'start_workflow',
      fields,
    });
  });

  test('one key of two tenants is two keys', async () => {
    const bench = use();
    const { ana, foreign } = people(bench);
    const { ok } = open(bench, 'a');
    const one = await ok(ana, start('k1'));
    const two = await ok(foreign, start('k1'));
    expect([one.duplicate, two.duplicate]).toEqual([false, false]);
    expect(one.receipt.workflow).not.toBe(two.receipt.workflow);
  });

  test('one key of two subjects is two keys', async () => {
    const bench = use();
    const { ana, bea } = people(bench);
    const { ok } = open(bench, 'a');
    const one = await ok(ana, start('k1', 'UNIT-1'));
    const two = await ok(bea, start('k1', 'UNIT-2'));
    expect([one.duplicate, two.duplicate]).toEqual([false, false]);
  });

  test('subject and key are never taken for another pair with the same text', async () => {
    const { tenant, ...bench } = use();
    const { ok } = open({ tenant, ...bench }, 'a');
    const one = principal({ tenant, subject: 'dev:a\nb' });
    const two = principal({ tenant, subject: 'dev:a' });
    expect((await ok(one, start('c', 'UNIT-1'))).duplicate).toBe(false);
    expect((await ok(two, start('b\nc', 'UNIT-2'))).duplicate).toBe(false);
  });

  test('a start without a key that comes again finds its own workflow', async () => {
    const bench = use();
    const { ana } = people(bench);
    const { ok } = open(bench, 'a');
    const command: Command = { type: 'start_workflow', procedure: 'sample', asset: 'UNIT-1' };
    const first = await ok(ana, command);
    expect(await ok(ana, command)).toEqual({ ...first, duplicate: true });
  });

  describe('a signed question which workflow is meant', () => {
    /** Two workflows of Ana, and the question that a bare step of hers is answered with. */
    const asked = async (bench: Bench, key?: string) => {
      const { ana } = people(bench);
      const { ok, execute, clock } = open(bench, 'asked');
      const one = (await ok(ana, start('1', 'UNIT-1'))).receipt.workflow;
      const two = (await ok(ana, start('2', 'UNIT-2'))).receipt.workflow;
      const bare = {
        type: 'record_step',
        step: 'ready',
        input: confirm,
        ...(key !== undefined && { key }),
      } as const;
      const question = await execute(ana, bare);
      if (question.code !== 'AMBIGUOUS' || question.state === undefined) {
        throw new Error(`not asked: ${JSON.stringify(question)}`);
      }
      const { state } = question;
      const answer = (workflow: string, other: { readonly key?: string } = {}) =>
        execute(ana, { ...bare, ...other, answer: { state, workflow } });
      const versions = async () =>
        (
          await bench.store.snapshot([
            workflowKey(bench.tenant, one),
            workflowKey(bench.tenant, two),
          ])
        ).map((item) => item?.version);
      return { one, two, answer, versions, clock };
    };

    test('has one effect: another choice is no answer to it, the same one is a repeat', async () => {
      const { one, two, answer, versions } = await asked(use());
      const first = await answer(one);
      expect(first).toMatchObject({ code: 'OK', duplicate: false, receipt: { workflow: one } });
      expect(await answer(two)).toEqual(NOT_ASKED);
      expect(await answer(one)).toEqual({ ...first, duplicate: true });
      expect(await versions()).toEqual([2, 1]);
    });

    test('has one effect where two choices arrive at once', async () => {
      const { one, two, answer, versions } = await asked(use());
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, i) => answer(i % 2 === 0 ? one : two)),
      );
      const written = outcomes.filter((outcome) => outcome.code === 'OK' && !outcome.duplicate);
      expect(written).toHaveLength(1);
      expect(new Set(await versions())).toEqual(new Set([1, 2]));
      const others = outcomes.filter(({ code }) => code !== 'OK');
      expect(others).toEqual(Array.from({ length: 5 }, () => NOT_ASKED));
    });

    test('that had its effect answers a late repeat with the receipt, and nothing else late', async () => {
      const { one, two, answer, versions, clock } = await asked(use());
      const first = await answer(one);
      clock.advance(11 * 60_000);
      expect(await answer(one)).toEqual({ ...first, duplicate: true });
      expect(await answer(two)).toEqual(NOT_ASKED);
      expect(await versions()).toEqual([2, 1]);
    });

    test('belongs to the key it was asked under', async () => {
      const { one, two, answer, versions } = await asked(use(), 'k');
      const first = await answer(one);
      expect(first).toMatchObject({ code: 'OK', duplicate: false });
      expect(await answer(two, { key: 'another' })).toEqual(NOT_ASKED);
      expect(await answer(two)).toEqual({ ...first, duplicate: true });
      expect(await versions()).toEqual([2, 1]);
    });
  });
}
