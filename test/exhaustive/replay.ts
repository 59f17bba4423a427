// Turns an asynchronous program into a machine whose every state is a value: a program is run from its
// beginning with the answers it has had so far, up to the next call that has none yet. Programs reach
// the world through ports alone, so the same answers always lead to the same call.
import type { Clock, Random } from '../../lib/core/ports/runtime.ts';

/** A call of a port that waits to be carried out. */
export interface Call {
  readonly port: string;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** What a program was answered: by a call, or by the clock, which is read without waiting. */
export type Answer =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'now'; readonly now: number };

/** Where a program stands: at a call, or at its end. `clock` is what it read on the way there. */
export interface Standing {
  readonly clock: readonly Answer[];
  readonly call?: Call;
  readonly end?: { readonly value: unknown } | { readonly error: unknown };
}

/** What a program works with. `port` makes an object every method of which is a call. */
export interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  port<T extends object>(name: string): T;
}

/** A program; `by` is its own name, and no other one has the same. */
export type Program = (ports: Ports, by: string) => Promise<unknown>;

/** Runs a program with the answers so far; the clock shows `now` where it is read anew. */
export async function replay(
  program: Program,
  by: string,
  answers: readonly Answer[],
  now: number,
): Promise<Standing> {
  const clock: Answer[] = [];
  let at = 0;
  let drawn = 0;
  let stopped: ((call: Call) => void) | undefined;
  const stop = new Promise<Standing>((resolve) => {
    stopped = (call) => {
      stopped = undefined;
      resolve({ clock, call });
    };
  });
  const called = (call: Call): Promise<unknown> => {
    const answer = answers[at];
    if (answer === undefined) {
      stopped?.(call);
      // Whatever follows belongs to a later state.
      return new Promise(() => {});
    }
    at += 1;
    if (answer.kind === 'error') return Promise.reject(answer.error as Error);
    if (answer.kind === 'now') throw new Error(`${by} does not repeat itself at ${call.name}`);
    return Promise.resolve(answer.value);
  };
  const ports: Ports = {
    clock: {
      now: () => {
        const answer = answers[at];
        if (answer === undefined) {
          if (stopped !== undefined) clock.push({ kind: 'now', now });
          return now;
        }
        at += 1;
        if (answer.kind !== 'now') throw new Error(`${by} does not repeat itself at the clock`);
        return answer.now;
      },
      sleep: () => Promise.resolve(),
    },
    random: {
      id: () => `${by}-${(drawn += 1)}`,
      key: () => String((drawn += 1)).padStart(64, '0'),
      fraction: () => 0,
    },
    port: <T extends object>(port: string): T =>
      new Proxy({} as T, {
        get: (_, name) =>
          typeof name === 'string' && name !== 'then'
            ? (...args: unknown[]) => called({ port, name, args })
            : undefined,
      }),
  };
  const ended = program(ports, by).then(
    (value): Standing => ({ clock, end: { value } }),
    (error: unknown): Standing => ({ clock, end: { error } }),
  );
  return Promise.race([ended, stop]);
}
