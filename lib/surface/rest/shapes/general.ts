// Answers about the process itself.
import * as z from 'zod';

/** The answer of a process that can serve. */
export const healthy = z
  .object({ status: z.literal('ok'), version: z.string() })
  .meta({ id: 'Healthy' });

/** Where tokens come from. Source: RFC 9728. */
export const protectedResource = z
  .object({
    resource: z.string(),
    authorization_servers: z.array(z.string()).optional(),
    bearer_methods_supported: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    resource_name: z.string(),
  })
  .meta({ id: 'ProtectedResource' });
