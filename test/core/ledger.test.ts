import { describe, expect, it } from '@jest/globals';
import {
  compareWithLedger,
  keyedByQuestion,
  keyedCommand,
  ledgerRow,
  ledgerRowIsValid,
  type KeyedCommand,
} from '../../lib/core/ledger.ts';
import type { Command, RecordStep, StepInput } from '../../lib/core/model/commands.ts';
import { secretsOf } from '../../lib/core/secrets.ts';
import { person, START_MS } from '../support/pure-world.ts';

const secrets = secretsOf('a secret of the deployment, 32 or more');
const ana = person('Ana');
const keyed = (command: Command, who = ana): KeyedCommand => {
  const result = keyedCommand(secrets(who.tenant).ledger, who, command);
  if (result === undefined) throw new Error('expected a key');
  return result;
};
const step: RecordStep = {
  type: 'record_step',
  key: 'k-1',
  workflow: 'w1',
  step: 'inlet',
  input: { kind: 'reading', value: 1, unit: 'bar' },
};
const receipt = {
  command: 'record_step',
  workflow: 'w1',
  seq: 4,
  at: 'now',
  result: 'recorded',
} as const;
const row = ledgerRow(keyed(step), receipt, START_MS);

describe('the ledger', () => {
  it('has nothing to say about a command without key', () => {
    const { key: _key, ...bare } = step;
    expect(keyedCommand('secret', ana, bare)).toBeUndefined();
  });

  it('recognises the same command, whatever the order of its members', () => {
    const { input, ...rest } = step;
    expect(compareWithLedger(row, keyed({ input, ...rest }))).toEqual({ same: true });
  });

  it('does not count the confirmation as part of the command', () => {
    expect(compareWithLedger(row, keyed({ ...step, confirmation: 'c1.x.y' }))).toEqual({
      same: true,
    });
  });

  it.each([
    ['another value', { ...step, input: { kind: 'reading', value: 2, unit: 'bar' } }, ['reading']],
    ['another unit', { ...step, input: { kind: 'reading', value: 1 } }, ['unit']],
    [
      'another step and workflow',
      { ...step, step: 'outlet', workflow: 'w2' },
      ['step', 'workflow_id'],
    ],
    ['a member that was absent', { ...step, type: 'correct_step', replaces: 4 }, ['replaces']],
    [
      'a member that is missing',
      { type: 'record_step', key: 'k-1', step: 'inlet', input: step.input },
      ['workflow_id'],
    ],
    [
      'several, in the order of their names,',
      { ...step, step: 'outlet', input: { kind: 'reading', value: 2, unit: 'psi' } },
      ['reading', 'step', 'unit'],
    ],
    ['another operation', { type: 'complete_workflow', key: 'k-1', workflow: 'w1' }, ['operation']],
  ] as [string, Command, string[]][])(
    'names the fields that differ for %s',
    (_name, command, fields) => {
      expect(compareWithLedger(row, keyed(command))).toEqual({ same: false, fields });
    },
  );

  it.each([
    [
      { kind: 'spoken_reading', text: 'two', unit: 'bar' },
      { kind: 'spoken_reading', text: 'three', unit: 'psi' },
      ['spoken_reading', 'unit'],
    ],
    [{ kind: 'choice', option: 'dry' }, { kind: 'choice', option: 'wet' }, ['choice']],
    [{ kind: 'text', text: 'fine' }, { kind: 'text', text: 'bad' }, ['text']],
    [{ kind: 'skip', reason: 'dark' }, { kind: 'skip', reason: 'wet' }, ['skip_reason']],
    [{ kind: 'confirm', confirmed: true }, { kind: 'confirm', confirmed: false }, ['confirmed']],
    [{ kind: 'text', text: 'dry' }, { kind: 'choice', option: 'dry' }, ['choice', 'text']],
  ] as [StepInput, StepInput, string[]][])(
    'names arguments as callers know them where %j becomes %j',
    (first, second, fields) => {
      const one = ledgerRow(keyed({ ...step, input: first }), receipt, START_MS);
      expect(compareWithLedger(one, keyed({ ...step, input: first }))).toEqual({ same: true });
      expect(compareWithLedger(one, keyed({ ...step, input: second }))).toEqual({
        same: false,
        fields,
      });
    },
  );

  it('counts neither the key nor a signed answer as an argument', () => {
    const answer = { state: 'c2.x.y' };
    expect(keyed({ ...step, key: 'k-2' })).toMatchObject({
      digest: row.digest,
      fields: row.fields,
    });
    expect(keyed({ ...step, answer })).toMatchObject({ digest: row.digest, fields: row.fields });
    expect(keyed({ ...step, key: 'k-2' }).key).not.toBe(row.key);
  });

  it('keeps keys of two people and two tenants apart', () => {
    const ben = person('Ben');
    const elsewhere = { ...ana, tenant: 'other' };
    expect(keyed(step, ben).key).not.toBe(row.key);
    expect(keyed(step, elsewhere).digest).not.toBe(row.digest);
    expect(keyed(step, elsewhere).tenant).toBe('other');
  });

  it('stores no value, only HMACs', () => {
    const text = JSON.stringify(
      ledgerRow(keyed({ ...step, input: { kind: 'text', text: 'Köhler' } }), receipt, 0),
    );
    expect(text).not.toContain('hler');
    expect(Object.values(row.fields).every((mac) => /^[0-9a-f]{64}$/.test(mac))).toBe(true);
  });

  it('is valid for thirty days to the second, in epoch seconds', () => {
    expect(row.expires_at).toBe(Math.floor(START_MS / 1000) + 2_592_000);
    expect(ledgerRowIsValid(row, START_MS + 2_591_999_000)).toBe(true);
    expect(ledgerRowIsValid(row, START_MS + 2_592_000_000)).toBe(false);
  });

  it('of a question has one key for each question, and a digest for each choice', () => {
    const asked = (state: string, workflow = 'w1'): KeyedCommand => {
      const { key: _key, ...bare } = step;
      return keyedByQuestion('secret', ana, { ...bare, workflow }, state);
    };
    expect(asked('one')).toEqual(asked('one'));
    expect(asked('two').key).not.toBe(asked('one').key);
    expect(asked('one', 'w2').key).toBe(asked('one').key);
    expect(asked('one', 'w2').digest).not.toBe(asked('one').digest);
    // No key that a caller can send is a question.
    const sent = keyedCommand('secret', ana, { ...step, key: 'one' });
    expect(sent?.key).not.toBe(asked('one').key);
  });
});
