import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { headsBucket } from '../../../lib/adapters/deployment/heads-bucket.ts';
import type { HeadsArchive } from '../../../lib/core/ports/heads-archive.ts';
import { clientAt } from '../../contract/sinks/subjects.ts';
import { startBucket, type TestBucket } from '../../support/bucket.ts';

const DAY = '2026-03-01';
const PATH = `/lists/heads/${DAY}/0001.jsonl`;

let bucket: TestBucket;
let archive: HeadsArchive;
beforeEach(async () => {
  bucket = await startBucket();
  archive = headsBucket({ bucket: 'lists', client: clientAt(bucket.url) });
});
afterEach(() => bucket.close());

test('a part is kept under its day and number, with a checksum, where none is', async () => {
  expect(await archive.find(DAY, 1)).toBeUndefined();
  expect(await archive.keep(DAY, 1, 'lines\n', { next: 'place' })).toBe(true);
  expect(bucket.objects.get(PATH)).toEqual({
    text: expect.stringContaining('lines\n'),
    next: 'place',
  });
  const put = bucket.received.find(({ method }) => method === 'PUT');
  expect(put?.headers).toMatchObject({ 'if-none-match': '*' });
  // Without one a bucket with a lock takes nothing.
  expect(JSON.stringify(put?.headers)).toMatch(/x-amz-checksum|content-md5/);
  expect(await archive.find(DAY, 1)).toEqual({ next: 'place' });
  expect(await archive.keep(DAY, 12, 'last\n', { next: undefined })).toBe(true);
  expect(await archive.find(DAY, 12)).toEqual({ next: undefined });
});

test('what is kept is never written over', async () => {
  await archive.keep(DAY, 1, 'first\n', { next: undefined });
  expect(await archive.keep(DAY, 1, 'second\n', { next: undefined })).toBe(false);
  expect(bucket.objects.get(PATH)?.text).toContain('first\n');
});

test('a write whose answer is lost is there, and the repeat of it changes nothing', async () => {
  bucket.losingNextAnswer();
  expect(await archive.keep(DAY, 1, 'first\n', { next: 'place' })).toBe(false);
  expect(await archive.find(DAY, 1)).toEqual({ next: 'place' });
});

test.each([403, 503])(
  'an answer %i is a fault that may be tried again, and keeps nothing',
  async (status) => {
    bucket.failing(status, 100);
    const fault = { kind: 'retryable', code: 'BACKEND_UNAVAILABLE' };
    await expect(archive.find(DAY, 1)).rejects.toMatchObject(fault);
    await expect(archive.keep(DAY, 1, 'x\n', { next: undefined })).rejects.toMatchObject(fault);
    expect(bucket.objects.size).toBe(0);
  },
);
