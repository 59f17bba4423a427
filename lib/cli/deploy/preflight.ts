// What is looked at before anything is deployed: whether AWS can be reached, is set up, and whether this
// release can serve what is going on in the stage.
import type { Settings } from '../../settings.ts';
import type { Deployment } from '../../wiring/deployment.ts';
import { CliProblem } from '../failure.ts';
import { missing } from '../policy/active.ts';
import { counted } from '../text.ts';
import { awsErrorName, awsProblem } from './aws-problem.ts';

/** Looks, tells what it found line by line, and throws a problem with one sentence for the first that fails. */
export async function preflight(
  settings: Settings,
  deployment: Deployment,
  out: (line: string) => void,
): Promise<void> {
  const version = await deployment.bootstrapVersion().catch((error: unknown) => {
    if (awsErrorName(error) === 'ParameterNotFound') {
      throw new CliProblem(
        'This account and region are not set up for the CDK: run npx cdk bootstrap once.',
        { cause: error },
      );
    }
    throw awsProblem(error, 'ssm:GetParameter');
  });
  out(`AWS         answers; the CDK is set up (version ${version})`);
  const versions = await deployment.versionsInUse(settings).catch((error: unknown) => {
    if (awsErrorName(error) === 'ParameterNotFound') return undefined;
    throw awsProblem(error, 'ssm:GetParameter, and Query, GetItem and Scan on the table');
  });
  if (versions === undefined) {
    out(`Stage       ${settings.stage}, for the first time`);
    return;
  }
  const lacking = missing(versions);
  if (lacking.length > 0) {
    const names = lacking.map(({ procedure, version: of }) => `${procedure}@${of}`).join(', ');
    throw new CliProblem(
      `This release lacks procedure versions that active workflows run on: ${names}. Put them back, or end the workflows first.`,
    );
  }
  out(`Stage       ${settings.stage}, ${counted(versions.length, 'procedure version')} in use`);
}
