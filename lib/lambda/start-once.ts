// Starting a process that many calls wait for: one start at a time, kept once it succeeded.

/** What has started, or undefined while it cannot. */
export type Started<T> = () => Promise<T | undefined>;

/**
 * Answers what `open` gave. A failed start is told to `failed` and tried again by the next call, because
 * a process that gave up would answer nobody until the platform threw it away.
 */
export function startOnce<T>(open: () => Promise<T>, failed: (error: unknown) => void): Started<T> {
  let pending: Promise<T | undefined> | undefined;
  const start = async (): Promise<T | undefined> => {
    try {
      return await open();
    } catch (error) {
      pending = undefined;
      failed(error);
      return undefined;
    }
  };
  return () => (pending ??= start());
}
