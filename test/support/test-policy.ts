/** A small domain for tests: one step of every kind, and one rule of every consequence. */
import type { ProcedureInput } from '../../lib/core/model/procedure.ts';
import type { DomainPolicy } from '../../lib/core/ports/policy.ts';
import { guardedProcedure } from './guarded-procedure.ts';

/** One of everything. Bounds of `inlet` are 0 to 12, its warning band is 1 to 10. */
export const sampleProcedure: ProcedureInput = {
  id: 'sample',
  version: 1,
  title: 'Sample procedure',
  description: 'One step of every kind.',
  asset: { type: 'unit', pattern: '[A-Z]+-[0-9]+', example: 'UNIT-1' },
  steps: [
    {
      id: 'ready',
      kind: 'confirm',
      title: 'Ready',
      instruction: 'Say whether the unit is ready.',
      on_deviation: 'block',
    },
    {
      id: 'inlet',
      kind: 'reading',
      title: 'Inlet pressure',
      instruction: 'Read the inlet gauge.',
      requires: ['ready'],
      unit: {
        symbol: 'bar',
        spoken: 'bar',
        aliases: ['bars'],
        conversions: [{ symbol: 'psi', spoken: 'psi', factor: 0.0689476 }],
      },
      decimals: 2,
      bounds: { min: 0, max: 12 },
      warning: { min: 1, max: 10 },
      expected: { min: 2, max: 8 },
      on_deviation: 'record_and_notify',
    },
    {
      id: 'outlet',
      kind: 'reading',
      title: 'Outlet pressure',
      instruction: 'Read the outlet gauge.',
      unit: { symbol: 'bar', spoken: 'bar' },
      decimals: 2,
      bounds: { min: 0, max: 20 },
      expected: { min: 2, max: 18 },
      on_deviation: 'retake',
    },
    {
      id: 'mode',
      kind: 'choice',
      title: 'Mode',
      instruction: 'Say which mode is set.',
      options: [
        { id: 'auto', title: 'Automatic' },
        { id: 'manual', title: 'Manual' },
        { id: 'off', title: 'Off', deviates: true },
      ],
    },
    {
      id: 'seal',
      kind: 'confirm',
      title: 'Seal',
      instruction: 'Check the seal together.',
      second_person: true,
      on_deviation: 'retake',
    },
    {
      id: 'remark',
      kind: 'text',
      title: 'Remark',
      instruction: 'Say anything worth knowing.',
      optional: true,
      max_chars: 200,
    },
    {
      id: 'code',
      kind: 'text',
      title: 'Access code',
      instruction: 'Say the access code.',
      optional: true,
      max_chars: 40,
      sensitive: true,
    },
  ],
  rules: [
    {
      id: 'outlet-above-inlet',
      kind: 'greater_than',
      step: 'outlet',
      than: 'inlet',
      message: 'The outlet pressure must be above the inlet pressure.',
      on_deviation: 'block',
    },
  ],
  escalation: [
    { on: 'warning', notify: 'planner' },
    { on: 'deviation', notify: 'supervisor' },
    { on: 'block', notify: 'supervisor' },
  ],
};

/** The least there can be: one step, assets of any name. */
export const shortProcedure: ProcedureInput = {
  id: 'short',
  version: 1,
  title: 'Short procedure',
  description: 'One step on an asset of any name.',
  asset: { type: 'thing', pattern: '[^]+', example: 'THING' },
  steps: [
    {
      id: 'done',
      kind: 'confirm',
      title: 'Done',
      instruction: 'Say whether it is done.',
      on_deviation: 'retake',
    },
  ],
};

/**
 * One of every time: 30 minutes for the reading, 60 for the check, which blocks, 240 for the whole, a
 * reminder after 20, and a block that is told again after 30, 60 and 90.
 */
export const timedProcedure: ProcedureInput = {
  id: 'timed',
  version: 1,
  title: 'Timed procedure',
  description: 'Steps that must not take long.',
  asset: { type: 'unit', pattern: '[A-Z]+-[0-9]+', example: 'UNIT-1' },
  steps: [
    {
      id: 'ready',
      kind: 'confirm',
      title: 'Ready',
      instruction: 'Say whether the unit is ready.',
      on_deviation: 'block',
    },
    {
      id: 'level',
      kind: 'reading',
      title: 'Level',
      instruction: 'Read the level.',
      requires: ['ready'],
      unit: { symbol: 'cm', spoken: 'centimetres' },
      decimals: 0,
      bounds: { min: 0, max: 100 },
      expected: { min: 10, max: 90 },
      on_deviation: 'retake',
      deadline: { minutes: 30 },
    },
    {
      id: 'check',
      kind: 'confirm',
      title: 'Check',
      instruction: 'Check it together.',
      requires: ['ready'],
      second_person: true,
      on_deviation: 'retake',
      deadline: { minutes: 60, on_overdue: 'block' },
    },
  ],
  deadline: { minutes: 240 },
  reminder: { idle_minutes: 20, times: 2 },
  escalation: [
    { on: 'block', notify: 'supervisor' },
    { on: 'block', notify: 'supervisor', after_minutes: 30, times: 3 },
    { on: 'block', notify: 'manager', after_minutes: 60 },
    { on: 'overdue', notify: 'planner' },
    { on: 'reminder', notify: 'operator' },
  ],
};

/** The domain of the tests. */
export const testPolicy: DomainPolicy = {
  domain: 'test',
  procedures: [sampleProcedure, shortProcedure, timedProcedure, guardedProcedure],
};
