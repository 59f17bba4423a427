// One parameter of Parameter Store. Source: AWS Systems Manager API reference, GetParameter.
import { signedRequest, type Account, type SignedRequestLimits } from './signed-request.ts';

/** Reads it, with one attempt more than the first where AWS did not answer or was at fault. */
export async function getParameter(
  account: Account,
  name: string,
  limits: Pick<SignedRequestLimits, 'signal' | 'attemptMs'>,
): Promise<string | undefined> {
  const headers = {
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': 'AmazonSSM.GetParameter',
  };
  const body = JSON.stringify({ Name: name });
  const request = { service: 'ssm', path: '/', headers, body } as const;
  const response = await signedRequest(account, request, { ...limits, attempts: 2 });
  const { Parameter } = (await response.json()) as { readonly Parameter?: { Value?: unknown } };
  return typeof Parameter?.Value === 'string' ? Parameter.Value : undefined;
}
