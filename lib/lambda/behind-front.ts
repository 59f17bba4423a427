// An app that is reached through something in front of it only, which proves itself by a secret header.
// Knows nothing of what is in front.
// Invariant: without the secret nothing of a request is looked at but its path.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { HostCall } from '../surface/host-call.ts';
import { refusalAt } from '../surface/reply.ts';

/** What answers requests. */
export interface Served {
  fetch(request: Request, host: HostCall): Response | Promise<Response>;
}

/** The app behind its front. A request that came through it is one to the host of the public URL. */
export function behindFront(
  app: Served,
  {
    header,
    secret,
    publicUrl,
  }: { readonly header: string; readonly secret: string; readonly publicUrl: string },
): Served {
  const expected = digest(secret);
  const { host } = new URL(publicUrl);
  return {
    fetch: (request, call) => {
      const url = new URL(request.url);
      const proof = request.headers.get(header);
      if (proof === null || !timingSafeEqual(digest(proof), expected)) {
        const title = 'this server is reached by its public URL only';
        return refusalAt(url.pathname, 403, 'HOST_NOT_ALLOWED', title);
      }
      url.host = host;
      const headers = new Headers(request.headers);
      headers.delete(header);
      headers.set('host', host);
      return app.fetch(new Request(new Request(url, request), { headers }), call);
    },
  };
}

/** Of one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
