// The evidence port: read-only tools of other servers. What they say of themselves grants nothing, and
// what they answer is data, never an instruction.
import type { InputFault } from '../input-fault.ts';
import type { Json, JsonObject } from '../json.ts';

/** A tool as a server offers it. `server` is the name from our own configuration. */
export interface AdvertisedTool {
  readonly server: string;
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of its arguments. */
  readonly inputSchema: JsonObject;
  /** True where the server itself says that the tool changes something. */
  readonly writes?: boolean;
}

/** What a tool answered, in full. `text` is the canonical JSON of `data` where there is data. */
export interface ToolAnswer {
  readonly text: string;
  /** The structured content. */
  readonly data?: Json;
  /** True where the tool says that it failed. */
  readonly isError: boolean;
}

/**
 * Servers that can be asked. Both calls settle before `deadlineMs` (epoch milliseconds), whatever the
 * server does, and throw an `EvidenceError` where there is no usable answer.
 */
export interface EvidenceSource {
  /** Names of the configured servers, in the order of the configuration. */
  readonly servers: readonly string[];
  /** What a server offers at this moment. */
  list(server: string, deadlineMs: number): Promise<readonly AdvertisedTool[]>;
  call(tool: AdvertisedTool, args: JsonObject, deadlineMs: number): Promise<ToolAnswer>;
  /** What is wrong with arguments by the tool's own schema. */
  argumentFaults(tool: AdvertisedTool, args: JsonObject): readonly InputFault[];
  /** Ends every connection and every process behind one. */
  close(): Promise<void>;
}

/** Why there is no answer. */
export type EvidenceErrorCode =
  /** No connection, or one that was lost. */
  | 'SERVER_UNREACHABLE'
  /** Nothing in time. */
  | 'SERVER_TIMEOUT'
  /** More than the limits table allows. */
  | 'ANSWER_TOO_LARGE'
  /** An answer that is none, by the protocol or by its shape. */
  | 'ANSWER_UNUSABLE'
  /** The server refused by the protocol's own error. */
  | 'CALL_REFUSED';

/** No usable answer. The message is ours and holds no text of the server. */
export class EvidenceError extends Error {
  override readonly name = 'EvidenceError';
  readonly code: EvidenceErrorCode;
  readonly server: string;
  /** The end of what the process wrote on standard error: for a person, through `display` only. */
  readonly lastWords: string | undefined;

  constructor(
    code: EvidenceErrorCode,
    server: string,
    message: string,
    options: { cause?: unknown; lastWords?: string | undefined } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.server = server;
    this.lastWords = options.lastWords;
  }
}

/** Recognises the error by name, whichever copy of the module made it. */
export function isEvidenceError(error: unknown): error is EvidenceError {
  return error instanceof Error && error.name === 'EvidenceError' && 'code' in error;
}
