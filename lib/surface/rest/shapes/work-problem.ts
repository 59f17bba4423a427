// The problem of a command on work: what every problem has, and what a second call gives back.
import * as z from 'zod';
import { jsonObject, problem } from './common.ts';
import { workflow } from './workflows.ts';

/** Why a command on work was not carried out. */
export const workProblem = problem
  .extend({
    about: jsonObject.optional().describe('What the code is about, in fields of its own.'),
    choices: z
      .array(
        z.object({
          workflow_id: z.string().optional(),
          asset: z.string().optional(),
          procedure: z.string().optional(),
          title: z.string().optional(),
          subject: z.string().optional(),
          name: z.string().optional(),
        }),
      )
      .optional(),
    total: z.int().optional(),
    confirmation_token: z.string().optional(),
    replaces: z.int().optional(),
    confirms: z.int().optional(),
    tenure: z.int().optional(),
    to: z.string().optional(),
    workflow: workflow.optional(),
  })
  .meta({ id: 'WorkProblem' });
