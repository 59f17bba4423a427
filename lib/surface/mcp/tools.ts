// The list of tools, in the order in which clients see it. Names and texts are frozen once published.
import type { Tool } from './tool.ts';
import { abandonWorkflow, completeWorkflow, handOver, resolveBlock } from './tools/close.ts';
import { getWorkflow, listBlocked, listMyWorkflows } from './tools/look.ts';
import { recordStep } from './tools/record.ts';
import { listProcedures, startWorkflow, whatCanIDo } from './tools/start.ts';

/** Every tool, in listing order. */
export const TOOLS: readonly Tool[] = [
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
];

const byName: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.listing.name, tool]));

/** A tool by its exact name; names of `Object.prototype` are as unknown as any other. */
export function toolNamed(name: string): Tool | undefined {
  return byName.get(name);
}
