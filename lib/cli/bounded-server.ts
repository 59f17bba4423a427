// The HTTP server of `checkpoint serve`, before anything answers on it.
import { createServer, type Server } from 'node:http';
import { LIMITS } from '../core/limits.ts';

/**
 * A server on which a connection that says little, or says it slowly, is over soon: a caller who
 * waits longer than this has been given up by every assistant.
 */
export function createBoundedServer(): Server {
  const server = createServer({
    headersTimeout: LIMITS.requestMs.max,
    requestTimeout: LIMITS.requestMs.max,
    connectionsCheckingInterval: 500,
    keepAliveTimeout: LIMITS.idleMs.max,
    // The bytes of target, names and values; Node refuses the very size it is given.
    maxHeaderSize: LIMITS.headerBytes.max + 1,
  });
  server.maxConnections = LIMITS.connections.max;
  return server;
}
