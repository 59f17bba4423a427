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

/** The questions, in this order; the last one only where no runbook is for the service by its name. */
type Question = 'status' | 'runbooks' | 'other runbooks';
const TOOL_OF: { readonly [Q in Question]: string } = {
  status: 'service_status',
  runbooks: 'runbook_search',
  'other runbooks': 'runbook_search',
};

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

/** What came of one question. */
interface Asked {
  readonly question: Question;
  readonly tool: string;
  readonly server: string | undefined;
  readonly row: EvidenceRow | undefined;
  readonly misses: readonly Miss[];
}

function planned(input: PlannerInput, servers: ReadonlyMap<string, string>): PlannedStep {
  const { run, evidence, misses, budget } = input;
  const of = (question: Question): Asked => {
    const tool = TOOL_OF[question];
    const server = servers.get(tool);
    const ofTool = (one: { readonly server: string; readonly tool: string }): boolean =>
      one.server === server && one.tool === tool;
    const named = question !== 'other runbooks';
    const row = evidence.find((one) => ofTool(one) && 'service' in one.arguments === named);
    return { question, tool, server, row, misses: misses.filter(ofTool) };
  };
  const named = of('runbooks');
  const none = named.row !== undefined && runbookIn(named.row) === null;
  const asked = [of('status'), named, ...(none ? [of('other runbooks')] : [])];
  const next = asked.find(mayAsk);
  if (next?.server !== undefined && budget > 0) {
    const { server, tool } = next;
    return { next: 'ask', request: { server, tool, arguments: argumentsOf(next.question, run) } };
  }
  if (evidence.length === 0) {
    const reason = next === undefined ? 'NO_EVIDENCE' : 'STEP_BUDGET_EXCEEDED';
    return { next: 'give_up', reason, message: `nothing was gathered: ${lacks(asked).join('; ')}` };
  }
  return proposal(run, evidence, asked);
}

function mayAsk({ server, row, misses }: Asked): boolean {
  if (server === undefined || row !== undefined) return false;
  return misses.length < TRIES && misses.every(({ code }) => PASSING.has(code));
}

function argumentsOf(
  question: Question,
  { service, symptom }: PlannerInput['run'],
): EvidenceRequest['arguments'] {
  const { max } = LIMITS.evidenceQueryChars;
  switch (question) {
    case 'status':
      return { service };
    case 'runbooks':
      return { query: cut(symptom, max), service };
    case 'other runbooks':
      return { query: cut(`${service} ${symptom}`, max) };
  }
}

function proposal(
  { service, symptom }: PlannerInput['run'],
  evidence: readonly EvidenceRow[],
  asked: readonly Asked[],
): PlannedStep {
  const [statusRow, ...searches] = asked.map(({ row }) => row);
  const status = statusRow && statusIn(statusRow);
  const found = searches.map((row) => (row === undefined ? undefined : runbookIn(row)));
  const runbook = found.find((name) => typeof name === 'string') ?? null;
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
    const { question, tool, server, row, misses } = one;
    if (server === undefined) return [`${tool} is not on the allowlist`];
    if (row !== undefined) {
      if (row.is_error) return [`${tool} says that it failed`];
      const read = question === 'status' ? statusIn(row) : runbookIn(row);
      if (read === undefined) return [`the answer of ${tool} cannot be used by a program`];
      if (question !== 'other runbooks') return [];
      return [
        `no runbook is for this service by its name${read === null ? ', and none fits' : ''}`,
      ];
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
