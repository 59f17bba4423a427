// A result of a tool as text: what is hashed, kept and shown. Structured content is the evidence where
// there is some; what is no text is named instead of shown.
import type { CallToolResult, ContentBlock, Tool } from '@modelcontextprotocol/client';
import { canonicalJson } from '../../core/canonical.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { AdvertisedTool, ToolAnswer } from '../../core/ports/evidence.ts';

/** Throws `JsonFault` for structured content that canonical JSON cannot say. */
export function answerOf(result: CallToolResult): ToolAnswer {
  const isError = result.isError === true;
  const data = result.structuredContent as Json | undefined;
  if (data !== undefined) return { text: canonicalJson(data), data, isError };
  return { text: result.content.map(textOf).join('\n').toWellFormed(), isError };
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource':
      return 'text' in block.resource
        ? block.resource.text
        : `[a resource of ${block.resource.blob.length} characters in base64 is not shown]`;
    case 'resource_link':
      return `[a link to a resource is not followed: ${block.uri}]`;
    case 'image':
    case 'audio':
      return `[${block.type} of ${block.data.length} characters in base64 is not shown]`;
    default:
      return '[content of an unknown kind is not shown]';
  }
}

/** A tool as a server lists it. */
export function advertisedBy(server: string, tool: Tool): AdvertisedTool {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  const writes = readOnlyHint === false || (destructiveHint === true && readOnlyHint !== true);
  return {
    server,
    name: tool.name,
    ...(tool.description !== undefined && { description: tool.description }),
    inputSchema: tool.inputSchema as JsonObject,
    ...(writes && { writes }),
  };
}
