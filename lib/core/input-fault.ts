/** One fault of an input: a JSON pointer (RFC 6901) and what was expected there. */
export interface InputFault {
  readonly path: string;
  readonly message: string;
}
