// The list of tools, in the order in which clients see it. Names and texts are frozen once published.
import type { Tool } from './tool.ts';
import { abandonWorkflow, completeWorkflow, handOver, resolveBlock } from './tools/close.ts';
import { getWorkflow, listBlocked, listMyWorkflows } from './tools/look.ts';
import { recordStep } from './tools/record.ts';
import { decideApproval, getRun, investigateIncident, listPendingApprovals } from './tools/runs.ts';
import { listProcedures, startWorkflow, whatCanIDo } from './tools/start.ts';

const EVERYWHERE: readonly Tool[] = [
  listProcedures,
  startWorkflow,
  getWorkflow,
  listMyWorkflows,
  listBlocked,
  recordStep,
  resolveBlock,
  handOver,
  completeWorkflow,
  abandonWorkflow,
  whatCanIDo,
  investigateIncident,
  getRun,
  listPendingApprovals,
];

/** Every tool, in listing order; the one that decides only where a deployment says so. */
export const TOOLS: readonly Tool[] = [...EVERYWHERE, decideApproval];

/** The tools of a deployment. */
export const toolsOf = (approvals: boolean): readonly Tool[] => (approvals ? TOOLS : EVERYWHERE);

const byName: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.listing.name, tool]));

/** A tool by its exact name; names of `Object.prototype` are as unknown as any other. */
export function toolNamed(name: string): Tool | undefined {
  return byName.get(name);
}
