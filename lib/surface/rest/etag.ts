// Entity tags of records: weak, because what is shown beside the record may be worded anew by a later
// release. Source: RFC 9110 sections 8.8.3 and 13.1.2.
import type { Call } from './request.ts';

/** The tag of a record by its version; freezing does not raise the version. */
export function etagOf(record: { readonly version: number; readonly frozen?: unknown }): string {
  return `W/"${record.version}${record.frozen === undefined ? '' : '-frozen'}"`;
}

/** Whether the caller says that it has what the tag stands for. */
export function isKnown(c: Call, etag: string): boolean {
  const header = c.req.header('if-none-match') ?? '';
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, '');
  return header.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag));
}

/** The answer to a caller that has it. */
export const notModified = (etag: string): Response =>
  new Response(null, { status: 304, headers: { etag, 'cache-control': 'no-cache' } });
