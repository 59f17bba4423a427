// A client that suits short commands: connections are kept, nothing waits for long, and a transport
// failure is tried again a few times within one call.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** Where a client sends to. */
export interface DynamoClientOptions {
  /** An emulator; left out, the service of the region. */
  readonly endpoint?: string;
  /** Left out, the region of the environment. */
  readonly region?: string;
  /** Left out, those of the environment. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Sends of one call at most: the first, and two more where the transport failed. */
const MAX_ATTEMPTS = 3;
const CONNECTION_TIMEOUT_MS = 500;
const REQUEST_TIMEOUT_MS = 1_500;
const MAX_SOCKETS = 64;

/** Builds a client. It connects with its first call; whoever builds it destroys it. */
export function createDynamoClient(options: DynamoClientOptions = {}): DynamoDBDocumentClient {
  const { endpoint, region, credentials } = options;
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS };
  const client = new DynamoDBClient({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    ...(credentials !== undefined && { credentials }),
  });
  return DynamoDBDocumentClient.from(client);
}
