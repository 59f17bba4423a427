// A cooperative scheduler with a virtual clock: every wait is a step, and a seed decides who goes on.
import { setImmediate } from 'node:timers/promises';
import type { Random } from '../../../lib/core/ports/runtime.ts';

interface Waiter {
  readonly process: string;
  readonly label: string;
  readonly at: number;
  readonly resume: () => void;
}

/** Runs tasks step by step; nothing in it depends on real time. */
export class Scheduler {
  readonly trace: string[] = [];
  readonly #random: Random;
  readonly #dead = new Set<string>();
  #waiters: Waiter[] = [];
  #now: number;

  constructor(random: Random, startMs: number) {
    this.#random = random;
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  /** A whole number from 0 up to `n`, without `n`. */
  pick(n: number): number {
    return Math.floor(this.#random.fraction() * n);
  }

  /** Waits for a turn, at the earliest in `ms` milliseconds; never comes back in a process that crashed. */
  pause(process: string, label: string, ms = 0): Promise<void> {
    return new Promise((resume) => {
      if (this.#dead.has(process)) return;
      this.#waiters.push({ process, label, at: this.#now + Math.ceil(ms), resume });
    });
  }

  /** Nothing of the process goes on, wherever it waits; answers where that was. */
  crash(process: string): readonly string[] {
    this.#dead.add(process);
    const lost = this.#waiters.filter((one) => one.process === process);
    this.#waiters = this.#waiters.filter((one) => one.process !== process);
    return lost.map(({ label }) => label);
  }

  /** Lets tasks go on until none waits; `after` is called when a step is over. */
  async run(after: () => void): Promise<void> {
    for (;;) {
      await setImmediate();
      after();
      if (this.#waiters.length === 0) return;
      const ready = this.#waiters.filter(({ at }) => at <= this.#now);
      if (ready.length === 0) {
        this.#now = Math.min(...this.#waiters.map(({ at }) => at));
        continue;
      }
      const next = ready[this.pick(ready.length)];
      if (next === undefined) throw new Error('somebody is ready');
      this.#waiters.splice(this.#waiters.indexOf(next), 1);
      this.trace.push(`${this.#now} ${next.process} ${next.label}`);
      next.resume();
    }
  }
}
