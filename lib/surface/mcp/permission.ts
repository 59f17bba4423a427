// What a message needs that its caller's token does not give, known before anything is dispatched,
// because it chooses the HTTP status. The core decides again on its own.
import { refusalForReading } from '../../core/authorize.ts';
import type { Principal } from '../../core/model/principal.ts';
import type { Refusal } from '../../core/outcome.ts';
import { CHALLENGE_SCOPE } from '../discovery.ts';
import { PERSON_NEEDED } from '../speech.ts';
import type { RpcMessage } from './message.ts';
import { refusalForResource } from './resources.ts';
import { toolNamed } from './tools.ts';

type Forbidden = Extract<Refusal, { code: 'FORBIDDEN' }>;

/** How a missing permission is told apart in HTTP, by profile. */
export interface PermissionProfile {
  /** Whether a missing scope is a 403; otherwise the tool or the resource says it. */
  readonly scopeIsStatus: boolean;
  /** Headers of a 403, for a client that could ask for more. */
  readonly challenge: (scope: string) => { readonly [name: string]: string };
}

/**
 * The 403 to a message, or undefined where it may go on: a service that asks for what only a person
 * may have, in every profile, and a missing scope where the profile says so.
 */
export function forbidden(
  message: RpcMessage,
  principal: Principal,
  profile: PermissionProfile,
  words: (refusal: Refusal) => string,
): Response | undefined {
  const refusal = refusalOf(message, principal);
  if (refusal === undefined) return undefined;
  const person = refusal.why === 'person';
  if (!person && !profile.scopeIsStatus) return undefined;
  const body = person
    ? { error: 'forbidden', message: PERSON_NEEDED }
    : { error: 'insufficient_scope', message: words(refusal) };
  const scope = person ? undefined : refusal.need;
  return Response.json(body, {
    status: 403,
    headers: { 'cache-control': 'no-store', ...profile.challenge(scope ?? CHALLENGE_SCOPE) },
  });
}

function refusalOf({ method, params }: RpcMessage, principal: Principal): Forbidden | undefined {
  const refusal = needOf(method, params ?? {}, principal);
  return refusal?.code === 'FORBIDDEN' ? refusal : undefined;
}

function needOf(
  method: string,
  params: { readonly [name: string]: unknown },
  principal: Principal,
): Refusal | undefined {
  switch (method) {
    case 'tools/call': {
      const { name } = params;
      return typeof name === 'string' ? toolNamed(name)?.refusal(principal) : undefined;
    }
    case 'resources/read': {
      const { uri } = params;
      return typeof uri === 'string' ? refusalForResource(principal, uri) : undefined;
    }
    case 'prompts/get':
      return refusalForReading(principal);
    case 'completion/complete': {
      const { ref } = params;
      const about = typeof ref === 'object' && ref !== null && 'uri' in ref ? ref.uri : undefined;
      return about === 'procedure://{id}' ? undefined : refusalForReading(principal);
    }
    default:
      return undefined;
  }
}
