// Rules over the values of a workflow: the declared ones of a procedure and the coded ones of a domain.
import * as z from 'zod';
import { Fault } from './fault.ts';
import type { Json } from './json.ts';
import { LIMITS } from './limits.ts';
import type { Procedure } from './model/procedure.ts';
import type { DomainPolicy, Finding, RuleInput } from './ports/policy.ts';

const findingsSchema = z.array(
  z.object({
    rule: z.string().min(1).max(LIMITS.idChars.max),
    message: z.string().min(1).max(LIMITS.sentenceChars.max),
    follows: z.enum(['retake', 'record_and_notify', 'block']),
  }),
);

/** Asks a domain's code; what it throws or answers wrongly is a fault, never a recorded value. */
export function codedFindings(
  policy: DomainPolicy | undefined,
  asked: RuleInput,
): readonly Finding[] {
  if (policy?.check === undefined) return [];
  try {
    const answered: unknown = policy.check(asked);
    // A rejected promise that nobody waits for would end the process.
    if (answered instanceof Promise) answered.catch(() => undefined);
    return findingsSchema.parse(answered);
  } catch (cause) {
    const what = `the rules of ${policy.domain} failed on ${asked.procedure}, ${asked.step}`;
    throw new Fault('terminal', 'POLICY_FAILED', what, { cause });
  }
}

/** Asks the declared rules that concern a step. */
export function declaredFindings(
  procedure: Procedure,
  step: string,
  values: { readonly [step: string]: Json },
): readonly Finding[] {
  return procedure.rules.flatMap((rule) => {
    if (rule.step !== step && rule.than !== step) return [];
    const left = values[rule.step];
    const right = values[rule.than];
    if (typeof left !== 'number' || typeof right !== 'number') return [];
    const difference = rule.kind === 'greater_than' ? left - right : right - left;
    // Binary fractions: 0.3 - 0.1 must count as 0.2.
    const broken = rule.margin === 0 ? difference <= 0 : difference < rule.margin - 1e-9;
    return broken ? [{ rule: rule.id, message: rule.message, follows: rule.on_deviation }] : [];
  });
}
