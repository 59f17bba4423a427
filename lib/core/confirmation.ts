// The signed text behind every question: it proves that this was asked of this person, and names
// the occasion. As confirmation token it comes back beside full arguments; as request state beside
// the arguments of the first call, and then also says what they did not.
// What is signed besides, step and value, is recomputed from the call that brings it back.
import { canonicalJson, sameDigest } from './canonical.ts';
import type { Json } from './json.ts';
import { LIMITS } from './limits.ts';
import { shortMac } from './secrets.ts';

/** What can be asked before anything is written. */
export const QUESTIONS = ['value', 'replace', 'witness', 'end', 'workflow', 'person'] as const;

/** Whom and what a question was about; recomputed from a call, never taken from the text. */
export interface Asked {
  readonly tenant: string;
  readonly subject: string;
  readonly step: string;
  readonly value: Json;
}

/** What the text itself says. */
export interface Occasion {
  readonly question: (typeof QUESTIONS)[number];
  /** Empty where the question is which workflow is meant. */
  readonly workflow: string;
  /** The sequence that the question was asked at: of the step's record, or of the tenure. */
  readonly basis: number;
  /** The record that a value takes the place of. */
  readonly replaces?: number;
  /** The subject that a hand-over goes to. */
  readonly to?: string;
}

/** Signs a question for ten minutes from `now` (epoch milliseconds). */
export function signQuestion(
  secret: string,
  asked: Asked,
  occasion: Occasion,
  now: number,
): string {
  const expires = now + LIMITS.confirmationMinutes.max * 60_000;
  const { question, workflow, basis, replaces = null, to = null } = occasion;
  const said = JSON.stringify([
    QUESTIONS.indexOf(question),
    expires,
    workflow,
    basis,
    replaces,
    to,
  ]);
  const payload = Buffer.from(said).toString('base64url');
  return `c2.${payload}.${mac(secret, asked, payload)}`;
}

/** What a text says, unverified: good for finding what it is about, and for nothing else. */
export function occasionOf(text: string): Dated | undefined {
  return partsOf(text)?.occasion;
}

type Dated = Occasion & { readonly expires: number };

function partsOf(
  text: string,
): { readonly occasion: Dated; readonly payload: string; readonly given: string } | undefined {
  const [version, payload, given, ...rest] = text.split('.');
  if (version !== 'c2' || payload === undefined || given === undefined || rest.length > 0) {
    return undefined;
  }
  let said: unknown;
  try {
    said = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(said)) return undefined;
  const [at, expires, workflow, basis, replaces, to] = said as readonly unknown[];
  const question = QUESTIONS[Number(at)];
  if (question === undefined || typeof expires !== 'number') return undefined;
  if (typeof workflow !== 'string' || typeof basis !== 'number') return undefined;
  const occasion = {
    question,
    expires,
    workflow,
    basis,
    ...(typeof replaces === 'number' && { replaces }),
    ...(typeof to === 'string' && { to }),
  };
  return { occasion, payload, given };
}

/** The occasion of a text that was signed for exactly this; `late` once its time is over. */
export function verifyQuestion(
  secret: string,
  asked: Asked,
  text: string,
  now: number,
): (Occasion & { readonly late: boolean }) | undefined {
  const parts = partsOf(text);
  if (parts === undefined) return undefined;
  if (!sameDigest(parts.given, mac(secret, asked, parts.payload))) return undefined;
  const { expires, ...rest } = parts.occasion;
  return { ...rest, late: now >= expires };
}

function mac(secret: string, { tenant, subject, step, value }: Asked, payload: string): string {
  return shortMac(secret, canonicalJson({ tenant, subject, step, value, payload }));
}
