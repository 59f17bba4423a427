/** S3 on a local port, as far as lists of heads are kept in it, with faults on demand. */
import { startReceiver, type Receiver } from './receiver.ts';

/** A bucket that is running. */
export interface TestBucket extends Receiver {
  /** What is kept, by path. */
  readonly objects: ReadonlyMap<string, { readonly text: string; readonly next?: string }>;
  /** Answers so many calls with this status and takes nothing. */
  failing(status: number, times: number): void;
  /** Takes the next write, and answers as if the service had failed. */
  losingNextAnswer(): void;
}

/** Starts it. */
export async function startBucket(): Promise<TestBucket> {
  const objects = new Map<string, { text: string; next?: string }>();
  let failure = { status: 0, times: 0 };
  let loses = false;
  const receiver = await startReceiver((response, _nth, { method, url, headers, body }) => {
    const path = url.split('?')[0] ?? '';
    const next = headers['x-amz-meta-next'];
    const kept = objects.get(path);
    if (failure.times > 0) {
      failure.times -= 1;
      response.writeHead(failure.status).end();
    } else if (method === 'HEAD') {
      if (kept === undefined) response.writeHead(404).end();
      else {
        response
          .writeHead(200, kept.next === undefined ? {} : { 'x-amz-meta-next': kept.next })
          .end();
      }
    } else if (kept !== undefined && headers['if-none-match'] === '*') {
      response.writeHead(412, { 'content-type': 'application/xml' });
      response.end('<Error><Code>PreconditionFailed</Code></Error>');
    } else {
      objects.set(path, { text: body, ...(typeof next === 'string' && { next }) });
      response.writeHead(loses ? 500 : 200).end();
      loses = false;
    }
  });
  return {
    ...receiver,
    objects,
    failing: (status, times) => {
      failure = { status, times };
    },
    losingNextAnswer: () => {
      loses = true;
    },
  };
}
