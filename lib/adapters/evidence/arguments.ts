import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';
import { display } from '../../core/display.ts';
import type { InputFault } from '../../core/input-fault.ts';
import type { JsonObject } from '../../core/json.ts';
import type { AdvertisedTool } from '../../core/ports/evidence.ts';

// It interprets a schema and compiles none, because the schema is somebody else's.
const validator = new CfWorkerJsonSchemaValidator();

/** What is wrong with arguments by the schema of a tool; a schema that cannot be used is a fault too. */
export function argumentFaults(
  { inputSchema }: AdvertisedTool,
  args: JsonObject,
): readonly InputFault[] {
  try {
    const result = validator.getValidator(inputSchema)(args);
    if (result.valid) return [];
    return [
      {
        path: '',
        message: `expected what the tool's schema asks for: ${display(result.errorMessage).text}`,
      },
    ];
  } catch {
    return [{ path: '', message: 'expected a tool whose schema can be used' }];
  }
}
