// Work on many items, a few at a time.

/** Runs `work` for each item, at most `width` at a time; one that fails does not end the others. */
export async function inParallel<T>(
  items: Iterable<T>,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const faults: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      await work(next.value).catch((error: unknown) => faults.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, width) }, worker));
  if (faults.length > 0) throw faults[0];
}
