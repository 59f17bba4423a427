// The OpenAPI document, made of the schemas that check requests and shape answers.
import { createDocument, type ZodOpenApiOperationObject } from 'zod-openapi';
import * as z from 'zod';
import { LIMITS } from '../../core/limits.ts';
import { problem } from '../../surface/rest/shapes/common.ts';
import { APPROVAL_ROUTES } from './approval-routes.ts';
import { GENERAL_ROUTES } from './general-routes.ts';
import { OPERATION_ROUTES } from './operation-routes.ts';
import type { RouteAnswer, RouteDoc } from './route.ts';
import { RUN_ROUTES } from './run-routes.ts';
import { WORKFLOW_ROUTES } from './workflow-routes.ts';

/** Every documented route, in the order of the document. */
export const ROUTES: readonly RouteDoc[] = [
  ...RUN_ROUTES,
  ...APPROVAL_ROUTES,
  ...WORKFLOW_ROUTES,
  ...OPERATION_ROUTES,
  ...GENERAL_ROUTES,
];

/** Problems that any route answers, by status. */
export const PROBLEMS: { readonly [status: string]: readonly string[] } = {
  '403': ['HOST_NOT_ALLOWED', 'ORIGIN_NOT_ALLOWED'],
  '500': ['INTERNAL_ERROR'],
  '503': ['BACKEND_UNAVAILABLE'],
  '504': ['BACKEND_UNAVAILABLE'],
};
const WITH_TOKEN = { '401': ['UNAUTHORIZED'], '403': ['FORBIDDEN'], '429': ['RATE_LIMITED'] };
const WITH_ARGUMENTS = { '400': ['INVALID_ARGUMENT'] };
const WITH_BODY = {
  '400': [
    'INVALID_ARGUMENT',
    'INVALID_IDEMPOTENCY_KEY',
    'BAD_REQUEST',
    'UNREADABLE_BODY',
    'NOT_UTF8',
    'and the codes of JSON that cannot be taken',
  ],
  '413': ['BODY_TOO_LARGE'],
  '415': ['UNSUPPORTED_MEDIA_TYPE'],
};

const KEY = z
  .string()
  .min(1)
  .max(LIMITS.idempotencyKeyChars.max)
  .optional()
  .describe(
    `A new random value for each new request; the same value and body again after a lost answer. Kept for ${LIMITS.ledgerDays.max} days.`,
  );

/** Every problem that a route answers: status, then codes. */
export function problemsOf(route: RouteDoc): { readonly [status: string]: readonly string[] } {
  const all: { [status: string]: string[] } = {};
  const groups = [
    PROBLEMS,
    ...(route.scopes === undefined ? [] : [WITH_TOKEN]),
    ...(route.body !== undefined ? [WITH_BODY] : route.query !== undefined ? [WITH_ARGUMENTS] : []),
    route.problems ?? {},
  ];
  for (const group of groups) {
    for (const [status, codes] of Object.entries(group)) {
      all[status] = [...new Set([...(all[status] ?? []), ...codes])];
    }
  }
  return all;
}

/** The document. */
export function openApiDocument() {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of ROUTES) {
    (paths[route.path] ??= {})[route.method] = operation(route);
  }
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Checkpoint',
        version: '1',
        description:
          'Durable procedures and approval-gated runs. Names are snake_case and states lower-case. Errors are problem details (RFC 9457) with a stable `code`. Objects may grow: ignore fields you do not know. Cursors are opaque and belong to one list with its query.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [
        {
          name: 'runs',
          description: 'Incidents: evidence, one exact action, a decision, a write.',
        },
        {
          name: 'approvals',
          description: 'What waits for a decision, of runs and of blocked work.',
        },
        { name: 'procedures', description: 'Work on assets, step by step.' },
        { name: 'operations', description: 'For whoever is on call.' },
        { name: 'service', description: 'The process itself; no token is needed.' },
      ],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        },
      },
      paths,
    },
    {
      override: ({ jsonSchema, io }) => {
        // Answers may grow, so a client must not refuse a field it does not know.
        if (io === 'output' && jsonSchema.additionalProperties === false) {
          delete jsonSchema.additionalProperties;
        }
        // The pattern of a moment says what its format says, in four hundred characters.
        if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      },
    },
  );
}

function operation(route: RouteDoc): ZodOpenApiOperationObject {
  const { id, tag, summary, description, scopes, query, body, headers, answers } = route;
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const header = z.object({
    ...(body !== undefined && { 'Idempotency-Key': KEY }),
    ...headers?.shape,
  });
  const need =
    scopes === undefined || scopes.length === 0
      ? ''
      : `Needs ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;
  const responses = Object.fromEntries([
    ...Object.entries(answers).map(([status, answer]) => [status, response(answer)] as const),
    ...Object.entries(problemsOf(route)).map(
      ([status, codes]) =>
        [
          status,
          {
            description: codes.join(', '),
            content: {
              'application/problem+json': { schema: route.problemShapes?.[status] ?? problem },
            },
          },
        ] as const,
    ),
  ]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, need].filter((text) => text !== undefined && text !== '').join(' '),
    security: scopes === undefined ? [] : [{ bearer: [...scopes] }],
    requestParams: {
      ...(names.length > 0 && {
        path: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))),
      }),
      ...(query !== undefined && { query }),
      ...(Object.keys(header.shape).length > 0 && { header }),
    },
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
    }),
    responses,
  };
}

function response({ description, shape, type = 'application/json', headers = {} }: RouteAnswer) {
  const described = Object.entries(headers).map(
    ([name, text]) => [name, { description: text, schema: { type: 'string' as const } }] as const,
  );
  return {
    description,
    ...(described.length > 0 && { headers: Object.fromEntries(described) }),
    ...(shape !== undefined && { content: { [type]: { schema: shape } } }),
  };
}
