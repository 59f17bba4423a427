// The OpenAPI document and the interactive page over it. Everything comes from this very server: no other
// host is named, and the policy of the page forbids one.
import { Hono } from 'hono';
import type { Pages } from '../core/ports/pages.ts';
import type { HostCall } from './host-call.ts';
import { problem } from './reply.ts';

/** Nothing inline and nothing from elsewhere; icons are data of the style sheet. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Checkpoint: REST</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<noscript>This page needs JavaScript; the document is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#page',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  persistAuthorization: false,
});
`;

const FILES = ['swagger-ui-bundle.js', 'swagger-ui.css'] as const;

/** The routes; none of them needs a token, because the document holds nothing of anybody. */
export function docsPage(pages: Pages): Hono<{ Bindings: HostCall }> {
  const app = new Hono<{ Bindings: HostCall }>({ strict: false });
  const file = async (name: string): Promise<Response> => {
    const found = await pages.file(name);
    if (found === undefined) return problem(404, 'NOT_FOUND', 'this file is not served here');
    const headers = { ...HEADERS, 'content-type': found.type, 'cache-control': 'max-age=3600' };
    return new Response(found.bytes, { headers });
  };
  const text = (body: string, type: string): Response =>
    new Response(body, {
      headers: {
        ...HEADERS,
        'content-type': `${type}; charset=utf-8`,
        'cache-control': 'no-cache',
      },
    });
  app.get('/openapi.json', () => file('openapi.json'));
  app.get('/docs', () => text(PAGE, 'text/html'));
  app.get('/docs/start.js', () => text(START, 'text/javascript'));
  for (const name of FILES) app.get(`/docs/${name}`, () => file(name));
  return app;
}

/** The paths of the page, for the answer to other methods. */
export const DOCS_PATHS: readonly string[] = [
  '/openapi.json',
  '/docs',
  '/docs/start.js',
  ...FILES.map((name) => `/docs/${name}`),
];
