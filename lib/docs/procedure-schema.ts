/**
 * Renders the schema of procedure files as JSON Schema for editors. It describes shapes only: what
 * compares two fields is checked at start. It writes no file; `bin/generate-docs.ts` does.
 */
import * as z from 'zod';
import { procedureSchema } from '../core/model/procedure.ts';

/** Descriptions of the outermost members, whose names say too little by themselves. */
const descriptions: Readonly<Record<string, string>> = {
  $schema: 'address of this schema, for editors; not part of the procedure',
  id: 'stable name of the procedure',
  version: 'grows with every change; workflows keep the version they started with',
  title: 'what the procedure is called when spoken',
  description: 'one sentence on what the procedure is for',
  asset: 'the kind of thing the procedure is done on',
  steps: 'what is done, in the order in which it is asked for',
  rules: 'what has to hold between two readings',
  deadline: 'how long the whole procedure may take, counted from its start',
  reminder: 'when somebody is told that nothing goes on',
  escalation:
    'who is told of what: a value that is reported or deviates, a block, a time that passed',
};

/** `docs/procedure.schema.json`: JSON Schema, draft 2020-12, of what an author writes. */
export function procedureSchemaText(): string {
  const { $schema, properties, ...rest } = z.toJSONSchema(procedureSchema, {
    io: 'input',
    target: 'draft-2020-12',
  });
  const described = Object.entries(properties ?? {}).map(([name, property]) => [
    name,
    { description: descriptions[name], ...(property as object) },
  ]);
  const schema = {
    $schema,
    $id: 'urn:checkpoint:procedure:1',
    title: 'Checkpoint procedure',
    description: 'A versioned procedure: steps, limits and escalation. One file holds one.',
    ...rest,
    properties: Object.fromEntries(described) as object,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
