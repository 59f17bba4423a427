// Names of assets near to one that was heard: to be proposed in a question, never to be used.
import { formsOf, textOf, type Form } from './asset-forms.ts';
import { LIMITS } from './limits.ts';
import type { Procedure } from './model/procedure.ts';
import { canonicalAsset, foldName } from './names.ts';
import { assetPattern } from './parse-procedure.ts';

type Shape = Procedure['asset'];

/**
 * At most three assets that may be meant by `heard`: those that read the same, or else those near to
 * it, best first. `known` are assets of the tenant; an asset that is not known is proposed only where
 * what was heard has the shape of a procedure's example. Every one fits one of the shapes, and none is
 * what was heard.
 */
export function nearAssets(
  heard: string,
  known: readonly string[],
  shapes: readonly Shape[],
): readonly string[] {
  const forms = formsOf(heard);
  const refused = canonicalAsset(heard);
  const patterns = shapes.map((asset) => assetPattern({ asset }));
  const usable = known.filter(
    (asset) => asset !== refused && patterns.some((pattern) => pattern.test(asset)),
  );
  const scored = usable
    .map((asset) => ({ asset, score: scoreOf(forms, formsOf(asset)) }))
    .filter(({ score }) => score < Infinity)
    .sort((a, b) => a.score - b.score || (a.asset < b.asset ? -1 : 1));
  const same = scored.filter(({ score }) => score === 0).map(({ asset }) => asset);
  const shaped = shapes.flatMap((shape) => shapedAs(shape, forms));
  const exact = [...same, ...shaped].filter((asset) => asset !== refused);
  const chosen = exact.length > 0 ? exact : scored.map(({ asset }) => asset);
  return [...new Set(chosen)].slice(0, LIMITS.assetSuggestions.max);
}

/** How far what was heard is from a name: 0 reads the same, infinity is too far. */
function scoreOf(heard: readonly Form[], asset: readonly Form[]): number {
  const scores = heard.flatMap((a) => asset.map((b) => Math.min(distance(a, b), beyond(a, b))));
  return Math.min(Infinity, ...scores);
}

/** Edits between two forms, as far as a third of the name may differ. */
function distance(heard: Form, asset: Form): number {
  const [a, b] = [textOf(heard), textOf(asset)];
  return editsWithin(a, b, Math.min(3, Math.max(1, Math.floor(b.length / 3))));
}

/** The whole name is in what was heard, and more: it may be one of its kind elsewhere. */
function beyond(heard: Form, asset: Form): number {
  const extra = heard.tokens.length - asset.tokens.length;
  const within =
    extra > 0 && asset.tokens.length > 0 && asset.tokens.every((t) => heard.tokens.includes(t));
  return within && extra <= 4 ? 1 + extra / 2 : Infinity;
}

/** The asset of a shape that was said by its kind, or the words of its label, and one number. */
function shapedAs({ type, example, pattern }: Shape, forms: readonly Form[]): readonly string[] {
  const label = canonicalAsset(example);
  const runs = label.match(/\d+/gu) ?? [];
  if (runs.length !== 1) return [];
  const words = [type, label.replace(/\d+/u, ' ')].map(wordsOf);
  const fits = assetPattern({ asset: { type, example, pattern } });
  return forms
    .filter(({ guessed, tokens }) => !guessed && words.includes(wordsOf(tokens.join(' '))))
    .flatMap(({ tokens }) => tokens.filter((token) => /^\d+$/u.test(token)))
    .map((digits) => label.replace(/\d+/u, digits.padStart(runs[0]?.length ?? 0, '0')))
    .filter((asset) => asset.length <= LIMITS.assetChars.max && fits.test(asset));
}

function wordsOf(text: string): string {
  return (foldName(text).match(/\p{L}+/gu) ?? []).join(' ');
}

/**
 * Insertions, deletions and substitutions between two texts, infinity for more than `most`; only the
 * diagonals that so few can reach are looked at. Source: Levenshtein, Ukkonen.
 */
function editsWithin(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = Array.from({ length: b.length + 1 }, () => Infinity);
    if (i <= most) next[0] = i;
    let least = next[0] ?? Infinity;
    for (let j = Math.max(1, i - most); j <= Math.min(b.length, i + most); j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const [up = Infinity, left = Infinity, diagonal = Infinity] = [
        row[j],
        next[j - 1],
        row[j - 1],
      ];
      const edits = Math.min(up + 1, left + 1, diagonal + same);
      next[j] = edits;
      least = Math.min(least, edits);
    }
    if (least > most) return Infinity;
    row = next;
  }
  const edits = row[b.length] ?? Infinity;
  return edits > most ? Infinity : edits;
}
