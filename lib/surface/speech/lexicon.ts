// What steps, units and values are called, looked up in the procedure version a workflow runs on.
import type { Json } from '../../core/json.ts';
import type { Original } from '../../core/model/workflow.ts';
import { stepOf, type ProcedureRegistry } from '../../core/procedures.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import type { WorkflowView } from '../../core/view.ts';
import { phrase, spokenNumber, spokenSpan } from './words.ts';

/** Names for speech. */
export interface Lexicon {
  /** The title of a step, or a readable form of an id that the procedure lacks. */
  step(view: WorkflowView, id: string): string;
  /**
   * A value with its unit, or undefined where a value is not spoken; what was said in another unit
   * goes before it: "30 psi, that is 2.07 bar".
   */
  value(
    view: WorkflowView,
    id: string,
    value: Json | undefined,
    original?: Original,
  ): string | undefined;
  /** "suction pressure 2.1 bar", "seal: dry", or the title alone. */
  record(view: WorkflowView, id: string, value: Json | undefined, original?: Original): string;
  /** "pump inspection on PUMP-07". */
  work(view: { readonly title: string; readonly asset: string }): string;
  /** The title of a procedure. */
  procedure(id: string): string;
  /** "is due in 25 minutes", "was due 2 hours ago"; no time of day, which differs with the place. */
  due(at: string): string;
}

/** Builds the lexicon of a registry; how far away a time is is said by the clock. */
export function createLexicon(registry: ProcedureRegistry, clock: Pick<Clock, 'now'>): Lexicon {
  const stepAt = (view: WorkflowView, id: string) => {
    const procedure = registry.find(view.procedure, view.procedure_version);
    return procedure === undefined ? undefined : stepOf(procedure, id);
  };

  const step = (view: WorkflowView, id: string): string =>
    phrase(
      stepAt(view, id)?.title ??
        view.steps.find((other) => other.step === id)?.title ??
        'that step',
    );

  const value: Lexicon['value'] = (view, id, said, original) => {
    if (typeof said === 'boolean') return said ? 'yes' : 'no';
    const definition = stepAt(view, id);
    if (typeof said === 'number') {
      if (definition?.kind !== 'reading') return spokenNumber(said);
      const { unit } = definition;
      const recorded = measure(said, unit);
      if (original === undefined) return recorded;
      const other = unit.conversions.find(({ symbol }) => symbol === original.unit);
      return other === undefined
        ? recorded
        : `${measure(original.value, other)}, that is ${recorded}`;
    }
    if (typeof said !== 'string' || definition?.kind !== 'choice') return undefined;
    return phrase(definition.options.find((option) => option.id === said)?.title ?? said);
  };

  return {
    step,
    value,
    record: (view, id, said, original) => {
      const words = value(view, id, said, original);
      if (words === undefined) return step(view, id);
      return `${step(view, id)}${typeof said === 'number' ? '' : ':'} ${words}`;
    },
    work: ({ title, asset }) => `${phrase(title)} on ${phrase(asset, 64)}`,
    procedure: (id) => phrase(registry.find(id)?.title ?? id),
    due: (at) => {
      const left = Date.parse(at) - clock.now();
      return left > 0 ? `is due in ${spokenSpan(left)}` : `was due ${spokenSpan(-left)} ago`;
    },
  };
}

interface Unit {
  readonly spoken: string;
  readonly aliases: readonly string[];
}

function measure(value: number, unit: Unit): string {
  const name = Math.abs(value) === 1 ? singular(unit) : unit.spoken;
  return `${spokenNumber(value)} ${phrase(name)}`;
}

/** The alias that is the spoken form without the "s" of one word, where the unit has one. */
function singular({ spoken, aliases }: Unit): string {
  const words = spoken.split(' ');
  const without = words.map((word, i) => words.with(i, word.replace(/s$/u, '')).join(' '));
  return aliases.find((alias) => alias !== spoken && without.includes(alias)) ?? spoken;
}
