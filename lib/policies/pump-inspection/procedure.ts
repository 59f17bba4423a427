// The routine inspection of a running centrifugal pump, as its operator works through it by voice.
// Holds no rule that needs two readings; that one is in policy.ts.
import type { ProcedureInput } from '../../core/model/procedure.ts';

const pressureUnit = {
  symbol: 'bar',
  spoken: 'bar',
  aliases: ['bars', 'bar gauge', 'barg'],
  conversions: [
    {
      symbol: 'psi',
      spoken: 'psi',
      aliases: ['psig', 'pounds', 'pounds per square inch', 'pound per square inch'],
      factor: 0.0689476,
    },
    {
      symbol: 'kPa',
      spoken: 'kilopascals',
      aliases: ['kilopascal', 'kilo pascals', 'kilo pascal'],
      factor: 0.01,
    },
  ],
};

const fahrenheit = {
  symbol: '°F',
  spoken: 'degrees Fahrenheit',
  aliases: ['F', 'degree Fahrenheit', 'Fahrenheit'],
  factor: 0.555555555555556,
  offset: -17.7777777777778,
};

/** The first version, without times: kept for work that runs on it. */
export const pumpInspectionProcedure1 = {
  id: 'pump-inspection',
  version: 1,
  title: 'pump inspection',
  description: 'Routine inspection of a running centrifugal pump, about ten minutes.',
  asset: { type: 'pump', pattern: 'PUMP-[0-9]{2}', example: 'PUMP-07' },
  steps: [
    {
      id: 'guards_check',
      kind: 'confirm',
      title: 'guards check',
      instruction: 'Confirm that the coupling guard is fitted and that nobody stands at the shaft.',
      on_deviation: 'block',
    },
    {
      id: 'suction_pressure',
      kind: 'reading',
      title: 'suction pressure',
      instruction: 'Read the pressure on the suction side gauge.',
      unit: pressureUnit,
      decimals: 2,
      bounds: { min: 0, max: 12 },
      warning: { min: 0.8, max: 4 },
      expected: { min: 1.5, max: 3 },
      on_deviation: 'block',
    },
    {
      id: 'discharge_pressure',
      kind: 'reading',
      title: 'discharge pressure',
      instruction: 'Read the pressure on the discharge side gauge.',
      unit: pressureUnit,
      decimals: 2,
      bounds: { min: 0, max: 25 },
      warning: { min: 4, max: 12 },
      expected: { min: 5, max: 9 },
      on_deviation: 'block',
    },
    {
      id: 'bearing_temperature',
      kind: 'reading',
      title: 'bearing temperature',
      instruction: 'Measure the temperature of the bearing housing on the drive side.',
      unit: {
        symbol: '°C',
        spoken: 'degrees Celsius',
        aliases: ['C', 'degrees', 'degree Celsius', 'Celsius', 'centigrade'],
        conversions: [fahrenheit],
      },
      decimals: 1,
      bounds: { min: -20, max: 110 },
      warning: { min: 5, max: 80 },
      expected: { min: 40, max: 70 },
      on_deviation: 'record_and_notify',
    },
    {
      id: 'vibration',
      kind: 'reading',
      title: 'vibration',
      instruction: 'Hold the sensor on the bearing housing for ten seconds and read the velocity.',
      unit: {
        symbol: 'mm/s',
        spoken: 'millimetres per second',
        aliases: ['millimeters per second', 'millimetre per second', 'mm per second'],
      },
      decimals: 1,
      bounds: { min: 0, max: 18 },
      warning: { min: 0, max: 4.5 },
      expected: { min: 0, max: 2.8 },
      on_deviation: 'retake',
    },
    {
      id: 'seal_condition',
      kind: 'choice',
      title: 'seal condition',
      instruction: 'Look at the shaft seal and say how much it leaks.',
      options: [
        { id: 'dry', title: 'dry' },
        { id: 'damp', title: 'damp' },
        { id: 'dripping', title: 'dripping', deviates: true },
        { id: 'spraying', title: 'spraying', deviates: true },
      ],
      on_deviation: 'record_and_notify',
    },
    {
      id: 'motor_current',
      kind: 'reading',
      title: 'motor current',
      instruction: 'If the local panel shows it, read the motor current.',
      optional: true,
      unit: { symbol: 'A', spoken: 'amperes', aliases: ['amp', 'amps', 'ampere'] },
      decimals: 1,
      bounds: { min: 0, max: 400 },
      expected: { min: 60, max: 180 },
      on_deviation: 'record_and_notify',
    },
    {
      id: 'operator_remarks',
      kind: 'text',
      title: 'operator remarks',
      instruction: 'Say anything that the next shift should know.',
      optional: true,
      max_chars: 1_000,
      sensitive: true,
    },
    {
      id: 'isolation_check',
      kind: 'confirm',
      title: 'isolation check',
      instruction:
        'Confirm that the isolation valves are open and locked. A second person checks it.',
      requires: ['guards_check'],
      second_person: true,
      on_deviation: 'block',
    },
  ],
  escalation: [
    { on: 'warning', notify: 'supervisor' },
    { on: 'deviation', notify: 'supervisor' },
    { on: 'block', notify: 'supervisor' },
  ],
} satisfies ProcedureInput;

/** The pump inspection. A changed content needs a new version number. */
export const pumpInspectionProcedure: ProcedureInput = {
  ...pumpInspectionProcedure1,
  version: 2,
  deadline: { minutes: 480 },
  reminder: { idle_minutes: 30, times: 2 },
  escalation: [
    ...pumpInspectionProcedure1.escalation,
    { on: 'block', notify: 'supervisor', after_minutes: 30 },
    { on: 'block', notify: 'plant_manager', after_minutes: 120 },
    { on: 'overdue', notify: 'supervisor' },
    { on: 'reminder', notify: 'operator' },
  ],
};
