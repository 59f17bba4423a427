import { beforeAll, describe, expect, test } from '@jest/globals';
import { dataFolder, serve, type Served } from '../support/e2e.ts';
import { rawRequest, type Reply } from '../support/raw-http.ts';

const PLACES = [
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/mcp',
];
const issuers = JSON.stringify([
  {
    alias: 'corp',
    issuer: 'https://id.example.com',
    jwks_url: 'https://id.example.com/jwks',
    tenants: ['plant-7'],
  },
  {
    alias: 'old',
    issuer: 'https://old.example.com',
    jwks_url: 'https://old.example.com/jwks',
    tenants: ['plant-7'],
  },
]);

/** A server that others know under a public name, reached on a socket of this machine. */
interface Published {
  readonly get: (path: string, headers?: { readonly [name: string]: string }) => Promise<Reply>;
  readonly post: (body: string) => Promise<Reply>;
}

async function published(publicUrl: string, settings = {}): Promise<Published> {
  const port = await freePort();
  await serve(await dataFolder(), {
    PORT: String(port),
    CHECKPOINT_PUBLIC_URL: publicUrl,
    CHECKPOINT_ISSUERS: issuers,
    ...settings,
  });
  const host = new URL(publicUrl).host;
  const base = `http://127.0.0.1:${port}`;
  return {
    get: (path, headers = {}) =>
      rawRequest(base + path, { method: 'GET', headers: { host, ...headers } }),
    post: (body) =>
      rawRequest(`${base}/mcp`, { headers: { host, 'content-type': 'application/json' }, body }),
  };
}

/** The port of a server that has just ended. */
async function freePort(): Promise<number> {
  const probe: Served = await serve(await dataFolder());
  await probe.stop();
  return Number(new URL(probe.url).port);
}

let alexa: Published;
let standard: Published;

beforeAll(async () => {
  alexa = await published('https://checkpoint.example.com/mcp');
  standard = await published('https://checkpoint.example.com/mcp/', {
    CHECKPOINT_AUTH_PROFILE: 'standard',
  });
});

describe('the protected resource metadata', () => {
  test('A3: is the same JSON at both places, and public even with a bad bearer', async () => {
    const texts: string[] = [];
    for (const place of PLACES) {
      for (const headers of [{}, { authorization: 'Bearer not.a.token' }]) {
        const reply = await alexa.get(place, headers);
        expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json']);
        texts.push(reply.text);
      }
    }
    expect(new Set(texts).size).toBe(1);
  });

  test('A4: names the configured URL, the first issuer first, and only scopes for people', async () => {
    const { body } = await alexa.get(PLACES[0] ?? '');
    expect(body).toEqual({
      resource: 'https://checkpoint.example.com/mcp',
      authorization_servers: ['https://id.example.com', 'https://old.example.com'],
      bearer_methods_supported: ['header'],
      scopes_supported: [
        'procedures:run',
        'procedures:supervise',
        'runs:create',
        'approvals:decide',
        'audit:read',
        'audit:sensitive',
        'ops:admin',
      ],
      resource_name: 'Checkpoint',
    });
  });

  test('A4: keeps a slash at the end where one is configured', async () => {
    for (const place of PLACES) {
      expect((await standard.get(place)).body).toMatchObject({
        resource: 'https://checkpoint.example.com/mcp/',
      });
    }
  });

  test('A7: takes no URL from a header', async () => {
    const { text } = await alexa.get(PLACES[0] ?? '', {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.example',
    });
    expect(text).toBe((await alexa.get(PLACES[0] ?? '')).text);
    expect((await alexa.get(PLACES[0] ?? '', { host: 'evil.example' })).status).toBe(403);
  });
});

describe('the 401', () => {
  test('A1: carries no challenge in the profile that is the default', async () => {
    const { status, headers } = await alexa.post('{}');
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toBeUndefined();
  });

  test('A7: names the configured URL in the challenge of the standard profile', async () => {
    const { status, headers } = await standard.post('{}');
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toBe(
      'Bearer resource_metadata="https://checkpoint.example.com/.well-known/oauth-protected-resource/mcp", scope="procedures:run"',
    );
  });
});
