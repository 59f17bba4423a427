// A loopback proxy that can lose an answer: the request reaches the server, its effect is committed,
// and before one byte of the answer passes, the server is killed.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy in front of whichever server is running. */
export interface SeveringProxy {
  readonly url: string;
  /** Where requests go from now on. */
  target(port: number): void;
  /** Calls `act` when the next answer begins, and never delivers that answer. */
  severNextAnswer(act: () => void): void;
  close(): Promise<void>;
}

/** Starts the proxy on a free loopback port. */
export async function startSeveringProxy(): Promise<SeveringProxy> {
  let targetPort = 0;
  let onAnswer: (() => void) | undefined;
  const sockets = new Set<Socket>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    track(client);
    track(upstream);
    const part = (): void => {
      client.destroy();
      upstream.destroy();
    };
    client.on('error', part).on('close', part);
    upstream.on('error', part).on('close', part);
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      if (onAnswer === undefined) {
        client.write(chunk);
        return;
      }
      const act = onAnswer;
      onAnswer = undefined;
      act();
      part();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    target: (next) => {
      targetPort = next;
    },
    severNextAnswer: (act) => {
      onAnswer = act;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
