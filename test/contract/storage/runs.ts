import { expect, test } from '@jest/globals';
import { everyItem } from '../../../lib/core/pages.ts';
import { verifyAll, verifyRecord } from '../../../lib/core/audit.ts';
import { eventBody } from '../../../lib/core/events.ts';
import type { StoredEvent } from '../../../lib/core/model/workflow.ts';
import type { Run, RunState } from '../../../lib/core/model/run.ts';
import { exportLines } from '../../../lib/core/trail/export.ts';
import { RUN } from '../../../lib/core/runs/timing.ts';
import { ACTION, observed, runOf, runWorld } from '../../support/runs.ts';
import { create, faultOf, workflowKey, type Bench, type UseBench } from './bench.ts';

const runKey = (tenant: string, id: string) => ({ kind: 'run', tenant, id }) as const;

/** Runs, their trails, evidence, lists and due times, and commands on them. */
export function runCases(use: UseBench): void {
  const worldOf = ({ store, clock, tenant }: Bench) => runWorld(store, clock, tenant);
  const typesOf = async ({ store, tenant }: Bench, id: string) =>
    (await store.listEvents(tenant, id, { after: 0, limit: 100 })).map(
      (event) => eventBody(event).type,
    );
  const listed = async ({ store, tenant }: Bench, state: RunState) =>
    (await store.listRuns(tenant, state, { limit: 10 })).items.map(({ id }) => id);
  const dueAt = async ({ store }: Bench, id: string, until: number) => {
    for (let shard = 0; shard < (await store.shards()); shard++) {
      let after: string | undefined;
      do {
        const at = { until, limit: 100, ...(after !== undefined && { after }) };
        const page = await store.listDue(shard, at);
        const found = page.items.find(({ key }) => key.kind === 'run' && key.id === id);
        if (found !== undefined) return found.due_at;
        after = page.next;
      } while (after !== undefined);
    }
    return undefined;
  };

  test('a run is created with its event, its ledger row and the row that starts it', async () => {
    const bench = use();
    const run = await worldOf(bench).created();
    const { store, clock, tenant } = bench;
    expect(run).toMatchObject({ state: 'created', attempt: 1, version: 1, head_seq: 1 });
    expect((await store.snapshot([runKey(tenant, run.id)]))[0]).toEqual(run);
    const [event] = await store.listEvents(tenant, run.id, { after: 0, limit: 10 });
    const body = JSON.parse(event?.text ?? '') as Record<string, unknown>;
    expect(body).toMatchObject({ run: run.id, type: 'run_created', seq: 1 });
    expect(body).not.toHaveProperty('workflow');
    const [row] = await store.listOutbox(tenant, run.id, 10);
    expect(row).toMatchObject({
      lane: 'orchestrate',
      seq: 1,
      payload: { kind: 'run', run: run.id, attempt: 1 },
    });
    expect(await store.laneHead(tenant, run.id, 'orchestrate')).toEqual(row);
    expect((await store.listTenantOutbox(tenant, 10)).map(({ id }) => id)).toEqual([row?.id]);
    expect(await dueAt(bench, run.id, clock.now() + RUN.workMs)).toBe(clock.now() + RUN.workMs);
    const tenants = [];
    for await (const one of everyItem((page) => store.listTenants(page))) tenants.push(one);
    expect(tenants).toContain(tenant);
  });

  test('the whole story of a run verifies, in its record, in a scan and in an export', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const { written, steps } = worldOf(bench);
    const verifying = await written();
    const run = await steps(verifying, { do: 'verified', provider: 'builtin', reference: 'T-1' });
    expect(run).toMatchObject({
      state: 'completed',
      attempt: 2,
      result: { provider: 'builtin', reference: 'T-1' },
    });
    expect(run).not.toHaveProperty('work_by');
    expect(run).not.toHaveProperty('deadline_at');
    expect(await store.snapshot([runKey(tenant, run.id)])).toEqual([run]);
    expect(await typesOf(bench, run.id)).toEqual([
      'run_created',
      'gathering_started',
      'observation_recorded',
      'action_proposed',
      'action_approved',
      'write_intended',
      'write_made',
      'run_completed',
    ]);
    expect((await verifyRecord(store, run)).faults).toEqual([]);
    const scanned: string[] = [];
    for await (const report of verifyAll(store)) {
      if (report.tenant === tenant) scanned.push(`${report.workflow} ${report.faults.length}`);
    }
    expect(scanned).toEqual([`${run.id} 0`]);
    const lines: string[] = [];
    for await (const line of exportLines(store, { tenant }, 0)) lines.push(line);
    expect(lines).toHaveLength(run.head_seq + 2);
  });

  test('an event that names another aggregate than its own does not verify', async () => {
    const bench = use();
    const { store, commit, tenant } = bench;
    const [one, two] = [await worldOf(bench).created('one'), await worldOf(bench).created('two')];
    const [foreign] = await store.listEvents(tenant, two.id, { after: 0, limit: 1 });
    const key = { kind: 'event', tenant, workflow: one.id, seq: 1 } as const;
    const { text = '', hash = '' } = foreign ?? {};
    await commit({ op: 'update', key, expect: {}, set: { text, hash } });
    await commit({
      op: 'update',
      key: runKey(tenant, one.id),
      expect: {},
      set: { head_hash: hash },
    });
    const [run] = await store.snapshot([runKey(tenant, one.id)]);
    const { faults } = await verifyRecord(store, run ?? one);
    expect(faults).toEqual([{ seq: 1, what: 'content' }]);
  });

  test('runs are listed by state, oldest first, and leave the list with it', async () => {
    const bench = use();
    const { clock } = bench;
    const { created, steps, proposed } = worldOf(bench);
    const first = await created('one');
    clock.advance(1);
    const second = await created('two');
    expect(await listed(bench, 'created')).toEqual([first.id, second.id]);
    await steps(first, { do: 'begin' });
    clock.advance(1);
    const third = await proposed('three');
    expect(await listed(bench, 'created')).toEqual([second.id]);
    expect(await listed(bench, 'gathering')).toEqual([first.id]);
    expect(await listed(bench, 'awaiting_approval')).toEqual([third.id]);
    const page = await bench.store.listRuns(bench.tenant, 'created', { limit: 1 });
    expect(page.next).toBeUndefined();
  });

  test('BR-190: fifty events of one moment come in their order, each once, over pages of seven', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const { created, steps } = worldOf(bench);
    const [run, other] = [await created('one'), await created('two')];
    const begins = Array.from({ length: 49 }, () => ({ do: 'begin' }) as const);
    await Promise.all([steps(run, ...begins), steps(other, ...begins)]);
    const met: StoredEvent[] = [];
    for (;;) {
      const page = await store.listEvents(tenant, run.id, {
        after: met.at(-1)?.seq ?? 0,
        limit: 7,
      });
      met.push(...page);
      if (page.length < 7) break;
    }
    expect(met.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
    expect(new Set(met.map((event) => eventBody(event).at)).size).toBe(1);
    expect(new Set(met.map(({ workflow }) => workflow))).toEqual(new Set([run.id]));
  });

  test('pages of runs meet each once, and no cursor of another list is taken', async () => {
    const bench = use();
    const { store, tenant, otherTenant } = bench;
    const { created } = worldOf(bench);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await created(`incident ${i}`)).id);
    const met: string[] = [];
    let after: string | undefined;
    do {
      const at = { limit: 2, ...(after !== undefined && { after }) };
      const page = await store.listRuns(tenant, 'created', at);
      met.push(...page.items.map(({ id }) => id));
      after = page.next;
    } while (after !== undefined);
    expect(met.toSorted()).toEqual(ids.toSorted());
    const { next = '' } = await store.listRuns(tenant, 'created', { limit: 2 });
    await expect(
      store.listRuns(otherTenant, 'created', { limit: 2, after: next }),
    ).rejects.toMatchObject({ name: 'InputError' });
    await expect(store.listRuns(tenant, 'failed', { limit: 2, after: next })).rejects.toThrow();
  });

  test('observations are rows of their own, untrusted, cut at a code point with the full digest', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const { gathering, steps, observation } = worldOf(bench);
    const long = '🔧'.repeat(5_000);
    const run = await steps(await gathering(), observation, {
      do: 'observe',
      observation: observed('runbook_search', `x${long}`),
    });
    const rows = await store.listEvidence(tenant, run.id, { after: 0, limit: 10 });
    expect(rows.map(({ seq, tool, untrusted }) => [seq, tool, untrusted])).toEqual([
      [3, 'service_status', true],
      [4, 'runbook_search', true],
    ]);
    expect(rows[0]).toMatchObject({ text: 'checkout: degraded', truncated: false, bytes: 18 });
    expect(rows[1]).toMatchObject({ truncated: true, bytes: 20_001 });
    // 16,384 bytes end within a code point of four.
    expect(rows[1]?.text).toBe(`x${'🔧'.repeat(4_095)}`);
    expect(run.evidence).toEqual(rows.map(({ digest }) => digest));
    expect(await store.listEvidence(tenant, run.id, { after: 3, limit: 10 })).toEqual([rows[1]]);
    const [, , , event] = await store.listEvents(tenant, run.id, { after: 0, limit: 10 });
    const { data } = JSON.parse(event?.text ?? '{}') as { data: Record<string, unknown> };
    expect(data).toMatchObject({ untrusted: true, digest: rows[1]?.digest, truncated: true });
    expect(data).not.toHaveProperty('text');
    expect(await store.listVault(tenant, run.id, { after: 0, limit: 10 })).toEqual([]);
  });

  test('a run is not under the key of a workflow, nor a workflow under that of a run', async () => {
    const { store, commit, tenant } = use();
    const run = runOf(tenant);
    const odd = { ...run, id: 'w1' };
    expect(await faultOf(commit(create(runKey(tenant, 'w1'), odd)))).toMatchObject({
      kind: 'terminal',
      code: 'PLAN_REFUSED',
    });
    const asWorkflow = create(workflowKey(tenant, run.id), run as never);
    expect((await faultOf(commit(asWorkflow))).code).toBe('PLAN_REFUSED');
    expect(await commit(create(runKey(tenant, run.id), run))).toEqual({ ok: true });
    expect(await store.snapshot([workflowKey(tenant, run.id)])).toEqual([undefined]);
  });

  test('what a run has that is not known here is kept, and a newer format is refused', async () => {
    const bench = use();
    const { store, commit, tenant } = bench;
    const { created, steps } = worldOf(bench);
    const run = await created();
    const key = runKey(tenant, run.id);
    await commit({ op: 'update', key, expect: {}, set: { later: { a: [1] } } });
    await steps(run, { do: 'begin' });
    const [kept] = (await store.snapshot([key])) as [(Run & { later?: unknown }) | undefined];
    expect([kept?.state, kept?.later]).toEqual(['gathering', { a: [1] }]);
    await commit({ op: 'update', key, expect: {}, set: { format: 2 } });
    const fault = await faultOf(store.snapshot([key]));
    expect([fault.kind, fault.code]).toEqual(['retryable', 'FORMAT_TOO_NEW']);
  });

  test('bookkeeping changes the due time of a run and nothing else', async () => {
    const bench = use();
    const { store, clock, tenant } = bench;
    const run = await worldOf(bench).created();
    const key = runKey(tenant, run.id);
    const deadline = clock.now() + 1_000;
    const later = clock.now() + 60_000;
    const write = { op: 'update', key, expect: { version: 1 }, set: { due_at: later } } as const;
    expect(await store.keep(write, deadline)).toEqual({ ok: true });
    expect(await dueAt(bench, run.id, later)).toBe(later);
    const gone = {
      op: 'update',
      key,
      expect: { version: 1 },
      set: {},
      remove: ['due_at'],
    } as const;
    expect(await store.keep(gone, deadline)).toEqual({ ok: true });
    expect(await dueAt(bench, run.id, later + 1e9)).toBeUndefined();
    const state = { ...write, set: { state: 'failed' } };
    expect((await faultOf(store.keep(state, deadline))).code).toBe('PLAN_REFUSED');
  });

  test('runs of one tenant are not those of another', async () => {
    const bench = use();
    const { store, clock, otherTenant } = bench;
    const run = await worldOf(bench).proposed();
    const other = runWorld(store, clock, otherTenant);
    expect(await store.snapshot([runKey(otherTenant, run.id)])).toEqual([undefined]);
    expect(await store.listEvidence(otherTenant, run.id, { after: 0, limit: 10 })).toEqual([]);
    expect(await store.listRuns(otherTenant, 'awaiting_approval', { limit: 10 })).toEqual({
      items: [],
    });
    const outcome = await other.execute(other.cara, other.decide(run, true));
    expect(outcome).toEqual({ code: 'NOT_FOUND', what: 'run', name: run.id });
  });

  test('the same incident attaches for ten minutes, and then is a new run', async () => {
    const bench = use();
    const { ana, cara, ok } = worldOf(bench);
    const command = { type: 'create_run', service: 'checkout', symptom: 'slow' } as const;
    const first = await ok(ana, command);
    const again = await ok(ana, command);
    expect([first.duplicate, again.duplicate]).toEqual([false, true]);
    expect(again.receipt).toEqual(first.receipt);
    expect(again.run.id).toBe(first.run.id);
    expect((await ok(ana, { ...command, symptom: 'slower' })).duplicate).toBe(false);
    expect((await ok(cara, command)).run.id).not.toBe(first.run.id);
    bench.clock.advance(RUN.attachMs - 1_000);
    expect((await ok(ana, command)).duplicate).toBe(true);
    bench.clock.advance(1_000);
    const later = await ok(ana, command);
    expect(later.duplicate).toBe(false);
    expect(later.run.id).not.toBe(first.run.id);
  });

  test('twenty identical creations at once make one run', async () => {
    const bench = use();
    const { ana, ok } = worldOf(bench);
    const command = { type: 'create_run', service: 'checkout', symptom: 'slow' } as const;
    const all = await Promise.all(Array.from({ length: 20 }, () => ok(ana, command)));
    expect(new Set(all.map(({ run }) => run.id)).size).toBe(1);
    expect(all.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
  });

  test('a key keeps its answer, and another payload under it is a conflict', async () => {
    const bench = use();
    const { ana, cara, proposed, ok, execute, decide } = worldOf(bench);
    const command = { type: 'create_run', service: 'a', symptom: 'b', key: 'k1' } as const;
    const first = await ok(ana, command);
    expect((await ok(ana, command)).receipt).toEqual(first.receipt);
    expect(await execute(ana, { ...command, symptom: 'c' })).toEqual({
      code: 'IDEMPOTENCY_CONFLICT',
      operation: 'create_run',
      fields: ['symptom'],
    });
    const run = await proposed();
    const approved = await ok(cara, decide(run, true, 'k2'));
    const replay = await ok(cara, decide(run, true, 'k2'));
    expect([replay.duplicate, replay.receipt]).toEqual([true, approved.receipt]);
    expect(await execute(cara, decide(run, false, 'k2'))).toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
      fields: ['approved'],
    });
  });

  test('an approval is spent by its transaction: state, attempt and the row that starts the work', async () => {
    const bench = use();
    const { store, tenant } = bench;
    const { approved } = worldOf(bench);
    const run = await approved();
    expect(run).toMatchObject({
      state: 'executing',
      attempt: 2,
      approval: {
        decision: 'approved',
        subject: 'dev:cara',
        name: 'Cara',
        via: 'rest',
        spent: true,
        action_hash: run.proposal?.action_hash,
        expires_at: run.proposal?.action.expires_at,
        not_after: run.proposal?.action.not_after,
      },
    });
    const rows = await store.listOutbox(tenant, run.id, 10);
    const lane = rows.filter((row) => row.lane === 'orchestrate');
    expect(lane.map(({ seq, payload }) => [seq, payload['attempt']])).toEqual([
      [1, 1],
      [5, 2],
    ]);
  });

  test('of an approval and a denial at once one wins, and the other learns who decided', async () => {
    const bench = use();
    const { cara, dan, proposed, execute, decide, read } = worldOf(bench);
    for (let n = 0; n < 10; n++) {
      const run = await proposed(`incident ${n}`);
      const outcomes = await Promise.all([
        execute(n % 2 === 0 ? cara : dan, decide(run, true)),
        execute(n % 2 === 0 ? dan : cara, decide(run, false)),
      ]);
      const winner = outcomes.find(({ code }) => code === 'OK');
      const loser = outcomes.find(({ code }) => code !== 'OK');
      const { approval, state } = await read(run.id);
      expect(winner).toMatchObject({ duplicate: false, receipt: { result: approval?.decision } });
      expect(loser).toMatchObject({
        code: 'ALREADY_DECIDED',
        by: approval?.subject,
        name: approval?.name,
        decision: approval?.decision,
        at: approval?.at,
        action_hash: approval?.action_hash,
      });
      expect(state).toBe(approval?.decision === 'approved' ? 'executing' : 'cancelled');
    }
  });

  test('a proposal that was changed in the store is not approved, whatever is changed', async () => {
    const bench = use();
    const { commit, tenant } = bench;
    const { cara, proposed, execute, decide, read } = worldOf(bench);
    const run = await proposed();
    const action = { ...run.proposal?.action, target: 'elsewhere' };
    const proposal = JSON.parse(JSON.stringify({ ...run.proposal, action })) as Record<
      string,
      never
    >;
    await commit({ op: 'update', key: runKey(tenant, run.id), expect: {}, set: { proposal } });
    const outcome = await execute(cara, decide(run, true));
    expect(outcome).toMatchObject({ code: 'STALE_PROPOSAL', given: run.proposal?.action_hash });
    expect((await read(run.id)).state).toBe('awaiting_approval');
  });

  test('a step of an older attempt, or of a run that has moved on, writes nothing', async () => {
    const bench = use();
    const { approved, step, read } = worldOf(bench);
    const run = await approved();
    const intend = { do: 'intend', provider: 'builtin' } as const;
    expect(await step(run, intend, 1)).toMatchObject({ code: 'STALE_ATTEMPT', given: 1 });
    expect(await step(run, { do: 'begin' })).toMatchObject({ code: 'WRONG_STATE' });
    expect(await step(run, { do: 'propose', action: ACTION })).toMatchObject({
      code: 'WRONG_STATE',
      state: 'executing',
    });
    expect(await read(run.id)).toEqual(run);
  });

  test('a run that failed before an approval gathers anew; one that failed after it executes again', async () => {
    const bench = use();
    const { ana, cara, created, approved, steps, ok, observation } = worldOf(bench);
    const fail = { do: 'fail', reason: 'EVIDENCE_FAILED', message: 'no server answers' } as const;
    const first = await steps(await created(), { do: 'begin' }, observation, fail);
    expect(first).toMatchObject({
      state: 'failed',
      end: { code: 'EVIDENCE_FAILED', from: 'gathering' },
    });
    const again = await ok(ana, { type: 'resume_run', run: first.id });
    expect(again.run).toMatchObject({ state: 'gathering', attempt: 2, evidence: [] });
    expect(again.run).not.toHaveProperty('end');
    const repeat = await ok(ana, { type: 'resume_run', run: first.id });
    expect([repeat.duplicate, repeat.receipt]).toEqual([true, again.receipt]);
    const second = await steps(await approved('other'), fail);
    expect(second).toMatchObject({ state: 'failed', end: { from: 'executing' } });
    const resumed = await ok(cara, { type: 'resume_run', run: second.id });
    expect(resumed.run).toMatchObject({ state: 'executing', attempt: 3 });
    expect(resumed.run.proposal).toEqual(second.proposal);
  });
}
