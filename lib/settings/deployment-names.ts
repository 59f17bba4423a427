/**
 * Names under which a deployment is found: fixed, so that neither the functions nor the command line has
 * to be told of anything but the stage. Plain data.
 */

/** The stacks of a stage. */
export function stackNames(stage: string) {
  return { data: `checkpoint-${stage}-data`, service: `checkpoint-${stage}-service` } as const;
}

/** The parameters of a stage in Parameter Store. */
export function parameterNames(stage: string) {
  return {
    /** The URL of the MCP endpoint. */
    publicUrl: `/checkpoint/${stage}/public-url`,
    /** The name of the table. */
    table: `/checkpoint/${stage}/table`,
    /** The ARN of the secret that the deployment's own issuer is derived from, where it has one. */
    issuerSecret: `/checkpoint/${stage}/issuer-secret`,
  } as const;
}

/** The outputs of the service stack that a person needs. */
export const OUTPUTS = {
  mcpUrl: 'McpUrl',
  clientConfiguration: 'ClientConfiguration',
  /** Where the name of one's own domain has to point to; only with a front. */
  frontDomain: 'FrontDomain',
} as const;

/** The header by which what is in front of the function proves itself; it goes no further. */
export const FRONT_HEADER = 'x-checkpoint-front';

/** Whether a stage is there to be thrown away: it cleans up, and may sign tokens itself. */
export function isDevelopment(stage: string): boolean {
  return stage === 'dev';
}
