// From a request's bytes to JSON, once, for every route: media type, size, UTF-8, strict JSON.
// Knows nothing of what the JSON means.
import { JsonFault, parseJson, type Json, type JsonFaultCode } from '../core/json.ts';
import { LIMITS } from '../core/limits.ts';

/** A body that was not accepted: its status, a stable code, and where in the JSON. */
export interface BodyFault {
  readonly status: 400 | 413 | 415;
  readonly code:
    'UNSUPPORTED_MEDIA_TYPE' | 'BODY_TOO_LARGE' | 'UNREADABLE_BODY' | 'NOT_UTF8' | JsonFaultCode;
  readonly message: string;
  readonly path: string;
}

/** A parsed body or its fault. */
export type BodyResult =
  { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly fault: BodyFault };

/** Reads and parses a JSON body within the limits table. */
export async function readJsonBody(request: Request): Promise<BodyResult> {
  if (!isJson(request.headers)) {
    return refused(415, 'UNSUPPORTED_MEDIA_TYPE', 'the content type has to be application/json');
  }
  let bytes: Uint8Array | undefined;
  try {
    bytes = await readBytes(request, LIMITS.bodyBytes.max);
  } catch {
    return refused(400, 'UNREADABLE_BODY', 'the body could not be read');
  }
  if (bytes === undefined) {
    return refused(413, 'BODY_TOO_LARGE', `the body is larger than ${LIMITS.bodyBytes.max} bytes`);
  }
  let text: string;
  try {
    // The byte order mark is left to the parser, which drops exactly one.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refused(400, 'NOT_UTF8', 'the body is not valid UTF-8');
  }
  try {
    return { ok: true, value: parseJson(text) };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return refused(400, error.code, error.message, error.path);
  }
}

/** Compares the media type as a value; parameters such as `charset` do not matter. */
function isJson(headers: Headers): boolean {
  const essence = (headers.get('content-type') ?? '').split(';')[0] ?? '';
  const encoding = headers.get('content-encoding') ?? 'identity';
  return essence.trim().toLowerCase() === 'application/json' && encoding === 'identity';
}

async function readBytes(request: Request, max: number): Promise<Uint8Array | undefined> {
  const declared = request.headers.get('content-length');
  if (declared !== null && Number(declared) > max) return undefined;
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream, so the rest is never buffered.
    if (size > max) return undefined;
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size);
}

function refused(
  status: BodyFault['status'],
  code: BodyFault['code'],
  message: string,
  path = '',
): BodyResult {
  return { ok: false, fault: { status, code, message, path } };
}
