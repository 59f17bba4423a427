// Reads a file of which nobody knows how long it is, up to a limit.
import { open } from 'node:fs/promises';

/** The bytes of a file; undefined where there are more than `max`. Throws what the system throws. */
export async function readBounded(file: string, max: number): Promise<Buffer | undefined> {
  const handle = await open(file, 'r');
  try {
    const bytes = Buffer.alloc(max + 1);
    let length = 0;
    while (length <= max) {
      const { bytesRead } = await handle.read(bytes, length, max + 1 - length, null);
      if (bytesRead === 0) return bytes.subarray(0, length);
      length += bytesRead;
    }
    return undefined;
  } finally {
    await handle.close();
  }
}
