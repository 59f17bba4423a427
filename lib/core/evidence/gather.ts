// Gathering evidence for one run: a step budget over an allowlist over a source. Decides what may be
// asked; what is asked next is the planner's business, what it is stored as the run's.
// Invariants: no call without a step; no call of a tool that was not vetted on a listing made for it;
// every observation is marked as untrusted.
import { canonicalJson } from '../canonical.ts';
import type { InputFault } from '../input-fault.ts';
import type { Json, JsonObject } from '../json.ts';
import { LIMITS } from '../limits.ts';
import {
  isEvidenceError,
  type AdvertisedTool,
  type EvidenceErrorCode,
  type EvidenceSource,
} from '../ports/evidence.ts';
import type { Clock } from '../ports/runtime.ts';
import { observationOf, type Observation } from './observation.ts';
import { vetTools, type AllowedTool, type RefusalReason } from './vet.ts';

/** The bounds of gathering. */
export interface GatheringBounds {
  /** Requests for evidence that one run may make, refused ones included. */
  readonly steps: number;
  /** Time of one request, in milliseconds. */
  readonly callTimeoutMs: number;
  /** Bytes of one answer that are kept. */
  readonly outputBytes: number;
}

/** What gathering works with. */
export interface GatheringParts {
  readonly source: EvidenceSource;
  readonly allowlist: readonly AllowedTool[];
  readonly bounds: GatheringBounds;
  readonly clock: Clock;
}

/** A request for evidence, as a planner makes it. */
export interface EvidenceRequest {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** What came of a request. */
export type EvidenceOutcome =
  | {
      readonly code: 'OBSERVED';
      readonly observation: Observation;
      /** The full text that the observation's digest is over. */
      readonly text: string;
      readonly data?: Json;
    }
  | { readonly code: 'TOOL_REFUSED'; readonly reason: RefusalReason | 'NOT_OFFERED' }
  | { readonly code: 'ARGUMENTS_REFUSED'; readonly faults: readonly InputFault[] }
  | { readonly code: EvidenceErrorCode; readonly message: string }
  | { readonly code: 'STEP_BUDGET_EXCEEDED'; readonly steps: number };

/** The gathering of one run. */
export interface Gathering {
  /** Steps that are left. */
  left(): number;
  /** Asks once, before `deadlineMs` at the latest. Never throws for what a server does. */
  ask(request: EvidenceRequest, deadlineMs: number): Promise<EvidenceOutcome>;
}

/** Starts or continues gathering; `spent` steps were taken before. */
export function createGathering(parts: GatheringParts, spent = 0): Gathering {
  const { source, allowlist, bounds, clock } = parts;
  let left = Math.max(0, bounds.steps - spent);
  return {
    left: () => left,
    ask: async (request, deadlineMs) => {
      if (left === 0) return { code: 'STEP_BUDGET_EXCEEDED', steps: bounds.steps };
      left--;
      const listed = allowlist.some(
        ({ server, name }) => server === request.server && name === request.tool,
      );
      if (!listed) return { code: 'TOOL_REFUSED', reason: 'NOT_ON_ALLOWLIST' };
      const until = Math.min(deadlineMs, clock.now() + bounds.callTimeoutMs);
      try {
        return await askVetted(source, allowlist, request, until, bounds.outputBytes);
      } catch (error) {
        if (isEvidenceError(error)) return { code: error.code, message: error.message };
        throw error;
      }
    },
  };
}

async function askVetted(
  source: EvidenceSource,
  allowlist: readonly AllowedTool[],
  { server, tool: name, arguments: args }: EvidenceRequest,
  deadlineMs: number,
  outputBytes: number,
): Promise<EvidenceOutcome> {
  if (!source.servers.includes(server)) return { code: 'TOOL_REFUSED', reason: 'NOT_OFFERED' };
  // Listed for this very call: a definition may have changed since the last one.
  const offered = await source.list(server, deadlineMs);
  const index = offered.findIndex((tool) => tool.name === name);
  const tool = offered[index];
  const vetted = vetTools(offered, allowlist)[index];
  if (tool === undefined || vetted === undefined) {
    return { code: 'TOOL_REFUSED', reason: 'NOT_OFFERED' };
  }
  if (vetted.reason !== null) return { code: 'TOOL_REFUSED', reason: vetted.reason };
  const faults = argumentFaults(source, tool, args);
  if (faults.length > 0) return { code: 'ARGUMENTS_REFUSED', faults };
  const { text, data, isError } = await source.call(tool, args, deadlineMs);
  const definition = vetted.definition ?? '';
  const called = { server, tool: name, arguments: args, definition, is_error: isError };
  return {
    code: 'OBSERVED',
    observation: observationOf(called, text, outputBytes),
    text: text.toWellFormed(),
    ...(data !== undefined && { data }),
  };
}

function argumentFaults(
  source: EvidenceSource,
  tool: AdvertisedTool,
  args: JsonObject,
): readonly InputFault[] {
  const { max } = LIMITS.evidenceArgumentBytes;
  if (Buffer.byteLength(canonicalJson(args)) > max) {
    return [{ path: '', message: `expected at most ${max} bytes` }];
  }
  return source.argumentFaults(tool, args);
}
