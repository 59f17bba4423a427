// What the document says of one route.
import type * as z from 'zod';
import type { Scope } from '../../core/model/principal.ts';

/** One route as it is documented. */
export interface RouteDoc {
  readonly method: 'get' | 'post';
  /** From the root, parameters in braces. */
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Scopes of which one is needed, none where any token will do; absent where no token is needed. */
  readonly scopes?: readonly Scope[];
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Request headers beside those of every route. */
  readonly headers?: z.ZodObject;
  /** Successful answers by status; undefined where an answer has no body. */
  readonly answers: { readonly [status: string]: RouteAnswer };
  /** Problems of this route beside those of every one: status, then the codes. */
  readonly problems?: { readonly [status: string]: readonly string[] };
  /** Problems with members of their own. */
  readonly problemShapes?: { readonly [status: string]: z.ZodType };
}

/** A successful answer. */
export interface RouteAnswer {
  readonly description: string;
  readonly shape?: z.ZodType;
  readonly type?: 'application/json' | 'text/html';
  readonly headers?: { readonly [name: string]: string };
}
