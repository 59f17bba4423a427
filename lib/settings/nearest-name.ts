/** Finds the name somebody probably meant. It knows no setting. */

/** Number of single-character edits that take one text to the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [row, letter] of from.split('').entries()) {
    const current = [row + 1];
    for (const [column, other] of to.split('').entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1);
      const removed = (previous[column + 1] ?? 0) + 1;
      const added = (current[column] ?? 0) + 1;
      current.push(Math.min(replaced, removed, added));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}

/** The prefix is shared by nearly all names and says nothing about which one was meant. */
function withoutPrefix(name: string): string {
  return name.replace(/^CHECKPOINT_/, '');
}

/**
 * The known name nearest to a wrong one.
 *
 * @returns undefined when nothing is near: more than half of the letters would have to change
 */
export function nearestName(wrong: string, known: readonly string[]): string | undefined {
  const target = withoutPrefix(wrong).slice(0, 64);
  let nearest: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(target, withoutPrefix(name));
    const near = distance <= Math.max(target.length, withoutPrefix(name).length) / 2;
    if (near && distance < (nearest?.distance ?? Infinity)) nearest = { name, distance };
  }
  return nearest?.name;
}
