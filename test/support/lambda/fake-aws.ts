/** Parameter Store and Secrets Manager on a local port, as far as a deployment reads them. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a test puts into them, and what happens to requests. */
export interface FakeAws {
  readonly url: string;
  readonly parameters: Map<string, string>;
  readonly secrets: Map<string, string>;
  /** Every request: the operation and the name it asks for. */
  readonly asked: string[];
  /** The error that every request is answered with, or `hang`; undefined answers. */
  failing: string | undefined;
  /** The environment of a process that is to use them. */
  readonly env: { readonly [name: string]: string };
  close(): Promise<void>;
}

const KINDS = {
  GetParameter: 'parameters',
  GetSecretValue: 'secrets',
} as const;

/** Starts it, empty. */
export async function fakeAws(): Promise<FakeAws> {
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fake: FakeAws = {
    url,
    parameters: new Map(),
    secrets: new Map(),
    asked: [],
    failing: undefined,
    env: {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_SSM: url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: url,
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as { [name: string]: string };
    const [, operation = ''] = String(request.headers['x-amz-target']).split('.');
    const name = asked['Name'] ?? asked['SecretId'] ?? '';
    fake.asked.push(`${operation} ${name}`);
    if (fake.failing === 'hang') return;
    if (fake.failing !== undefined) {
      answer(response, 400, { __type: fake.failing, message: 'no' });
      return;
    }
    const value = fake[KINDS[operation as keyof typeof KINDS]].get(name);
    if (value === undefined) {
      const missing =
        operation === 'GetParameter' ? 'ParameterNotFound' : 'ResourceNotFoundException';
      answer(response, 400, { __type: missing, message: 'none' });
    } else if (operation === 'GetParameter') {
      const ARN = `arn:aws:ssm:eu-central-1:123456789012:parameter${name}`;
      answer(response, 200, { Parameter: { Name: name, Value: value, Type: 'String', ARN } });
    } else {
      answer(response, 200, { Name: name, SecretString: value });
    }
  };
  return fake;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(body));
}
