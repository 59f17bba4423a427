// Bytes to lines, with a bound: what never ends is given up instead of being kept.

/** Takes bytes as they come. */
export interface LineReader {
  push(chunk: Buffer): void;
}

/**
 * Calls `onLine` with each line without its end (LF or CR LF), however the chunks are cut. A line of more
 * than `maxBytes` calls `onTooLong` once; after that nothing is read any more.
 */
export function createLineReader(
  maxBytes: number,
  onLine: (line: Buffer) => void,
  onTooLong: () => void,
): LineReader {
  let parts: Buffer[] = [];
  let length = 0;
  let over = false;
  const add = (part: Buffer): void => {
    length += part.length;
    if (length > maxBytes) {
      over = true;
      parts = [];
      onTooLong();
    } else if (part.length > 0) parts.push(part);
  };
  return {
    push: (chunk) => {
      let start = 0;
      while (!over) {
        const end = chunk.indexOf(0x0a, start);
        add(chunk.subarray(start, end === -1 ? undefined : end));
        if (end === -1 || over) return;
        const line = Buffer.concat(parts);
        parts = [];
        length = 0;
        start = end + 1;
        onLine(line.at(-1) === 0x0d ? line.subarray(0, -1) : line);
      }
    },
  };
}
