import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../lib/adapters/runtime/system.ts';
import { ERAS, send, type Era } from '../../support/rpc.ts';
import { closeWorldsAfterEach, openWorld, restOn } from '../../support/surface-world.ts';

closeWorldsAfterEach();

const GOLDEN = join(import.meta.dirname, 'tools-list.golden.json');

interface Listing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
  readonly annotations: Record<string, boolean>;
}
interface Schema {
  readonly [keyword: string]: unknown;
}

/** Everything there is, and what is served where assistants may not decide. */
async function listing(era: Era, approvals = true): Promise<readonly Listing[]> {
  const token = 'ana';
  const { app } = await openWorld((store) => restOn(store, systemClock, approvals));
  const { body } = await send(app, era, 'tools/list', {}, { token });
  return (body['result'] as { tools: Listing[] }).tools;
}

/** Every schema within a schema, with its pointer. */
function schemas(schema: Schema, path = ''): readonly (readonly [string, Schema])[] {
  const properties = (schema['properties'] ?? {}) as { [name: string]: Schema };
  const items = schema['items'] as Schema | undefined;
  return [
    [path, schema],
    ...Object.entries(properties).flatMap(([name, inner]) => schemas(inner, `${path}/${name}`)),
    ...(items === undefined ? [] : schemas(items, `${path}/items`)),
  ];
}

describe('tools/list (C6, BR-180)', () => {
  // A difference is a change of what clients have pinned. Look at it; to accept it, run this file with
  // UPDATE_GOLDEN=1 and format what it wrote.
  test.each(ERAS)('is the golden file, in its order, in the %s era', async (era) => {
    const listed = JSON.stringify(await listing(era));
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, listed);
    expect(listed).toBe(JSON.stringify(JSON.parse(readFileSync(GOLDEN, 'utf8'))));
  });

  test.each(ERAS)(
    'is the same bytes on two instances and for two tenants in the %s era',
    async (era) => {
      const { app: one } = await openWorld();
      const { app: two } = await openWorld();
      const first = await send(one, era, 'tools/list');
      const second = await send(two, era, 'tools/list', {}, { token: 'other' });
      expect(second.text).toBe(first.text);
    },
  );
});

test('decide_approval is the only tool that a setting adds', async () => {
  const off = await listing('handshake', false);
  expect((await listing('handshake')).slice(0, -1)).toEqual(off);
  expect((await listing('handshake')).at(-1)?.name).toBe('decide_approval');
});

describe('every tool', () => {
  test('C6: all of them together are less than 20,000 bytes of a model context', async () => {
    expect(Buffer.byteLength(JSON.stringify(await listing('handshake')))).toBeLessThan(20_000);
  });

  test('BR-115: has a name of at most 44 plain characters', async () => {
    for (const { name } of await listing('handshake')) expect(name).toMatch(/^[a-z_]{1,44}$/u);
  });

  test('C1: says when to call it and what it returns, and changes say to keep the key', async () => {
    for (const { description, title, annotations } of await listing('handshake')) {
      expect(title).toMatch(/^[A-Z]/u);
      expect(description).toMatch(/^Call this /u);
      expect(description).toMatch(/[Rr]eturns? |asks whether|says which/u);
      expect(description.length).toBeLessThan(1_024);
      if (annotations['readOnlyHint'] !== true) expect(description).toContain('idempotency_key');
      else expect(description).toContain('It only reads.');
    }
  });

  test('C7: is annotated, and only what ends work is destructive', async () => {
    const tools = await listing('handshake');
    for (const { annotations } of tools) {
      expect(Object.keys(annotations)).toEqual([
        'readOnlyHint',
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
      ]);
      expect(annotations['openWorldHint']).toBe(false);
    }
    const named = (hint: string) =>
      tools.filter(({ annotations }) => annotations[hint] === true).map(({ name }) => name);
    expect(named('destructiveHint')).toEqual([
      'resolve_block',
      'abandon_workflow',
      'decide_approval',
    ]);
    expect(named('readOnlyHint')).toEqual([
      'list_procedures',
      'get_workflow',
      'list_my_workflows',
      'list_blocked',
      'what_can_i_do',
      'get_run',
      'list_pending_approvals',
    ]);
  });

  test('BR-114: has schemas of the plain keywords that every model provider takes', async () => {
    const plain = ['type', 'description', 'properties', 'required', 'items', 'enum'];
    const bounds = ['minLength', 'maxLength', 'pattern', 'minimum'];
    for (const tool of await listing('handshake')) {
      for (const root of [tool.inputSchema, tool.outputSchema]) {
        expect(root['type']).toBe('object');
        for (const [path, schema] of schemas(root)) {
          const extra = Object.keys(schema).filter((key) => ![...plain, ...bounds].includes(key));
          expect([tool.name, path, extra]).toEqual([tool.name, path, []]);
          expect(['string', 'undefined']).toContain(typeof schema['type']);
        }
      }
    }
  });

  test('C1: describes every argument and bounds every text', async () => {
    for (const tool of await listing('handshake')) {
      for (const [path, schema] of schemas(tool.inputSchema).slice(1)) {
        const where = `${tool.name}${path}`;
        expect([where, typeof schema['description']]).toEqual([where, 'string']);
        if (schema['type'] !== 'string' || schema['enum'] !== undefined) continue;
        expect([where, typeof schema['maxLength']]).toEqual([where, 'number']);
      }
    }
  });
});
