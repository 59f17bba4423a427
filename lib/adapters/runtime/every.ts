// Work that is done again and again in a local process, never twice at a time.

/** Work that goes on until it is stopped. */
export interface Recurring {
  /** Begins nothing more, and waits for what is under way. */
  stop(): Promise<void>;
}

/** Does `work` every `ms` milliseconds, from then on after the first pause. Its timer keeps nothing alive. */
export function every(
  ms: number,
  work: (goOn: () => boolean) => Promise<unknown>,
  onError: (error: unknown) => void,
): Recurring {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  const goOn = (): boolean => !stopped;
  const schedule = (): void => {
    timer = setTimeout(() => {
      running = work(goOn)
        .catch(onError)
        .then(() => {
          if (!stopped) schedule();
        });
    }, ms).unref();
  };
  schedule();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
