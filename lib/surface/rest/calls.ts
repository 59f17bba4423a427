// How routes call the core: who asks, until when, and pages whose cursors are signed.
import type { Principal } from '../../core/model/principal.ts';
import type { Clock } from '../../core/ports/runtime.ts';
import type { Page } from '../../core/ports/storage.ts';
import type { TenantSecrets } from '../../core/secrets.ts';
import { deadlineOf } from '../host-call.ts';
import { problem } from '../reply.ts';
import { answered, refused, type Refused } from './answers.ts';
import { openCursor, signCursor, type CursorScope } from './cursors.ts';
import type { Call } from './request.ts';

/** What every group of routes is made of. */
export interface CallParts {
  readonly secrets: (tenant: string) => Pick<TenantSecrets, 'cursor'>;
  readonly clock: Clock;
  readonly commandTimeoutMs: number;
}

/** Who reads, and the request in log lines. */
export interface Reading {
  readonly principal: Principal;
  readonly requestId: string;
}

/** Where a page begins and how much it holds. */
interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

interface PageAsked {
  readonly after?: string;
  readonly limit: number;
}

/** Who asks on a route. */
export const reading = (c: Call): Reading => ({
  principal: c.get('principal'),
  requestId: c.get('requestId'),
});

/** The refusal of a cursor that the list did not give. */
export const foreignCursor = (): Response =>
  problem(400, 'INVALID_CURSOR', 'expected a cursor that this list gave');

/** Builds the calls of a group of routes. */
export function createCalls({ secrets, clock, commandTimeoutMs }: CallParts) {
  const deadline = (c: Call): number => {
    const { deadlineMs = Number.POSITIVE_INFINITY } = deadlineOf(c.env);
    return Math.min(clock.now() + commandTimeoutMs, deadlineMs);
  };
  return {
    /** Epoch milliseconds until which a command may write. */
    deadline,
    /** A command of whoever asks, with its key. */
    calling: (c: Call, key: string | undefined) => ({
      ...reading(c),
      deadlineMs: deadline(c),
      ...(key !== undefined && { key }),
    }),
    /** A page of a list whose cursors are signed for exactly this list and query. */
    paged: async <T, V>(
      c: Call,
      { limit, cursor }: PageQuery,
      name: readonly string[],
      list: (
        page: PageAsked,
      ) => Promise<{ readonly code: 'FOUND'; readonly value: Page<T> } | Refused>,
      shown: (items: readonly T[]) => readonly V[],
      more: Readonly<Record<string, unknown>> = {},
    ): Promise<Response> => {
      const { tenant } = c.get('principal');
      const scope: CursorScope = { secret: secrets(tenant).cursor, list: [...name, String(limit)] };
      const after = cursor === undefined ? undefined : openCursor(scope, cursor);
      if (cursor !== undefined && after === undefined) return foreignCursor();
      const found = await list({ limit, ...(after !== undefined && { after }) });
      if (found.code !== 'FOUND') return refused(found);
      const { items, next } = found.value;
      return answered({
        ...more,
        items: shown(items),
        ...(next !== undefined && { next_cursor: signCursor(scope, next) }),
      });
    },
  };
}
