// What a tool is: its listing, its check of arguments, and one function that answers in words and data.
import type * as z from 'zod';
import type { InputFault } from '../../core/input-fault.ts';
import type { Principal } from '../../core/model/principal.ts';
import type { Refusal } from '../../core/outcome.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import type { ProcedureRegistry } from '../../core/procedures.ts';
import type { Queries } from '../../core/queries.ts';
import type { RunQueries } from '../../core/runs/queries.ts';
import type { RunService } from '../../core/runs/service.ts';
import type { Service } from '../../core/service/service.ts';
import type { Speech } from '../speech.ts';
import type { Ask, Dialogue } from './dialogue.ts';
import { faultsOf } from './arguments.ts';
import { listedSchema, type ObjectSchema } from './schema.ts';

/** Everything a tool works with. */
export interface ToolKit {
  readonly service: Service;
  readonly queries: Queries;
  readonly registry: ProcedureRegistry;
  readonly runs: RunService;
  readonly runQueries: RunQueries;
  /** Whether decisions may come from an assistant. */
  readonly mcpApprovals: boolean;
  readonly speech: Speech;
  readonly clock: Clock;
  /** Milliseconds a command has from the moment its tool is called. */
  readonly commandTimeoutMs: number;
}

/** One call: who calls, and the id that log lines and the answer carry. */
export interface ToolCall {
  readonly principal: Principal;
  readonly requestId: string;
  /** Epoch milliseconds at which the host gives the call up; absent where it waits. */
  readonly deadlineMs?: number;
  /** Absent where nobody can be asked within a call. */
  readonly dialogue?: Dialogue;
}

/** What a tool answers: a sentence to speak, the exact data, and whether it failed. */
export interface ToolAnswer {
  readonly text: string;
  readonly structured: { readonly [name: string]: unknown };
  readonly isError: boolean;
  /** What to ask instead, where the client can; the text is the question. */
  readonly ask?: Ask;
}

/** One answered call, as metrics count it: names and numbers, never what was said. */
export interface ToolCallSeen {
  readonly tool: string;
  /** The outcome's code. */
  readonly code: string;
  readonly duplicate: boolean;
  readonly ms: number;
}

/** Hears of answered calls. */
export type OnToolCall = (seen: ToolCallSeen) => void;

/** How a tool is listed. Frozen once published: clients pin names, texts and schemas. */
export interface ToolListing {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: false;
  };
}

/** A tool as the server dispatches to it. */
export interface Tool {
  readonly listing: ToolListing;
  /** What a caller lacks for it, by the token alone. */
  refusal(principal: Principal): Refusal | undefined;
  call(kit: ToolKit, args: unknown, call: ToolCall): Promise<ToolAnswer>;
}

/** The definition of a tool; `effect` becomes its annotations. */
export interface ToolDefinition<I extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: z.ZodObject;
  readonly effect: 'reads' | 'adds' | 'ends';
  readonly refusal: (principal: Principal) => Refusal | undefined;
  run(kit: ToolKit, args: z.output<I>, call: ToolCall): Promise<ToolAnswer>;
}

/** Builds a tool: its schemas are described when it is first listed; a call answers bad arguments itself. */
export function defineTool<I extends z.ZodType>(definition: ToolDefinition<I>): Tool {
  const { name, title, description, effect, refusal } = definition;
  return {
    refusal,
    listing: {
      name,
      title,
      description,
      get inputSchema() {
        return listedSchema(definition.input, 'input');
      },
      get outputSchema() {
        return listedSchema(definition.output, 'output');
      },
      annotations: {
        readOnlyHint: effect === 'reads',
        destructiveHint: effect === 'ends',
        // A repeat is recognised by key and by state, so it never has a second effect.
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    call: async (kit, args, call) => {
      const parsed = definition.input.safeParse(args);
      if (parsed.success) return definition.run(kit, parsed.data, call);
      return invalidArguments(kit, faultsOf(parsed.error, args), call);
    },
  };
}

/** The answer to arguments that do not fit: which ones, and a sentence that asks again. */
export function invalidArguments(
  kit: Pick<ToolKit, 'speech'>,
  faults: readonly InputFault[],
  { requestId }: ToolCall,
): ToolAnswer {
  return {
    text: kit.speech.faults(faults),
    structured: { code: 'INVALID_ARGUMENT', request_id: requestId, retryable: false, faults },
    isError: true,
  };
}
