import type { InputFault } from './input-fault.ts';

/** An input that cannot be used, with every fault in it. Nothing was read or written for it. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly faults: readonly InputFault[];

  constructor(faults: readonly InputFault[]) {
    super(faults.map(({ path, message }) => `${path}: ${message}`).join('; '));
    this.faults = faults;
  }
}
