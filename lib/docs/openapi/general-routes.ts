// Routes about the process itself, as they are documented.
import * as z from 'zod';
import * as shapes from '../../surface/rest/shapes/general.ts';
import type { RouteDoc } from './route.ts';

const tag = 'service';

/** The routes. */
export const GENERAL_ROUTES: readonly RouteDoc[] = [
  {
    method: 'get',
    path: '/health',
    id: 'getHealth',
    tag,
    summary: 'Whether this process can serve',
    answers: { '200': { description: 'It can.', shape: shapes.healthy } },
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'getOpenApi',
    tag,
    summary: 'This document',
    problems: { '404': ['NOT_FOUND'] },
    answers: { '200': { description: 'OpenAPI 3.1.', shape: z.record(z.string(), z.unknown()) } },
  },
  {
    method: 'get',
    path: '/docs',
    id: 'getDocs',
    tag,
    summary: 'This document as a page to read and try',
    answers: { '200': { description: 'HTML.', shape: z.string(), type: 'text/html' } },
  },
  {
    method: 'get',
    path: '/.well-known/oauth-protected-resource',
    id: 'getProtectedResource',
    tag,
    summary: 'Where tokens come from',
    description: 'RFC 9728.',
    answers: { '200': { description: 'The metadata.', shape: shapes.protectedResource } },
  },
];
