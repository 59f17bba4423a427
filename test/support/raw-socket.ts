/** Bytes on a connection, without any HTTP library to make them right. */
import { connect } from 'node:net';

/** What came back until the other side closed, or until the time was over. */
export interface RawAnswer {
  readonly text: string;
  /** Of the first answer; 0 where the connection was closed without one. */
  readonly status: number;
  /** Whether the other side ended the connection. */
  readonly closed: boolean;
  readonly ms: number;
}

/** Sends parts with a pause between them and collects what comes back. */
export function rawSocket(
  url: string,
  parts: readonly (string | Uint8Array)[],
  { pauseMs = 0, untilMs = 6_000 }: { readonly pauseMs?: number; readonly untilMs?: number } = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const from = performance.now();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port) });
    let done = false;
    const end = (closed: boolean): void => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      socket.destroy();
      const text = Buffer.concat(chunks).toString('latin1');
      const status = Number(/^HTTP\/1\.1 (\d{3})/u.exec(text)?.[1] ?? 0);
      resolve({ text, status, closed, ms: performance.now() - from });
    };
    const timer = setTimeout(() => {
      end(false);
    }, untilMs);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      end(true);
    });
    const send = async (): Promise<void> => {
      for (const part of parts) {
        if (done) return;
        socket.write(part);
        if (pauseMs > 0) await new Promise((next) => setTimeout(next, pauseMs));
      }
    };
    socket.on('connect', () => void send());
  });
}
