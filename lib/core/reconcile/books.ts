// R8, the books: pointers that disagree with the workflow are rebuilt from it.
import { appended, appendedPlan } from '../decide/appended.ts';
import { FORMAT, type Pointer, type Workflow } from '../model/workflow.ts';
import type { CommitPlan } from '../plan.ts';
import type { RuleFunction } from './rules.ts';

/** The pointer that a workflow's holder has, or ought to have. */
export function pointerOf({ tenant, holder, id, asset, procedure, created_at }: Workflow): Pointer {
  const names = { tenant, subject: holder.subject, workflow: id, asset, procedure };
  return { format: FORMAT, ...names, since: created_at };
}

/** The rule. */
export const books: RuleFunction = ({ workflow, pointers }, context) => {
  const active = workflow.state !== 'COMPLETED';
  const { subject } = workflow.holder;
  const changes: CommitPlan['pointers'][number][] = [];
  if (active && !agrees(workflow, pointers.get(subject))) {
    changes.push({ op: 'add', pointer: pointerOf(workflow) });
  }
  for (const [other, pointer] of pointers) {
    if (pointer === undefined || (active && other === subject)) continue;
    changes.push({ op: 'remove', subject: other });
  }
  if (changes.length === 0) return undefined;
  const people = changes.map((change) =>
    change.op === 'add' ? change.pointer.subject : change.subject,
  );
  const appendix = appended(workflow, context, 'pointers_rebuilt', { people, rule: 'R8' });
  const plan = appendedPlan(workflow, context, appendix, { pointers: changes });
  const finding = `the lists of ${people.length} people disagree with ${workflow.id}`;
  return { rule: 'R8', finding, work: { kind: 'plan', plan } };
};

/** Since when somebody has it may differ: it is only the order of a list. */
function agrees({ asset, procedure }: Workflow, pointer: Pointer | undefined): boolean {
  return pointer?.asset === asset && pointer.procedure === procedure;
}
