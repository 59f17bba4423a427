// The app with a function that holds its own URL: CloudFormation could never deploy it.
import { CfnUrl, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { createCheckpointApp } from '../../../lib/infra/checkpoint-app.ts';

const { service } = createCheckpointApp({}, { context: { 'aws:cdk:bundling-stacks': [] } });
const all = service.node.findAll();
const url = all.find((construct) => construct instanceof CfnUrl);
const lambda = all.find((construct) => construct instanceof LambdaFunction);
if (url === undefined || lambda === undefined) throw new Error('nothing to plant a cycle in');
lambda.addEnvironment('OWN_URL', url.attrFunctionUrl);
