import { canonicalHash } from '../canonical.ts';
import type { AdvertisedTool } from '../ports/evidence.ts';

/**
 * The pin of a tool: SHA-256 over the canonical JSON of its name, description and input schema under a
 * domain tag, 64 lower-case hex digits. The server's name is no part of it, so a server can be renamed.
 * Throws `JsonFault` for a definition that canonical JSON cannot say.
 */
export function definitionHash(
  tool: Pick<AdvertisedTool, 'name' | 'description' | 'inputSchema'>,
): string {
  return canonicalHash({
    domain: 'checkpoint.tool-definition.v1',
    name: tool.name,
    description: tool.description ?? null,
    input_schema: tool.inputSchema,
  });
}
