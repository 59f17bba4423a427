import type { RawRequest } from '../../support/raw-http.ts';

/** Who sends a row's request: an account, a token that is not valid, or nobody. */
export type Bearer =
  'ana' | 'service' | 'other folder' | 'expired' | 'forged' | 'other audience' | 'other issuer';

/** One line of a contract: a request over the socket and what has to come back. */
export interface ContractRow {
  readonly row: string;
  readonly fact: string;
  /** Ana where left out; null for a request without a token. */
  readonly bearer?: Bearer | null;
  /** Path and query; the endpoint where left out. */
  readonly path?: string;
  readonly request: RawRequest;
  readonly status: number;
  /** Headers that have this value, or that are not there. */
  readonly headers?: { readonly [name: string]: string | undefined };
  /** The whole body as text. */
  readonly text?: string;
  /** What the body contains as JSON. */
  readonly body?: object;
}

/** The headers of a POST in the handshake era. */
export const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/** A POST of a body that is given as it is. */
export function post(body: string | Uint8Array, headers: RawRequest['headers'] = {}): RawRequest {
  return { body, headers: { ...JSON_HEADERS, ...headers } };
}

/** The text of a request. */
export function message(method: string, params: object = {}, id: unknown = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

/** The answer to a ping. */
export const PONG = { jsonrpc: '2.0', id: 1, result: {} };

/** The body of every 401. */
export const UNAUTHORIZED =
  '{"error":"unauthorized","message":"Access token required to use this tool."}';
