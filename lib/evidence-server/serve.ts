// Serves over the process's own streams, and ends with them. Whatever else writes to standard output is
// sent to standard error: one such line would break the protocol.
import { Writable } from 'node:stream';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { evidenceServer } from './server.ts';

/** Serves a folder until the input ends or the process is asked to stop; then the process ends. */
export function serveEvidence(folder: string, version: string): void {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const wire = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      write(chunk, done);
    },
  });
  const end = (): void => {
    void handle.close().finally(() => process.exit(0));
  };
  // A client that is gone reads nothing any more.
  process.stdout.on('error', () => process.exit(0));
  const handle = serveStdio(() => evidenceServer(folder, version), {
    transport: new StdioServerTransport(process.stdin, wire),
    onerror: () => undefined,
  });
  process.stdin.once('end', end).once('close', end);
  process.once('SIGTERM', end).once('SIGINT', end);
}
