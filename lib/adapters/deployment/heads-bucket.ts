// Lists of heads in a bucket whose objects are locked: `heads/2026-03-01/0001.jsonl`. A part is written on
// the condition that none has its name; where the next one goes on stands in its metadata.
// Source: S3 API reference, PutObject (If-None-Match) and HeadObject.
import { HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Fault } from '../../core/fault.ts';
import type { HeadsArchive } from '../../core/ports/heads-archive.ts';
import type { AwsClient } from '../outbound/aws.ts';

/** The bucket, and where it is. */
export interface HeadsBucketOptions {
  readonly bucket: string;
  readonly client?: AwsClient;
}

const CONNECTION_TIMEOUT_MS = 2_000;
const REQUEST_TIMEOUT_MS = 10_000;
const NEXT = 'next';

/** Opens the archive; a connection is made by the first call. */
export function headsBucket({ bucket, client = {} }: HeadsBucketOptions): HeadsArchive {
  const s3 = new S3Client({
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
    },
    // A local endpoint has no names below its own.
    ...(client.endpoint !== undefined && { forcePathStyle: true }),
    ...client,
  });
  const at = (day: string, part: number) => ({
    Bucket: bucket,
    Key: `heads/${day}/${String(part).padStart(4, '0')}.jsonl`,
  });
  return {
    find: async (day, part) => {
      try {
        const { Metadata = {} } = await s3.send(new HeadObjectCommand(at(day, part)));
        return { next: Metadata[NEXT] };
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw unusable(bucket, error);
      }
    },
    keep: async (day, part, text, { next }) => {
      const command = new PutObjectCommand({
        ...at(day, part),
        Body: text,
        ContentType: 'application/jsonl',
        IfNoneMatch: '*',
        ...(next !== undefined && { Metadata: { [NEXT]: next } }),
      });
      try {
        await s3.send(command);
        return true;
      } catch (error) {
        // Also where an answer was lost and the SDK sent the same again.
        if (statusOf(error) === 412) return false;
        throw unusable(bucket, error);
      }
    },
  };
}

function statusOf(error: unknown): number | undefined {
  const { $metadata } = (error ?? {}) as {
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  return $metadata?.httpStatusCode;
}

function unusable(bucket: string, cause: unknown): Fault {
  const why = cause instanceof Error ? cause.name : 'unknown error';
  const what = `the bucket ${bucket} cannot be used: ${why}`;
  return new Fault('retryable', 'BACKEND_UNAVAILABLE', what, { cause });
}
