// Which `Host` and which `Origin` may speak to this server. Guards a local server against pages
// that reach it by DNS rebinding, and every server against foreign browser origins.

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Says whether a `Host` header value is one of ours. */
export type HostCheck = (host: string) => boolean;

/**
 * Builds the host check: the public URL's name and the configured ones, on any port; names of this
 * machine as well where the public URL is one of them.
 */
export function hostCheck(publicUrl: string, allowedHosts: readonly string[]): HostCheck {
  const own = new URL(publicUrl).hostname;
  const loopback = LOOPBACK.includes(own) ? LOOPBACK : [];
  const names = new Set([own, ...loopback, ...allowedHosts.map((host) => host.toLowerCase())]);
  return (host) => {
    // Anything but a name and a port, such as credentials or a path, would be parsed away.
    if (!/^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?$/iu.test(host)) return false;
    return names.has(host.replace(/:[0-9]{1,5}$/u, '').toLowerCase());
  };
}

/** Says whether an `Origin` header value may call. */
export type OriginCheck = (origin: string) => boolean;

/** Builds the origin check: the configured origins and the server's own. `null` never passes. */
export function originCheck(publicUrl: string, allowedOrigins: readonly string[]): OriginCheck {
  const origins = new Set([new URL(publicUrl).origin, ...allowedOrigins]);
  return (origin) => origins.has(origin);
}

const REQUEST_HEADERS = [
  'authorization',
  'content-type',
  'mcp-protocol-version',
  'mcp-session-id',
  'mcp-method',
  'mcp-name',
  'idempotency-key',
].join(', ');

/** The headers an allowed origin gets on every answer. This is the one place that sets them. */
export function corsHeaders(origin: string): { readonly [name: string]: string } {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'WWW-Authenticate, Mcp-Session-Id',
  };
}

/** The answer to a preflight of an allowed origin. */
export function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST, OPTIONS',
      'access-control-allow-headers': REQUEST_HEADERS,
      'access-control-max-age': '600',
    },
  });
}
