// The app with a function that may do everything with every table.
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { createCheckpointApp } from '../../../lib/infra/checkpoint-app.ts';

const { service } = createCheckpointApp({}, { context: { 'aws:cdk:bundling-stacks': [] } });
const lambda = service.node.findAll().find((construct) => construct instanceof LambdaFunction);
if (lambda === undefined) throw new Error('nothing to plant a wildcard in');
const statement = new PolicyStatement({ actions: ['dynamodb:*'], resources: ['arn:aws:s3:::a'] });
lambda.addToRolePolicy(statement);
