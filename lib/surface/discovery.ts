// Discovery for OAuth clients: the protected resource metadata and where it is.
// Every URL comes from the configured public URL, never from a header. Source: RFC 9728.

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Scopes a client may ask for: what people use, not what services do. */
const SCOPES_SUPPORTED = [
  'procedures:run',
  'procedures:supervise',
  'runs:create',
  'approvals:decide',
  'audit:read',
  'audit:sensitive',
  'ops:admin',
] as const;

/** What the challenge of the standard profile asks for. */
export const CHALLENGE_SCOPE = 'procedures:run';

/** The document and its places. */
export interface Discovery {
  /** The absolute URL that a challenge names. */
  readonly metadataUrl: string;
  /** Paths, without a slash at the end, that serve the document. */
  readonly paths: readonly string[];
  document(): Response;
}

/** Builds discovery for a public MCP URL; `resource` in the document is exactly that URL. */
export function createDiscovery(
  publicUrl: string,
  authorizationServers: readonly string[],
): Discovery {
  const { origin, pathname } = new URL(publicUrl);
  const own = `${WELL_KNOWN}${pathname.replace(/\/$/u, '')}`;
  const body = JSON.stringify({
    resource: publicUrl,
    // RFC 9728 section 3.2: an empty list is left out.
    ...(authorizationServers.length > 0 && { authorization_servers: authorizationServers }),
    bearer_methods_supported: ['header'],
    scopes_supported: SCOPES_SUPPORTED,
    resource_name: 'Checkpoint',
  });
  const paths = new Set([WELL_KNOWN, `${WELL_KNOWN}/mcp`, own, `/mcp${WELL_KNOWN}`]);
  return {
    metadataUrl: `${origin}${own}`,
    paths: [...paths],
    document: () =>
      new Response(body, {
        headers: { 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' },
      }),
  };
}
