// What a block proposes, who decides on it under which digest, and what takes it back (I7).
import { beforeEach, describe, expect, it } from '@jest/globals';
import { deadlinesPassed } from '../../../lib/core/decide/deadlines-passed.ts';
import { assetConflict, forcedRelease } from '../../../lib/core/decide/lost-lock.ts';
import { proposalOver } from '../../../lib/core/decide/proposal-over.ts';
import type {
  CorrectStep,
  DecideProposal,
  RecordStep,
  ResolveBlock,
  StepInput,
} from '../../../lib/core/model/commands.ts';
import type { Principal } from '../../../lib/core/model/principal.ts';
import type { Action } from '../../../lib/core/model/run.ts';
import type { Block } from '../../../lib/core/model/workflow.ts';
import { applyChange } from '../../../lib/core/plan.ts';
import { nextLook } from '../../../lib/core/reconcile/due-time.ts';
import { reconciler } from '../../../lib/core/reconcile/reconciler.ts';
import { actionHash, BOUND_FIELDS } from '../../../lib/core/runs/action.ts';
import { guardedDomain, guardedProcedure } from '../../support/guarded-procedure.ts';
import { parsedProcedure } from '../../support/parsed-procedure.ts';
import { person, PureWorld, refusalOf, START_MS } from '../../support/pure-world.ts';

const HOUR = 3_600_000;
const EXPIRES = START_MS + HOUR;
const ana = person('Ana');
const ben = person('Ben');
const sam = person('Sam', ['procedures:supervise']);
const dora = { ...person('Dora', ['approvals:decide']), via: 'rest' } as const;
const eli = { ...person('Eli', ['approvals:decide']), via: 'rest' } as const;
const procedure = parsedProcedure(guardedProcedure);

let world: PureWorld;

/** Records a step and says yes to whatever is asked. */
function record(who: Principal, step: string, input: StepInput) {
  let command: RecordStep | CorrectStep = { type: 'record_step', step, input };
  for (;;) {
    const asked = world.run(who, command);
    if (asked.kind !== 'refuse' || asked.outcome.code !== 'NEEDS_CONFIRMATION') return asked;
    const { confirmation, confirms, replaces } = asked.outcome;
    const more = { ...(confirmation && { confirmation }), ...(confirms && { confirms }) };
    command =
      replaces === undefined
        ? { ...command, ...more }
        : { type: 'correct_step', step, input, replaces, ...more };
  }
}

const start = (): void => {
  world = new PureWorld(guardedDomain);
  world.run(ana, { type: 'start_workflow', procedure: 'guarded', asset: 'VESSEL-1' });
};
/** Work that a pressure of 42 bar blocks. */
const blocked = (): void => {
  start();
  record(ana, 'pressure', { kind: 'reading', value: 42 });
};
const block = (): Block => {
  const { block: stands } = world.state;
  if (stands === undefined) throw new Error('nothing is blocked');
  return stands;
};
const hash = (): string => block().proposal?.action_hash ?? '';
const decision = (approved: boolean, action_hash = hash()): DecideProposal => ({
  type: 'decide_approval',
  workflow: world.state.id,
  approved,
  action_hash,
});
const resolution = (what: ResolveBlock['decision']): ResolveBlock => ({
  type: 'resolve_block',
  workflow: world.state.id,
  block: block().seq,
  decision: what,
  reason: 'looked at it',
});
const context = () => ({ principal: reconciler('acme'), now: world.nowMs, sinks: ['log'] });
const last = () => world.events.at(-1);

describe('a block whose procedure says so', () => {
  it('proposes to go on, as one action under the digest of all of it', () => {
    blocked();
    const action: Action = {
      type: 'procedure.continue',
      target: 'VESSEL-1',
      arguments: {
        workflow: 'w001',
        block: 2,
        step: 'pressure',
        value: 42,
        unit: 'bar',
        rules: ['bounds'],
      },
      evidence: [],
      policy_version: 'guarded@2',
      idempotency_key: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown as string,
      requester: 'dev:ana',
      expires_at: '2026-01-02T04:04:05.678Z',
      not_after: '2026-01-02T04:04:05.678Z',
    };
    const { proposal } = block();
    expect(proposal).toEqual({
      action,
      action_hash: actionHash(proposal?.action ?? action),
      seq: 2,
      at: '2026-01-02T03:04:05.678Z',
    });
    expect(last()).toMatchObject({
      type: 'step_recorded',
      data: { result: 'blocked', proposal: { action, action_hash: hash() } },
    });
    expect(world.outbox.at(-1)?.payload).toMatchObject({
      kind: 'block',
      audiences: ['supervisor', 'approver'],
      action_hash: hash(),
      expires_at: '2026-01-02T04:04:05.678Z',
    });
  });

  it('says what was said in another unit, and binds it', () => {
    start();
    record(ana, 'pressure', { kind: 'reading', value: 600, unit: 'psi' });
    expect(block().proposal?.action.arguments).toMatchObject({
      value: 41.4,
      unit: 'bar',
      original: { value: 600, unit: 'psi' },
    });
  });

  it('binds a text by its digest, and a sensitive one by its commitment alone', () => {
    start();
    record(ana, 'remark', { kind: 'text', text: 'it hums' });
    const remark = block().proposal?.action.arguments;
    expect(remark).toMatchObject({ step: 'remark', rules: ['no_texts'] });
    expect(remark?.['digest']).toBe(world.state.steps['remark']?.digest);
    expect(JSON.stringify(block().proposal)).not.toContain('hums');

    start();
    record(ana, 'code', { kind: 'text', text: 'open sesame' });
    const { commitment } = last()?.data ?? {};
    expect(block().proposal?.action.arguments).toMatchObject({ step: 'code', commitment });
    expect(JSON.stringify(world.state)).not.toContain('sesame');
    expect(JSON.stringify(world.outbox)).not.toContain('sesame');
  });

  it('has another key, and another digest, for every block', () => {
    blocked();
    const { proposal: first } = block();
    world.run(sam, resolution('retake'));
    record(ana, 'pressure', { kind: 'reading', value: 42 });
    const { proposal: second } = block();
    expect(second?.action.idempotency_key).not.toBe(first?.action.idempotency_key);
    expect(second?.action_hash).not.toBe(first?.action_hash);
  });

  it('blocks without a proposal where the state has no room for one', () => {
    start();
    const filler = 'x'.repeat(21_000);
    world.workflow = { ...world.state, previous: { at: '', values: { filler } } };
    record(ana, 'pressure', { kind: 'reading', value: 42 });
    expect(block().proposal).toBeDefined();

    start();
    world.workflow = {
      ...world.state,
      asset: `VESSEL-1`,
      holder: { subject: 'dev:ana', name: filler },
    };
    expect(record(ana, 'pressure', { kind: 'reading', value: 42 }).kind).toBe('commit');
    expect(world.state.state).toBe('BLOCKED');
    expect(block()).not.toHaveProperty('proposal');
  });

  it('blocks without a proposal where the trail has no room for its decision', () => {
    for (const [seq, proposes] of [
      [9_999, true],
      [10_000, false],
    ] as const) {
      start();
      world.workflow = { ...world.state, head_seq: seq - 1 };
      expect(record(ana, 'pressure', { kind: 'reading', value: 42 }).kind).toBe('commit');
      expect([block().seq, block().proposal !== undefined]).toEqual([seq, proposes]);
      if (proposes) expect(world.run(dora, decision(true)).kind).toBe('commit');
    }
  });

  it('proposes after a deadline that blocks, on behalf of the holder', () => {
    start();
    world.nowMs += 91 * 60_000;
    const tick = deadlinesPassed({ workflow: world.state, procedure }, context());
    if (tick === undefined) throw new Error('a deadline has passed');
    world.apply(tick.plan);
    expect(block()).toMatchObject({
      reason: 'overdue',
      step: 'pressure',
      proposal: {
        action: {
          requester: 'dev:ana',
          arguments: { block: 2, step: 'pressure', due: '2026-01-02T04:34:05.678Z' },
        },
      },
    });
    expect(world.run(dora, decision(true)).kind).toBe('commit');
    expect(world.state.state).toBe('RUNNING');
  });

  it('proposes nothing where the procedure does not ask for it', () => {
    const { approval, ...bare } = guardedProcedure;
    for (const other of [bare, { ...bare, approval: { ...approval!, on: ['overdue' as const] } }]) {
      world = new PureWorld({ ...guardedDomain, procedures: [other] });
      world.run(ana, { type: 'start_workflow', procedure: 'guarded', asset: 'VESSEL-1' });
      record(ana, 'pressure', { kind: 'reading', value: 42 });
      expect(world.state.state).toBe('BLOCKED');
      expect(block()).not.toHaveProperty('proposal');
      expect(last()?.data).not.toHaveProperty('proposal');
    }
  });
});

describe('a decision on it', () => {
  beforeEach(blocked);

  it('that approves lets the work go on, as an event with who, how and the digest', () => {
    const action_hash = hash();
    expect(world.run(dora, decision(true))).toMatchObject({
      kind: 'commit',
      receipt: { command: 'decide_approval', result: 'approved', action_hash, seq: 3 },
    });
    expect(world.state).toMatchObject({ state: 'RUNNING', head_seq: 3 });
    expect(world.state).not.toHaveProperty('block');
    expect(world.state.steps['pressure']).toMatchObject({ status: 'done', value: 42 });
    expect(last()).toMatchObject({
      type: 'action_approved',
      actor: { subject: 'dev:dora', name: 'Dora', via: 'rest', kind: 'person' },
      data: { block: 2, action_hash, result: 'approved', expires_at: '2026-01-02T04:04:05.678Z' },
    });
    expect(world.plan?.outbox.map(({ payload }) => payload)).toMatchObject([
      { kind: 'approval_decided', audiences: ['approver'], decision: 'approved', action_hash },
    ]);
    expect(world.plan?.locks).toEqual([]);
  });

  it('that denies keeps the block and who denied, for a resolution alone', () => {
    const action_hash = hash();
    const asked = decision(false);
    world.run(dora, asked);
    expect(world.state.state).toBe('BLOCKED');
    expect(block()).toMatchObject({
      seq: 2,
      reason: 'deviation',
      denied: { decision: 'denied', subject: 'dev:dora', via: 'rest', action_hash, spent: false },
    });
    expect(block()).not.toHaveProperty('proposal');
    expect(last()).toMatchObject({ type: 'action_denied', data: { block: 2, action_hash } });
    expect(refusalOf(world.decide(eli, { ...asked, approved: true }))).toMatchObject({
      code: 'ALREADY_DECIDED',
      decision: 'denied',
      by: 'dev:dora',
    });
    expect(world.run(sam, resolution('continue')).kind).toBe('commit');
    expect(world.state.state).toBe('RUNNING');
    expect(last()?.data).not.toHaveProperty('withdrawn');
  });

  it.each([true, false])('that was made before (approved: %s) is told, or is a repeat', (first) => {
    const asked = decision(first);
    world.run(dora, asked);
    world.nowMs += 2 * HOUR;
    expect(world.decide(dora, asked)).toEqual({ kind: 'duplicate', seq: 3 });
    const told = {
      code: 'ALREADY_DECIDED',
      decision: first ? 'approved' : 'denied',
      by: 'dev:dora',
      name: 'Dora',
      at: '2026-01-02T03:04:05.678Z',
      action_hash: asked.action_hash,
    };
    expect(refusalOf(world.decide(dora, { ...asked, approved: !first }))).toMatchObject(told);
    for (const approved of [true, false]) {
      expect(refusalOf(world.decide(eli, { ...asked, approved }))).toMatchObject(told);
    }
  });

  it('is still known after later work, and never applied to a later block', () => {
    const asked = decision(true);
    world.run(dora, asked);
    record(ana, 'ready', { kind: 'confirm', confirmed: false });
    expect(world.state.state).toBe('BLOCKED');
    expect(world.decide(dora, asked)).toEqual({ kind: 'duplicate', seq: 3 });
    expect(refusalOf(world.decide(eli, asked))).toMatchObject({ code: 'ALREADY_DECIDED' });
    expect(block().proposal).toBeDefined();
  });

  it.each([
    ['the first eight digits', (full: string) => full.slice(0, 8)],
    ['upper case', (full: string) => full.toUpperCase().replace(/^[0-9]/, 'A')],
    ['a digit more', (full: string) => `${full}0`],
    ['nothing', () => ''],
  ])('under %s of its digest is not even compared', (_what, given) => {
    expect(refusalOf(world.decide(dora, decision(true, given(hash()))))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      faults: [{ path: '/action_hash' }],
    });
  });

  it.each([0, 31, 63])('under a digest that differs in digit %i is stale', (n) => {
    const full = hash();
    const given = full.slice(0, n) + (full[n] === '0' ? '1' : '0') + full.slice(n + 1);
    expect(refusalOf(world.decide(dora, decision(true, given)))).toMatchObject({
      code: 'STALE_PROPOSAL',
      given,
      current: full,
    });
  });

  it('where nothing is blocked is stale', () => {
    const given = hash();
    start();
    const refusal = refusalOf(world.decide(dora, decision(true, given)));
    expect(refusal).toMatchObject({ code: 'STALE_PROPOSAL', given });
    expect(refusal).not.toHaveProperty('current');
  });

  it('counts in the last moment, and not in the one after it', () => {
    world.nowMs = EXPIRES;
    expect(world.decide(dora, decision(true)).kind).toBe('commit');
    world.nowMs = EXPIRES + 1;
    for (const approved of [true, false]) {
      expect(refusalOf(world.decide(dora, decision(approved)))).toMatchObject({
        code: 'APPROVAL_EXPIRED',
        expires_at: '2026-01-02T04:04:05.678Z',
      });
    }
  });

  const changed: { readonly [F in keyof Required<Action>]: Partial<Action> } = {
    type: { type: 'procedure.abandon' },
    target: { target: 'VESSEL-2' },
    arguments: { arguments: { workflow: 'w001', block: 2, step: 'pressure', value: 4 } },
    evidence: { evidence: ['a'.repeat(64)] },
    policy_version: { policy_version: 'guarded@1' },
    idempotency_key: { idempotency_key: 'k' },
    requester: { requester: 'dev:nobody' },
    expires_at: { expires_at: '2027-01-02T04:04:05.678Z' },
    not_after: { not_after: '2027-01-02T04:04:05.678Z' },
  };
  it.each(BOUND_FIELDS)('on a stored action whose %s was changed is refused', (field) => {
    const { proposal } = block();
    if (proposal === undefined) throw new Error('nothing is proposed');
    const action = { ...proposal.action, ...changed[field] };
    const asked = decision(true);
    world.workflow = { ...world.state, block: { ...block(), proposal: { ...proposal, action } } };
    expect(refusalOf(world.decide(dora, asked))).toMatchObject({ code: 'STALE_PROPOSAL' });
  });

  it.each([
    ['another block', { block: 1 }],
    ['other work', { workflow: 'w009' }],
  ])('on a whole proposal of %s is refused, under its own digest', (_what, other) => {
    const { proposal } = block();
    if (proposal === undefined) throw new Error('nothing is proposed');
    const args = { ...proposal.action.arguments, ...other };
    const action = { ...proposal.action, arguments: args };
    const action_hash = actionHash(action);
    const moved = { ...block(), proposal: { ...proposal, action, action_hash } };
    world.workflow = { ...world.state, block: moved };
    const given = decision(true, action_hash);
    expect(refusalOf(world.decide(dora, given))).toMatchObject({ code: 'STALE_PROPOSAL' });
  });

  it('is given by nobody who asked for it, whatever their channel and name', () => {
    for (const who of [ana, { ...ana, name: 'Somebody' }, { ...ana, via: 'cli' as const }]) {
      for (const approved of [true, false]) {
        expect(refusalOf(world.decide(who, decision(approved)))).toMatchObject({
          code: 'FORBIDDEN',
          why: 'involved',
        });
      }
    }
  });
});

describe('nobody decides who worked on it', () => {
  beforeEach(start);
  const isRefused = (who: Principal): void => {
    expect(refusalOf(world.decide(who, decision(true)))).toMatchObject({ why: 'involved' });
    expect(world.decide(dora, decision(true)).kind).toBe('commit');
  };
  const handOver = (from: Principal, to: Principal) =>
    world.run(
      from,
      { type: 'hand_over', to: to.subject, tenure: world.state.tenure },
      { tenant: 'acme', subject: to.subject, name: to.name },
    );

  it('as holder before', () => {
    handOver(ana, ben);
    record(ben, 'pressure', { kind: 'reading', value: 42 });
    isRefused(ana);
  });

  it('as holder since', () => {
    record(ana, 'pressure', { kind: 'reading', value: 42 });
    handOver(ana, ben);
    isRefused(ben);
  });

  it('as second person', () => {
    record(ana, 'ready', { kind: 'confirm', confirmed: true });
    record(ben, 'ready', { kind: 'confirm', confirmed: true });
    expect(world.state.steps['ready']?.witness?.by).toBe('dev:ben');
    record(ana, 'pressure', { kind: 'reading', value: 42 });
    isRefused(ben);
  });

  it('with a record that was replaced since', () => {
    handOver(ana, ben);
    record(ben, 'pressure', { kind: 'reading', value: 4 });
    handOver(ben, ana);
    handOver(ana, person('Eva'));
    const eva = person('Eva');
    record(eva, 'pressure', { kind: 'reading', value: 5 });
    expect(JSON.stringify(world.state)).not.toContain('dev:ben');
    record(eva, 'ready', { kind: 'confirm', confirmed: false });
    isRefused(ben);
  });

  it('but whoever resolved an earlier block may', () => {
    const both = { ...sam, scopes: new Set([...sam.scopes, ...dora.scopes]) };
    record(ana, 'pressure', { kind: 'reading', value: 42 });
    world.run(both, resolution('retake'));
    record(ana, 'pressure', { kind: 'reading', value: 42 });
    expect(world.decide(both, decision(true)).kind).toBe('commit');
  });
});

describe('closing the block some other way withdraws it', () => {
  beforeEach(blocked);
  const isStale = (given: string): void => {
    for (const approved of [true, false]) {
      expect(refusalOf(world.decide(dora, decision(approved, given)))).toMatchObject({
        code: 'STALE_PROPOSAL',
        given,
      });
    }
  };

  it.each(['continue', 'retake', 'abandon'] as const)('by a resolution: %s', (what) => {
    const withdrawn = hash();
    world.run(sam, resolution(what));
    expect(last()).toMatchObject({ type: 'block_resolved', data: { withdrawn } });
    expect(JSON.stringify(world.state)).not.toContain(withdrawn);
    isStale(withdrawn);
  });

  it('by a forced release, and it does not come back with the block', () => {
    const withdrawn = hash();
    const { lock } = world;
    world.apply(forcedRelease({ workflow: world.state, procedure, lock }, 'fire', context()));
    expect(last()).toMatchObject({ type: 'lock_released', data: { withdrawn } });
    expect(JSON.stringify(world.state)).not.toContain(withdrawn);
    isStale(withdrawn);
    world.run(sam, resolution('continue'));
    expect(block()).toMatchObject({ seq: 2, reason: 'deviation' });
    expect(block()).not.toHaveProperty('proposal');
    isStale(withdrawn);
  });

  it('by the loss of the asset to somebody else', () => {
    const withdrawn = hash();
    const held = { ...world.lock!, workflow: 'w9', fence: 9 };
    const situation = { workflow: world.state, procedure, lock: held };
    world.apply(assetConflict(situation, held, context()));
    expect(last()).toMatchObject({ type: 'asset_conflict_found', data: { withdrawn } });
    isStale(withdrawn);
  });
});

describe('where the asset of the block is lost', () => {
  beforeEach(() => {
    blocked();
    // No rule leaves a proposal in such a block; an approval is safe all the same.
    const lost = { ...block(), reason: 'lock_released' as const };
    world.workflow = applyChange(world.state, { set: { block: lost } });
  });

  it('an approval takes it again in the same transaction', () => {
    world.lock = { ...world.lock!, held: false, fence: 4 };
    world.run(dora, decision(true));
    expect(world.state).toMatchObject({ state: 'RUNNING', fence: 5 });
    expect(world.plan?.locks).toMatchObject([
      { op: 'take', freeAt: 4, lock: { workflow: 'w001' } },
    ]);
  });

  it('an approval is refused while somebody else has it, and a denial is not', () => {
    world.lock = { ...world.lock!, workflow: 'w9', subject: 'dev:eva', name: 'Eva' };
    expect(refusalOf(world.decide(dora, decision(true)))).toMatchObject({
      code: 'ASSET_BUSY',
      holder: 'Eva',
    });
    expect(world.decide(dora, decision(false)).kind).toBe('commit');
  });
});

describe('a proposal that is over', () => {
  beforeEach(blocked);
  const tick = () => proposalOver({ workflow: world.state, procedure }, context());

  it('stands to its last moment, and the next look is right after it', () => {
    world.nowMs = EXPIRES;
    expect(tick()).toBeUndefined();
    expect(nextLook(world.state, EXPIRES - 1)).toBe(EXPIRES + 1);
    expect(world.state.due_at).toBeLessThanOrEqual(EXPIRES + 1);
  });

  it('is taken out of its block with an event and a notification', () => {
    const asked = decision(true);
    world.nowMs = EXPIRES + 1;
    const over = tick();
    if (over === undefined) throw new Error('it is over');
    world.apply(over.plan);
    expect(last()).toMatchObject({
      type: 'approval_expired',
      actor: { subject: 'system:reconciler' },
      data: {
        rule: 'R7',
        block: 2,
        action_hash: asked.action_hash,
        expires_at: '2026-01-02T04:04:05.678Z',
      },
    });
    expect(world.plan?.outbox.map(({ payload }) => payload)).toMatchObject([
      { kind: 'approval_ended', audiences: ['approver'], why: 'expired', block: 2 },
    ]);
    expect(world.state.state).toBe('BLOCKED');
    expect(block()).not.toHaveProperty('proposal');
    expect(tick()).toBeUndefined();
    expect(refusalOf(world.decide(dora, asked))).toMatchObject({
      code: 'APPROVAL_EXPIRED',
      expires_at: '2026-01-02T04:04:05.678Z',
    });
    expect(world.run(sam, resolution('continue')).kind).toBe('commit');
  });

  it.each(['not a time', '2027-01-02T04:04:05.678Z'])(
    'because it was changed (%s) is withdrawn at once',
    (expires_at) => {
      const { proposal } = block();
      if (proposal === undefined) throw new Error('nothing is proposed');
      const action = { ...proposal.action, expires_at };
      world.workflow = { ...world.state, block: { ...block(), proposal: { ...proposal, action } } };
      const over = tick();
      if (over === undefined) throw new Error('it was changed');
      world.apply(over.plan);
      expect(last()).toMatchObject({
        type: 'proposal_withdrawn',
        data: { why: 'changed', withdrawn: proposal.action_hash },
      });
      expect(block()).not.toHaveProperty('proposal');
    },
  );
});
