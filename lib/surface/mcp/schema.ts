// From zod to the JSON Schema that clients see: plain enough for every model provider.
// No `$ref`, no combinator at the root, no `const`; unknown arguments are refused in code instead.
import * as z from 'zod';

/** A JSON Schema of an object, as it is listed. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: { readonly [name: string]: object };
  readonly required?: readonly string[];
}

/** Most tools answer in one shape, and describing it is the larger part of loading them. */
const listed = new WeakMap<z.ZodType, Partial<Record<'input' | 'output', ObjectSchema>>>();

/** The listed form of a schema. `io` says which side of defaults is described. */
export function listedSchema(schema: z.ZodType, io: 'input' | 'output'): ObjectSchema {
  const known = listed.get(schema) ?? {};
  listed.set(schema, known);
  return (known[io] ??= describe(schema, io));
}

function describe(schema: z.ZodType, io: 'input' | 'output'): ObjectSchema {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io,
    reused: 'inline',
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties;
      // zod states the safe integers as bounds where there is none; that says nothing.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return json as unknown as ObjectSchema;
}

/** A text of 1 to `max` characters, counted in code points as JSON Schema does. */
export function bounded(max: number, description: string) {
  return z
    .string()
    .min(1)
    .refine((text) => [...text].length <= max, { error: `expected at most ${max} characters` })
    .meta({ maxLength: max, description });
}
