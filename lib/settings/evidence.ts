/**
 * The values of `CHECKPOINT_EVIDENCE_SERVERS` and `CHECKPOINT_EVIDENCE_TOOLS`: tool servers, and what of
 * them may be called. It starts and asks nothing.
 */
import * as z from 'zod';
import { jsonList } from './json-list.ts';
import { isLoopback, isPlainHttpUrl, isSecureUrl } from './value-types.ts';

/** A tool server, as the rest of the code sees it. */
export type EvidenceServerSettings =
  | { readonly name: string; readonly kind: 'bundled' }
  | {
      readonly name: string;
      readonly kind: 'command';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: { readonly [name: string]: string };
    }
  | {
      readonly name: string;
      readonly kind: 'url';
      readonly url: string;
      readonly headers: { readonly [name: string]: string };
      readonly privateNetwork: boolean;
    };

/** One entry of the allowlist. */
export interface EvidenceToolSettings {
  readonly server: string;
  readonly name: string;
  readonly pin: string | undefined;
}

/** The tools of the bundled server, with the pins of their definitions in this release. */
export const BUNDLED_TOOLS = [
  {
    server: 'bundled',
    tool: 'service_status',
    pin: 'd3e791e28f9237b38fd5b27abc1ca68e8ff8687456d1ba3926d66d011a0957e9',
  },
  {
    server: 'bundled',
    tool: 'runbook_search',
    pin: 'dc60d2fe1d2bdfa29656117939834ff46267a774d19e368237cfdc8f3ef9c0b1',
  },
] as const;

const serverName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, 'expected 1 to 32 of a-z 0-9 -, a letter first');
const shortText = z.string().max(4_096, 'expected at most 4096 characters');
const withoutNull = shortText.refine((text) => !text.includes('\0'), 'expected no null character');
const few = (entries: object): boolean => Object.keys(entries).length <= 32;

const environment = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'expected a name of a variable'),
    withoutNull,
  )
  .refine(few, 'expected at most 32 variables');
const headers = z
  .record(
    z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'expected a name of a header'),
    shortText.regex(/^[\x20-\x7e]*$/, 'expected visible characters'),
  )
  .refine(few, 'expected at most 32 headers');

const serverEntry = z
  .strictObject({
    name: serverName,
    bundled: z.literal(true, 'expected true').optional(),
    command: withoutNull.min(1, 'expected a command').optional(),
    args: z.array(withoutNull).max(64).optional(),
    env: environment.optional(),
    url: z
      .string()
      .max(2_048)
      .refine(isPlainHttpUrl, 'expected an absolute http or https URL without credentials or query')
      .optional(),
    headers: headers.optional(),
    private_network: z.boolean().optional(),
  })
  .superRefine((entry, context) => {
    const fault = (field: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [field], message });
    };
    const kinds = (['bundled', 'command', 'url'] as const).filter(
      (kind) => entry[kind] !== undefined,
    );
    const [kind] = kinds;
    if (kinds.length !== 1 || kind === undefined) {
      fault('name', 'expected exactly one of bundled, command and url beside it');
      return;
    }
    for (const [field, goesWith] of Object.entries(GOES_WITH)) {
      if (entry[field as keyof typeof GOES_WITH] !== undefined && goesWith !== kind) {
        fault(field, `expected it beside ${goesWith} only`);
      }
    }
    if (entry.url !== undefined && !isSecureUrl(entry.url) && entry.private_network !== true) {
      fault('url', 'expected an https URL (http only to this machine or with private_network)');
    }
  });

const GOES_WITH = {
  args: 'command',
  env: 'command',
  headers: 'url',
  private_network: 'url',
} as const;

/** A JSON array of tool servers with unique names. */
export const evidenceServerList = jsonList(serverEntry, 16, ['name']).transform((entries) =>
  entries.map((entry): EvidenceServerSettings => {
    const { name, command, args = [], env = {}, url, headers: sent = {} } = entry;
    if (command !== undefined) return { name, kind: 'command', command, args, env };
    if (url === undefined) return { name, kind: 'bundled' };
    // The name of this very machine is meant as it is written.
    const privateNetwork = entry.private_network ?? isLoopback(new URL(url).hostname);
    return { name, kind: 'url', url, headers: sent, privateNetwork };
  }),
);

const toolEntry = z.strictObject({
  server: serverName,
  tool: z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, 'expected a name of a tool'),
  pin: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits')
    .optional(),
});

/** A JSON array of tools, each once. */
export const evidenceToolList = jsonList(toolEntry, 200, [])
  .superRefine((entries, context) => {
    const seen = new Set<string>();
    for (const [index, { server, tool }] of entries.entries()) {
      const key = `${server} ${tool}`;
      const message = 'expected another tool than an earlier entry has';
      if (seen.has(key)) context.addIssue({ code: 'custom', path: [index, 'tool'], message });
      seen.add(key);
    }
  })
  .transform((entries) =>
    entries.map(({ server, tool, pin }): EvidenceToolSettings => ({ server, name: tool, pin })),
  );
