/**
 * Where the notifications of a stage go: settings of the functions, and what they may send to. The
 * secrets of webhooks stay in Secrets Manager; a template that held them would show them to everybody
 * who may read it.
 */
import type { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { settingsTable } from '../settings/table.ts';
import type { Settings } from '../settings.ts';
import type { DataStack } from './data-stack.ts';
import { useTopicKey, wholeSecretArn } from './statements.ts';

/** What a function needs in order to know the sinks, and in order to send to them. */
export interface StageDelivery {
  readonly environment: { readonly [name: string]: string };
  /** What only those need that send. */
  readonly secretEnvironment: { readonly [name: string]: string };
  readonly secrets: readonly Pick<Secret, 'secretArn'>[];
  readonly send: readonly PolicyStatement[];
}

/** Reads it from the settings of whoever deploys. Throws a sentence about what cannot be deployed. */
export function stageDelivery(stack: Stack, data: DataStack, settings: Settings): StageDelivery {
  const { webhooks, webhooksSecretId, webhookNames, eventBus } = settings;
  if (webhooks.length > 0) {
    throw new Error(
      `${settingsTable.webhooks.env}: its secrets would stand in the template; put its text into a secret of Secrets Manager and name that in ${settingsTable.webhooksSecretId.env}`,
    );
  }
  if (webhooksSecretId !== undefined) {
    wholeSecretArn(settingsTable.webhooksSecretId.env, webhooksSecretId);
  }
  if ((webhooksSecretId === undefined) !== (webhookNames.length === 0)) {
    throw new Error(
      `${settingsTable.webhookNames.env}: expected the names of the webhooks in the secret of ${settingsTable.webhooksSecretId.env}, and none without it`,
    );
  }
  return {
    environment: {
      [settingsTable.topicArn.env]: data.topic.topicArn,
      ...(webhookNames.length > 0 && {
        [settingsTable.webhookNames.env]: webhookNames.join(','),
      }),
      ...(eventBus !== undefined && { [settingsTable.eventBus.env]: eventBus }),
    },
    secretEnvironment:
      webhooksSecretId === undefined
        ? {}
        : { [settingsTable.webhooksSecretId.env]: webhooksSecretId },
    secrets: webhooksSecretId === undefined ? [] : [{ secretArn: webhooksSecretId }],
    send: [
      new PolicyStatement({
        sid: 'Topic',
        actions: ['sns:Publish'],
        resources: [data.topic.topicArn],
      }),
      useTopicKey(data.key),
      ...(eventBus === undefined
        ? []
        : [
            new PolicyStatement({
              sid: 'EventBus',
              actions: ['events:PutEvents'],
              resources: [busArn(stack, eventBus)],
            }),
          ]),
    ],
  };
}

function busArn(stack: Stack, bus: string): string {
  if (bus.startsWith('arn:')) return bus;
  return stack.formatArn({ service: 'events', resource: 'event-bus', resourceName: bus });
}
