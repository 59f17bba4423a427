/** A file that cannot be used, with the place in it: what an operator has to repair. */
export class FileFault extends Error {
  override readonly name = 'FileFault';

  /** `file` is relative to the folder; `line` counts from 1, and is left out where there is none. */
  constructor(file: string, what: string, line?: number) {
    super(line === undefined ? `${file}: ${what}` : `${file} line ${line}: ${what}`);
  }
}

/** A call that cannot be answered as it was made. */
export class CallFault extends Error {
  override readonly name = 'CallFault';
}
