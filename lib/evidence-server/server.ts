// The bundled evidence server: two read-only tools over files of an operator. It writes nothing, asks
// nothing of its client, and says nothing on standard output but the protocol.
import { McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { LIMITS } from '../core/limits.ts';
import { cursorAt, placeOf } from './cursor.ts';
import { CallFault, FileFault } from './faults.ts';
import { readRunbooks, type Match } from './runbooks.ts';
import { readServices, service, serviceNamed, type Service } from './services.ts';

const SERVICES_A_PAGE = 20;
const MATCHES_A_PAGE = 5;
const EXCERPT_CHARS = 700;

const READ_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

const text = (max: number, description: string) => z.string().min(1).max(max).describe(description);
const cursor = text(64, 'The next_cursor of the answer before, for the next page.').optional();
const nextCursor = z.string().optional().describe('Where the next page begins, if there is one.');

const statusInput = z.strictObject({
  service: text(
    LIMITS.titleChars.max,
    'Name or alias of one service; all of them without it.',
  ).optional(),
  cursor,
});
const statusOutput = z.object({
  services: z.array(service).describe('Details of the one asked for, or a page of all.'),
  total: z.int(),
  next_cursor: nextCursor,
});
const searchInput = z.strictObject({
  query: text(LIMITS.evidenceQueryChars.max, 'Words of the symptom or of the task.'),
  service: text(
    LIMITS.titleChars.max,
    'Only runbooks for this service, and those for all.',
  ).optional(),
  cursor,
});
const searchOutput = z.object({
  matches: z
    .array(
      z.object({
        runbook: z.string(),
        title: z.string(),
        section: z.string(),
        excerpt: z.string(),
        left_out: z.int().describe('Characters of the section that are not in the excerpt.'),
        score: z.number(),
      }),
    )
    .describe('Best first.'),
  total: z.int(),
  next_cursor: nextCursor,
});

/** Makes a server over a folder with `services.yaml` and `runbooks/`. */
export function evidenceServer(folder: string, version: string): McpServer {
  const services = readServices(folder);
  const runbooks = readRunbooks(folder);
  const server = new McpServer(
    { name: 'checkpoint-evidence', title: 'Checkpoint evidence', version },
    { capabilities: { tools: { listChanged: false } } },
  );
  server.registerTool(
    'service_status',
    {
      title: 'Service status',
      description:
        'The status of one service with its checks and what it depends on, or of all services in pages.',
      inputSchema: statusInput,
      outputSchema: statusOutput,
      annotations: READ_ONLY,
    },
    (args) => answered(async () => statusAnswer(await services(), args)),
  );
  server.registerTool(
    'runbook_search',
    {
      title: 'Runbook search',
      description: 'Sections of runbooks that fit some words, best first, in pages.',
      inputSchema: searchInput,
      outputSchema: searchOutput,
      annotations: READ_ONLY,
    },
    (args) =>
      answered(async () => {
        const books = await runbooks();
        return searchAnswer(books.search(args.query, args.service), books.version, args);
      }),
  );
  return server;
}

interface Answer {
  readonly text: string;
  readonly data: { readonly [name: string]: unknown };
}

async function answered(work: () => Promise<Answer>): Promise<CallToolResult> {
  try {
    const { text: said, data } = await work();
    return { content: [{ type: 'text', text: said }], structuredContent: { ...data } };
  } catch (error) {
    if (!(error instanceof FileFault || error instanceof CallFault)) throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

function statusAnswer(
  services: readonly Service[],
  { service: name, cursor: at }: z.output<typeof statusInput>,
): Answer {
  if (name !== undefined) {
    const found = serviceNamed(services, name);
    if (found === undefined) {
      const known = services.slice(0, SERVICES_A_PAGE).map((each) => each.name);
      throw new CallFault(
        `service: expected one of ${services.length}, such as ${known.join(', ')}`,
      );
    }
    return { text: `${found.name} is ${found.status}.`, data: { services: [found], total: 1 } };
  }
  const question = services.map((each) => each.name);
  const from = placeOf(at, question);
  const until = from + SERVICES_A_PAGE;
  // Of many, what tells them apart; the details are there for one.
  const page = services.slice(from, until).map((each) => ({
    name: each.name,
    status: each.status,
    ...(each.summary !== undefined && { summary: each.summary }),
  }));
  const more = until < services.length && { next_cursor: cursorAt(until, question) };
  return {
    text: `${page.length} of ${services.length} services.`,
    data: { services: page, total: services.length, ...more },
  };
}

function searchAnswer(
  found: readonly Match[],
  files: string,
  { query, service: forService = '', cursor: at }: z.output<typeof searchInput>,
): Answer {
  const question = [query, forService, files];
  const from = placeOf(at, question);
  const until = from + MATCHES_A_PAGE;
  const matches = found.slice(from, until).map((match) => {
    const characters = [...match.text];
    return {
      runbook: match.runbook,
      title: match.title,
      section: match.heading,
      excerpt: characters.slice(0, EXCERPT_CHARS).join(''),
      left_out: Math.max(0, characters.length - EXCERPT_CHARS),
      score: match.score,
    };
  });
  const more = until < found.length && { next_cursor: cursorAt(until, question) };
  const best = matches[0] === undefined ? '' : ` The best is "${matches[0].title}".`;
  return {
    text: `${matches.length} of ${found.length} matching sections.${best}`,
    data: { matches, total: found.length, ...more },
  };
}
