/** The app of one stage: both stacks, and the rules that they are held against. */
import { App, Tags, Validations, type AppProps } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { stackNames } from '../settings/deployment-names.ts';
import { readSettings, type Environment } from '../settings.ts';
import { DataStack } from './data-stack.ts';
import { ServiceStack } from './service-stack.ts';
import { stageNamed } from './stages.ts';

/** The app and its stacks. */
export interface CheckpointApp {
  readonly app: App;
  readonly data: DataStack;
  readonly service: ServiceStack;
}

/**
 * Builds the app of the stage that the environment names. Throws an error with every fault of the
 * settings, or a sentence about what the stage lacks.
 */
export function createCheckpointApp(environment: Environment, props: AppProps = {}): CheckpointApp {
  const settings = readSettings(environment);
  const stage = stageNamed(settings.stage);
  const app = new App(props);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const names = stackNames(stage.name);
  const data = new DataStack(app, names.data, {
    stage,
    description: `Checkpoint ${stage.name}: table, topic and secrets`,
    terminationProtection: stage.deletionProtection,
  });
  const service = new ServiceStack(app, names.service, {
    stage,
    data,
    environment,
    settings,
    description: `Checkpoint ${stage.name}: functions`,
  });
  Tags.of(app).add('application', 'checkpoint');
  Tags.of(app).add('stage', stage.name);
  return { app, data, service };
}
