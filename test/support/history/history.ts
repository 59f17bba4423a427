/** What clients asked and were told, and when: the evidence that a history check judges. */

/** One call. `returned` is infinite where no answer came: it took effect at any time, or never. */
export interface Operation<Ask, Told> {
  readonly client: string;
  readonly ask: Ask;
  readonly invoked: number;
  readonly returned: number;
  /** `ok` took effect or repeats what did, `fail` had no effect, of `unknown` nobody can say. */
  readonly end: 'ok' | 'fail' | 'unknown';
  readonly told?: Told;
}

/** Records calls in the order in which they begin and end. */
export class Recorder<Ask, Told> {
  readonly operations: Operation<Ask, Told>[] = [];
  #at = 0;

  /** Sends a call; `judge` says what an answer means, and an error is no answer. */
  async call(
    client: string,
    ask: Ask,
    send: () => Promise<Told>,
    judge: (told: Told) => 'ok' | 'fail' | 'unknown',
  ): Promise<Operation<Ask, Told>> {
    const invoked = this.#at++;
    let operation: Operation<Ask, Told>;
    try {
      const told = await send();
      const end = judge(told);
      const returned = end === 'unknown' ? Number.POSITIVE_INFINITY : this.#at++;
      operation = { client, ask, invoked, returned, end, told };
    } catch {
      operation = { client, ask, invoked, returned: Number.POSITIVE_INFINITY, end: 'unknown' };
    }
    this.operations.push(operation);
    return operation;
  }
}

/** How many calls ended in each way. */
export function ends(operations: readonly Operation<unknown, unknown>[]) {
  const count = (end: Operation<unknown, unknown>['end']): number =>
    operations.filter((one) => one.end === end).length;
  return { ok: count('ok'), fail: count('fail'), unknown: count('unknown') };
}
