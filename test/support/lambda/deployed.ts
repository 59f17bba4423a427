/**
 * A deployment without an account: the bundled function in a process of its own, a Function URL in front,
 * an emulator for the table, and stand-ins for the stores of parameters and secrets.
 */
import { openDeploymentIssuer } from '../../../lib/adapters/identity/deployment-issuer.ts';
import type { OwnToken } from '../../../lib/adapters/identity/own-issuer.ts';
import { startEngine } from '../dynamodb/engine.ts';
import { createTestTable } from '../dynamodb/table.ts';
import { fakeAws, type FakeAws } from './fake-aws.ts';
import { startFunction, type FunctionProcess } from './function-process.ts';
import { functionUrl, type FunctionUrl } from './function-url.ts';
import { tableProxy, type TableProxy } from './table-proxy.ts';

/** What is deployed. */
export interface Deployed {
  /** The URL of the MCP endpoint. */
  readonly url: string;
  readonly aws: FakeAws;
  readonly table: TableProxy;
  readonly front: FunctionUrl;
  readonly lambda: FunctionProcess;
  /** The environment of the function. */
  readonly env: { readonly [name: string]: string };
  token(token: OwnToken): Promise<string>;
  close(): Promise<void>;
}

const PARAMETER = '/checkpoint/test/public-url';
const SECRET = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:checkpoint-AbCdEf';
const ISSUER_SECRET = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:issuer-AbCdEf';
const ISSUER_TEXT = 'b'.repeat(64);

/** Deploys a bundle. `settings` are added to the function's environment. */
export async function deploy(
  bundleFile: string,
  settings: { readonly [name: string]: string } = {},
): Promise<Deployed> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closing.splice(0).toReversed()) await end();
  };
  try {
    const aws = await fakeAws();
    closing.push(() => aws.close());
    const engine = await startEngine();
    closing.push(() => engine.stop());
    const table = await createTestTable(engine.client);
    closing.push(() => table.delete());
    const front = await functionUrl();
    closing.push(() => front.close());
    const url = `${front.url}mcp`;
    aws.parameters.set(PARAMETER, url);
    aws.secrets.set(SECRET, 'a'.repeat(64));
    aws.secrets.set(ISSUER_SECRET, ISSUER_TEXT);
    const { endpoint } = engine.client;
    if (endpoint === undefined) throw new Error('this needs an engine with an address');
    const proxy = await tableProxy(endpoint);
    closing.push(() => proxy.close());
    const env = {
      ...aws.env,
      AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint,
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      POWERTOOLS_SERVICE_NAME: 'checkpoint-test-http',
      CHECKPOINT_TABLE: table.tableName,
      CHECKPOINT_PUBLIC_URL_PARAMETER: PARAMETER,
      CHECKPOINT_SECRET_ID: SECRET,
      CHECKPOINT_ISSUER_SECRET_ID: ISSUER_SECRET,
      ...settings,
    };
    const lambda = await startFunction(bundleFile, env);
    closing.push(() => lambda.stop());
    front.connect((event) => lambda.invoke(event));
    const issuer = await openDeploymentIssuer(ISSUER_TEXT, { now: () => Date.now() });
    const token = (of: OwnToken): Promise<string> => issuer.sign(of);
    return { url, aws, table: proxy, front, lambda, env, token, close };
  } catch (error) {
    await close();
    throw error;
  }
}
