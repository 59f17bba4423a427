// The evidence source over MCP: one connection for each server, made when it is first needed and made
// again when it was lost. Decides nothing about which tools may be called.
import type { ListToolsResult } from '@modelcontextprotocol/client';
import { isJsonFault } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import {
  EvidenceError,
  type AdvertisedTool,
  type EvidenceSource,
} from '../../core/ports/evidence.ts';
import { argumentFaults } from './arguments.ts';
import { NO_ANSWER } from './client-errors.ts';
import {
  connect,
  type Connection,
  type ConnectionParts,
  type EvidenceParts,
} from './connection.ts';
import type { ToolServer } from './servers.ts';
import { advertisedBy, answerOf } from './tool-answer.ts';

/** Makes the source. Nothing is started or asked yet. */
export function createEvidenceSource(
  servers: readonly ToolServer[],
  parts: EvidenceParts,
): EvidenceSource {
  const byName = new Map(servers.map((server) => [server.name, server]));
  const connections = new Map<string, Promise<Connection>>();
  const ended = new AbortController();
  const closings = new Set<Promise<void>>();
  const linked: ConnectionParts = {
    ...parts,
    signal: ended.signal,
    onClosing: (closing) => {
      closings.add(closing);
      void closing.finally(() => closings.delete(closing));
    },
  };

  const connectionTo = async (name: string, deadlineMs: number): Promise<Connection> => {
    const server = byName.get(name);
    if (server === undefined) {
      throw new EvidenceError('SERVER_UNREACHABLE', name, 'no server of this name is configured');
    }
    for (;;) {
      if (ended.signal.aborted) {
        throw new EvidenceError('SERVER_UNREACHABLE', name, 'the source is closed');
      }
      const pending = connections.get(name);
      if (pending === undefined) {
        const made = connect(server, linked, deadlineMs);
        connections.set(name, made);
        return made;
      }
      const known = await inTime(pending, name, deadlineMs - parts.clock.now());
      if (known?.usable() === true) return known;
      // Whoever comes first makes the next connection, and the others wait for that one.
      if (connections.get(name) === pending) connections.delete(name);
    }
  };

  return {
    servers: servers.map(({ name }) => name),
    list: async (name, deadlineMs) => {
      const connection = await connectionTo(name, deadlineMs);
      return listAll(connection, name, deadlineMs);
    },
    call: async (tool, args, deadlineMs) => {
      const connection = await connectionTo(tool.server, deadlineMs);
      const { name, inputSchema } = tool;
      // The client is given the definition that was vetted, without the peer's schema of its answers.
      const toolDefinition = { name, inputSchema: { ...inputSchema, type: 'object' as const } };
      const result = await connection.request(deadlineMs, (client, time) =>
        client.callTool({ name, arguments: { ...args } }, { ...time, toolDefinition }),
      );
      try {
        return answerOf(result);
      } catch (error) {
        if (!isJsonFault(error)) throw error;
        const message = 'its answer holds what is not acceptable JSON';
        throw new EvidenceError('ANSWER_UNUSABLE', tool.server, message, { cause: error });
      }
    },
    argumentFaults,
    close: async () => {
      ended.abort();
      for (const open of await Promise.allSettled(connections.values())) {
        if (open.status === 'fulfilled') void open.value.close();
      }
      await Promise.all(closings);
    },
  };
}

/** Somebody else's connection, which may take longer than this caller has. */
async function inTime(
  pending: Promise<Connection>,
  server: string,
  ms: number,
): Promise<Connection | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new EvidenceError('SERVER_TIMEOUT', server, NO_ANSWER);
    timer = setTimeout(() => reject(error), Math.max(0, ms));
  });
  try {
    return await Promise.race([pending.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function listAll(
  connection: Connection,
  server: string,
  deadlineMs: number,
): Promise<readonly AdvertisedTool[]> {
  const tools: AdvertisedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < LIMITS.evidencePages.max; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const listed: ListToolsResult = await connection.request(deadlineMs, (client, time) =>
      client.request({ method: 'tools/list', params }, time),
    );
    tools.push(...listed.tools.map((tool) => advertisedBy(server, tool)));
    const { max } = LIMITS.evidenceTools;
    if (tools.length > max) {
      throw new EvidenceError('ANSWER_TOO_LARGE', server, `it offers more than ${max} tools`);
    }
    cursor = listed.nextCursor;
    if (cursor === undefined) return tools;
  }
  const { max } = LIMITS.evidencePages;
  throw new EvidenceError('ANSWER_TOO_LARGE', server, `its list has more than ${max} pages`);
}
