// The calibration of a laboratory balance with one reference weight, as a technician is led through it.
// Holds no rule that needs two readings; those are in policy.ts.
import type { ProcedureInput } from '../../core/model/procedure.ts';

const massUnit = {
  symbol: 'mg',
  spoken: 'milligrams',
  aliases: ['milligram', 'milligramme', 'milligrammes', 'mgs'],
};

/** An error of the display, with the same limits before and after the adjustment. */
const errorReading = {
  kind: 'reading',
  unit: massUnit,
  decimals: 1,
  bounds: { min: -5, max: 5 },
  warning: { min: -2, max: 2 },
  expected: { min: -1, max: 1 },
} as const;

/** The first version, without times: kept for work that runs on it. */
export const instrumentCalibrationProcedure1 = {
  id: 'instrument-calibration',
  version: 1,
  title: 'balance calibration',
  description: 'Calibration of a laboratory balance with a reference weight of two hundred grams.',
  asset: { type: 'balance', pattern: 'BAL-[0-9]{3}', example: 'BAL-001' },
  steps: [
    {
      id: 'level_check',
      kind: 'confirm',
      title: 'level check',
      instruction: 'Confirm that the balance is level, clean, and warm for at least half an hour.',
      on_deviation: 'retake',
    },
    {
      id: 'room_temperature',
      kind: 'reading',
      title: 'room temperature',
      instruction: 'Read the thermometer next to the balance.',
      unit: {
        symbol: '°C',
        spoken: 'degrees Celsius',
        aliases: ['C', 'degrees', 'degree Celsius', 'Celsius', 'centigrade'],
        conversions: [
          {
            symbol: '°F',
            spoken: 'degrees Fahrenheit',
            aliases: ['F', 'degree Fahrenheit', 'Fahrenheit'],
            factor: 0.555555555555556,
            offset: -17.7777777777778,
          },
        ],
      },
      decimals: 1,
      bounds: { min: 15, max: 30 },
      warning: { min: 18, max: 25 },
      expected: { min: 19, max: 23 },
      on_deviation: 'record_and_notify',
    },
    {
      ...errorReading,
      id: 'as_found_error',
      title: 'as found error',
      instruction:
        'Place the reference weight before any adjustment and say by how much it is off.',
      requires: ['level_check'],
      on_deviation: 'record_and_notify',
    },
    {
      id: 'adjustment',
      kind: 'choice',
      title: 'adjustment',
      instruction: 'Say which adjustment you made.',
      options: [
        { id: 'none', title: 'none' },
        { id: 'internal', title: 'internal weight' },
        { id: 'external', title: 'external weight' },
        { id: 'not_possible', title: 'not possible', deviates: true },
      ],
      requires: ['as_found_error'],
      on_deviation: 'block',
    },
    {
      ...errorReading,
      id: 'as_left_error',
      title: 'as left error',
      instruction: 'Place the reference weight after the adjustment and say by how much it is off.',
      requires: ['adjustment'],
      on_deviation: 'block',
    },
    {
      ...errorReading,
      id: 'repeat_error',
      title: 'repeat error',
      instruction: 'Lift the reference weight, place it again, and say by how much it is off now.',
      requires: ['as_left_error'],
      on_deviation: 'retake',
    },
    {
      ...errorReading,
      id: 'corner_error',
      title: 'corner error',
      instruction: 'If the customer asked for it, place the weight off centre and say the error.',
      optional: true,
      on_deviation: 'record_and_notify',
    },
    {
      id: 'customer_reference',
      kind: 'text',
      title: 'customer reference',
      instruction: 'Say the order number and the name of the contact for the certificate.',
      max_chars: 200,
      sensitive: true,
    },
    {
      id: 'label_check',
      kind: 'confirm',
      title: 'label check',
      instruction: 'Confirm that the label shows the due date. A second person checks it.',
      requires: ['repeat_error'],
      second_person: true,
      on_deviation: 'retake',
    },
  ],
  escalation: [
    { on: 'warning', notify: 'supervisor' },
    { on: 'deviation', notify: 'supervisor' },
    { on: 'block', notify: 'supervisor' },
  ],
} satisfies ProcedureInput;

/** The balance calibration. A changed content needs a new version number. */
export const instrumentCalibrationProcedure: ProcedureInput = {
  ...instrumentCalibrationProcedure1,
  version: 2,
  steps: instrumentCalibrationProcedure1.steps.map((step) => ({
    ...step,
    // Two placements can be compared only while the balance is as warm as it was.
    ...(step.id === 'repeat_error' && {
      deadline: { minutes: 30, on_overdue: 'block' as const },
    }),
  })),
  escalation: [
    ...instrumentCalibrationProcedure1.escalation,
    { on: 'block', notify: 'supervisor', after_minutes: 240, times: 3 },
  ],
};
