// Between a Function URL's events (payload format 2.0) and the web's requests and responses.
// Knows no route. What a client sent comes through as it would over a socket.
// Source: Lambda developer guide, "Invoking Lambda function URLs", request and response payloads.
import { isUtf8 } from 'node:buffer';

/** The parts of an event that are read. Some fronts write null for what there is not. */
export interface HttpEvent {
  readonly rawPath: string;
  readonly rawQueryString?: string | null;
  readonly cookies?: readonly string[] | null;
  readonly headers?: { readonly [name: string]: string | null | undefined } | null;
  readonly requestContext: {
    readonly domainName?: string | null;
    readonly http: { readonly method: string };
  };
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean | null;
}

/** What the platform turns into an HTTP answer. */
export interface HttpResult {
  readonly statusCode: number;
  readonly headers: { readonly [name: string]: string };
  readonly cookies?: string[];
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

/** Whether a payload is such an event: a function can be invoked with anything. */
export function isHttpEvent(event: unknown): event is HttpEvent {
  const { rawPath, requestContext } = (event ?? {}) as Partial<HttpEvent>;
  return typeof rawPath === 'string' && typeof requestContext?.http?.method === 'string';
}

/** The request of an event. Throws a `TypeError` where headers or target cannot be sent over HTTP. */
export function requestOf(event: HttpEvent): Request {
  const { method } = event.requestContext.http;
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(event);
  return new Request(urlOf(event), {
    method,
    headers: headersOf(event),
    ...(body !== undefined && { body }),
  });
}

/** The bytes of the body, where there is one. */
export function bodyOf({ body, isBase64Encoded }: HttpEvent): Uint8Array<ArrayBuffer> | undefined {
  if (body === undefined || body === null || body === '') return undefined;
  return Uint8Array.from(Buffer.from(body, isBase64Encoded === true ? 'base64' : 'utf8'));
}

function urlOf({ rawPath, rawQueryString, requestContext, headers }: HttpEvent): string {
  const host = requestContext.domainName ?? headers?.['host'] ?? 'localhost';
  // A path is given decoded by some fronts; these two would begin another part of the URL.
  const path = rawPath.replaceAll('?', '%3F').replaceAll('#', '%23');
  const query = rawQueryString ?? '';
  // Without a slash the path would go on where the host ends.
  const slash = path.startsWith('/') ? '' : '/';
  return `https://${host}${slash}${path}${query === '' ? '' : `?${query}`}`;
}

function headersOf({ headers, cookies }: HttpEvent): Headers {
  const result = new Headers();
  for (const [name, value] of Object.entries(headers ?? {})) {
    // Names that differ in case only are one header with several values, as on the wire.
    if (value !== undefined && value !== null) result.append(name, asBytes(value));
  }
  const sent = (cookies ?? []).join('; ');
  if (sent !== '') result.set('cookie', asBytes(sent));
  return result;
}

/** A header value is bytes; a character beyond them was UTF-8 on the wire. */
function asBytes(value: string): string {
  return /[\u0100-\uFFFF]/.test(value) ? Buffer.from(value, 'utf8').toString('latin1') : value;
}

/** Headers of one connection, and the length, which the platform counts itself. Source: RFC 9110, 7.6.1. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The result of a response. Reads the body to its end: a stream that never ends never answers. */
export async function resultOf(response: Response): Promise<HttpResult> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const isText = isTextual(response.headers) && isUtf8(bytes);
  const cookies = response.headers.getSetCookie();
  const headers = [...response.headers].filter(
    ([name]) => name !== 'set-cookie' && !HOP_BY_HOP.has(name),
  );
  return {
    statusCode: response.status,
    headers: Object.fromEntries(headers),
    ...(cookies.length > 0 && { cookies }),
    body: bytes.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
  };
}

function isTextual(headers: Headers): boolean {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') return false;
  const essence = (headers.get('content-type') ?? 'text/plain').split(';')[0] ?? '';
  return /^(?:text\/.+|application\/(?:.+\+)?(?:json|xml|javascript))$/iu.test(essence.trim());
}
