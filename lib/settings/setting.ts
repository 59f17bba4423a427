/**
 * The shape of one row of the settings table. It holds no setting of its own and reads nothing:
 * the rows are in `lib/settings.ts`, the value types in this folder.
 */
import type * as z from 'zod';

/** One setting: everything the reader, the documents and the error messages say about it. */
export interface Setting<
  Value extends z.ZodType = z.ZodType,
  Default extends string | undefined = string | undefined,
> {
  /** Name of the environment variable. */
  readonly env: string;
  /** Takes the variable's text to the typed value. */
  readonly type: Value;
  /** Written as it would be in the environment, so that it takes the same way in as any other text. */
  readonly default: Default;
  /** What the default comes to, where the text alone does not say it. */
  readonly defaultMeaning?: string;
  /** Unit of a number; undefined where there is none. */
  readonly unit?: string;
  /** Ends the sentence "expected …" in documents and error messages. */
  readonly expected: string;
  /** What the setting does: one or two sentences. */
  readonly description: string;
  /** A value to show in documents where the default shows nothing. */
  readonly example?: string;
}

/**
 * Types one row of the table, so that the value type and the presence of a default are both kept.
 *
 * @param row the row as written
 * @returns the same row
 */
export function setting<Value extends z.ZodType, Default extends string | undefined>(
  row: Setting<Value, Default>,
): Setting<Value, Default> {
  return row;
}

/** The typed value of a row; `undefined` is part of it only where the row has no default. */
export type SettingValue<Row> =
  Row extends Setting<infer Value, infer Default>
    ? Default extends string
      ? z.output<Value>
      : z.output<Value> | undefined
    : never;
