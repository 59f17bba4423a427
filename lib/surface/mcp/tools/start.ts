// The tools around starting: which procedures there are, what can be done, and the start itself.
import * as z from 'zod';
import { refusalFor } from '../../../core/authorize.ts';
import { LIMITS } from '../../../core/limits.ts';
import { idempotencyKey } from '../arguments.ts';
import { helpOutput, proceduresOutput, startOutput } from '../output.ts';
import { bounded } from '../schema.ts';
import { done, fitting } from '../structured.ts';
import { defineTool } from '../tool.ts';
import { runCommand } from './run-command.ts';

/** Lists the procedures that can be started. */
export const listProcedures = defineTool({
  name: 'list_procedures',
  title: 'List procedures',
  description:
    'Call this when somebody asks which procedures, inspections or checks there are, or before a start when the name of the procedure is not certain. It only reads. Returns each procedure with the kind of asset it is for.',
  input: z.strictObject({}),
  output: proceduresOutput,
  effect: 'reads',
  refusal: () => undefined,
  run: (kit, _args, call) => {
    const procedures = kit.registry.list().map((procedure) => ({
      procedure: procedure.id,
      version: procedure.version,
      title: procedure.title,
      description: procedure.description,
      asset_type: procedure.asset.type,
      asset_example: procedure.asset.example,
      steps: procedure.steps.length,
    }));
    const { shown, leftOut } = fitting(procedures, {});
    return Promise.resolve({
      text: kit.speech.procedures(),
      isError: false,
      structured: { ...done(call), procedures: shown, ...(leftOut > 0 && { left_out: leftOut }) },
    });
  },
});

/** Answers "what can you do". */
export const whatCanIDo = defineTool({
  name: 'what_can_i_do',
  title: 'What can I do',
  description:
    'Call this when somebody asks for help, what this can do, or what they can say. It only reads. Returns a short explanation and phrases that work.',
  input: z.strictObject({}),
  output: helpOutput,
  effect: 'reads',
  refusal: () => undefined,
  run: (kit, _args, call) =>
    Promise.resolve({
      text: kit.speech.help(),
      isError: false,
      structured: { ...done(call), phrases: kit.speech.phrases() },
    }),
});

/** Starts a procedure on an asset. */
export const startWorkflow = defineTool({
  name: 'start_workflow',
  title: 'Start a procedure',
  description:
    'Call this when a person wants to begin, open or start a procedure on one asset. It takes the asset, so that nobody else works on it, and returns the first step. Do not call it to go on with work that is already active. After a lost answer repeat it with its idempotency_key.',
  input: z.strictObject({
    procedure: bounded(
      LIMITS.idChars.max,
      'Which procedure (inspection, check, routine, job) to start: its name from list_procedures.',
    ),
    asset: bounded(
      LIMITS.assetChars.max,
      'Which asset (machine, equipment, unit, device, instrument, tag) to work on, as its label says.',
    ),
    idempotency_key: idempotencyKey,
  }),
  output: startOutput,
  effect: 'adds',
  refusal: (principal) => refusalFor(principal, 'start_workflow'),
  run: (kit, { procedure, asset, idempotency_key: key }, call) =>
    runCommand(kit, { type: 'start_workflow', procedure, asset }, key, call),
});
