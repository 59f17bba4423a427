// The deterministic planner of incident tickets: the status of the service, then the runbooks, then one
// ticket. It asks by what the requester said and by nothing that was read; what was read reaches the
// action only as a status out of a list and as the name of a runbook.
import type { EvidenceRequest } from '../../core/evidence/gather.ts';
import type { AllowedTool } from '../../core/evidence/vet.ts';
import { LIMITS } from '../../core/limits.ts';
import type { EvidenceRow } from '../../core/model/run.ts';
import type { Miss, PlannedStep, Planner, PlannerInput } from '../../core/ports/planner.ts';
import {
  ACTION_TYPE,
  POLICY_VERSION,
  ticketArguments,
  type Severity,
  type TicketArguments,
} from './action.ts';
import { runbookIn, statusIn, type ServiceStatus } from './reading.ts';

/** The tools that are asked, in this order. */
const TOOLS = ['service_status', 'runbook_search'] as const;
type ToolName = (typeof TOOLS)[number];

/** Failures that may be over a moment later: such a tool is asked once more. */
const PASSING: ReadonlySet<string> = new Set(['SERVER_UNREACHABLE', 'SERVER_TIMEOUT']);
const TRIES = 2;

const SEVERITY: { readonly [S in ServiceStatus]: Severity } = {
  down: 'critical',
  degraded: 'high',
  unknown: 'medium',
  operational: 'medium',
  maintenance: 'low',
};

/** Builds the planner. Each tool is asked at the first server of the allowlist that has it. */
export function incidentPlanner(
  allowlist: readonly Pick<AllowedTool, 'server' | 'name'>[],
): Planner {
  const servers = new Map<string, string>();
  for (const { server, name } of allowlist) {
    if (!servers.has(name)) servers.set(name, server);
  }
  return {
    name: POLICY_VERSION,
    plan: (input) => Promise.resolve(planned(input, servers)),
  };
}

/** What came of one tool. */
interface Asked {
  readonly tool: ToolName;
  readonly server: string | undefined;
  readonly row: EvidenceRow | undefined;
  readonly misses: readonly Miss[];
}

function planned(input: PlannerInput, servers: ReadonlyMap<string, string>): PlannedStep {
  const { run, evidence, misses, budget } = input;
  const asked = TOOLS.map((tool): Asked => {
    const server = servers.get(tool);
    const ofTool = (one: { readonly server: string; readonly tool: string }): boolean =>
      one.server === server && one.tool === tool;
    return { tool, server, row: evidence.find(ofTool), misses: misses.filter(ofTool) };
  });
  const next = asked.find(mayAsk);
  if (next?.server !== undefined && budget > 0) {
    return { next: 'ask', request: requestOf(next.tool, next.server, run) };
  }
  if (evidence.length === 0) {
    const spent = next !== undefined;
    const reason = spent ? 'STEP_BUDGET_EXCEEDED' : 'NO_EVIDENCE';
    return { next: 'give_up', reason, message: `nothing was gathered: ${lacks(asked).join('; ')}` };
  }
  return proposal(run, evidence, asked);
}

function mayAsk({ server, row, misses }: Asked): boolean {
  if (server === undefined || row !== undefined) return false;
  return misses.length < TRIES && misses.every(({ code }) => PASSING.has(code));
}

function requestOf(
  tool: ToolName,
  server: string,
  { service, symptom }: PlannerInput['run'],
): EvidenceRequest {
  if (tool === 'service_status') return { server, tool, arguments: { service } };
  const query = cut(symptom, LIMITS.evidenceQueryChars.max);
  return { server, tool, arguments: { query, service } };
}

function proposal(
  { service, symptom }: PlannerInput['run'],
  evidence: readonly EvidenceRow[],
  asked: readonly Asked[],
): PlannedStep {
  const [statusRow, searchRow] = asked.map(({ row }) => row);
  const status = statusRow && statusIn(statusRow);
  const runbook = (searchRow && runbookIn(searchRow)) ?? null;
  const args: TicketArguments = ticketArguments.parse({
    summary: cut(`${service}: ${symptom}`, LIMITS.titleChars.max),
    description: [
      `Reported: ${symptom}`,
      `Service: ${service}, reported as ${status ?? 'not known'}.`,
      `Runbook: ${runbook ?? 'none found'}.`,
      `Evidence: ${evidence.length} observations, kept with the run.`,
    ].join('\n'),
    ...(status !== undefined && { severity: SEVERITY[status] }),
    runbook,
  });
  const missing = lacks(asked);
  return {
    next: 'propose',
    action: {
      type: ACTION_TYPE,
      target: service,
      arguments: args,
      policy_version: POLICY_VERSION,
    },
    ...(missing.length > 0 && { missing: `The evidence lacks something: ${missing.join('; ')}.` }),
  };
}

/** What the evidence lacks, tool by tool. Codes and our own words only. */
function lacks(asked: readonly Asked[]): readonly string[] {
  return asked.flatMap((one) => {
    const { tool, server, row, misses } = one;
    if (server === undefined) return [`${tool} is not on the allowlist`];
    if (row !== undefined) {
      if (row.is_error) return [`${tool} says that it failed`];
      const read = tool === 'service_status' ? statusIn(row) : runbookIn(row);
      return read === undefined ? [`the answer of ${tool} cannot be used by a program`] : [];
    }
    const last = misses.at(-1);
    const why = last === undefined ? '' : ` (${last.code})`;
    if (mayAsk(one)) return [`the step budget was spent before ${tool} answered${why}`];
    return [`${tool} gave no answer${why}`];
  });
}

/** The first characters of a text, of at most so many UTF-16 units, with a mark where it goes on. */
function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
