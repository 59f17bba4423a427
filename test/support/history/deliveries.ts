/**
 * A target of notifications as a sequential object, one for each thing that is told: it is told under one id
 * for good, however often, and whether or not its answer came back.
 */
import { Recorder, type Operation } from './history.ts';
import { linearizable, type Model } from './linearizable.ts';

/** A request: what it tells of, and the id that it carries. */
export interface Delivery {
  readonly of: string;
  readonly id: string;
}

/** What was told so far is known by this id. */
const told: Model<string | undefined, Delivery, true> = {
  first: undefined,
  key: (id) => id ?? '',
  step: (id, { ask }) => (id === undefined || id === ask.id ? ask.id : undefined),
};

/** Records requests as they arrive; `answered` says whether their sender heard of it. */
export class Deliveries {
  readonly #recorder = new Recorder<Delivery, true>();

  get operations(): readonly Operation<Delivery, true>[] {
    return this.#recorder.operations;
  }

  async arrived(sender: string, delivery: Delivery, answered: boolean): Promise<void> {
    await this.#recorder.call(
      sender,
      delivery,
      () => (answered ? Promise.resolve(true as const) : Promise.reject(new Error('cut'))),
      () => 'ok',
    );
  }
}

/** What was told under more than one id. */
export function doubled(operations: readonly Operation<Delivery, true>[]): readonly string[] {
  return [...Map.groupBy(operations, ({ ask }) => ask.of)].flatMap(([of, those]) =>
    linearizable(those, told).linearizable ? [] : of,
  );
}
