// Entry file of the CDK: settings in, an assembly out.
import { createCheckpointApp } from '../lib/infra/checkpoint-app.ts';

createCheckpointApp(process.env);
