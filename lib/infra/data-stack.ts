/**
 * What must outlive every release: the table with its key, the topic, the deployment's secret, and the
 * signed lists of heads.
 */
import { Stack, Validations, type StackProps } from 'aws-cdk-lib';
import {
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import {
  PARTITION_KEY,
  SORT_KEY,
  TABLE_INDEXES,
  TTL_ATTRIBUTE,
} from '../adapters/dynamodb/table.ts';
import { parameterNames } from '../settings/deployment-names.ts';
import { Heads } from './heads.ts';
import type { Stage } from './stages.ts';

/** The data of one stage. */
export class DataStack extends Stack {
  readonly key: Key;
  readonly table: Table;
  readonly secret: Secret;
  /** Where notifications are published; whoever wants them subscribes. */
  readonly topic: Topic;
  /** Where signed lists of heads go; a stage that is thrown away has none. */
  readonly heads: Heads | undefined;

  constructor(scope: Construct, id: string, props: StackProps & { readonly stage: Stage }) {
    super(scope, id, props);
    const { stage } = props;
    const text = (name: string) => ({ name, type: AttributeType.STRING });
    this.key = new Key(this, 'Key', {
      description: `Table and topic of ${this.stackName}`,
      enableKeyRotation: true,
      removalPolicy: stage.removal,
    });
    this.table = new Table(this, 'Table', {
      partitionKey: text(PARTITION_KEY),
      sortKey: text(SORT_KEY),
      billingMode: BillingMode.PAY_PER_REQUEST,
      encryption: TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: this.key,
      pointInTimeRecoverySpecification: {
        pointInTimeRecoveryEnabled: true,
        recoveryPeriodInDays: stage.recoveryDays,
      },
      deletionProtection: stage.deletionProtection,
      removalPolicy: stage.removal,
      timeToLiveAttribute: TTL_ATTRIBUTE,
      // Keys are all that is needed to know that an outbox row is there: claiming it answers the row.
      // Anything more would copy what people said into a second store.
      stream: StreamViewType.KEYS_ONLY,
    });
    for (const { name, partitionKey, sortKey } of TABLE_INDEXES) {
      this.table.addGlobalSecondaryIndex({
        indexName: name,
        partitionKey: text(partitionKey),
        sortKey: text(sortKey),
        projectionType: ProjectionType.KEYS_ONLY,
      });
    }
    this.topic = new Topic(this, 'Topic', { masterKey: this.key, enforceSSL: true });
    this.topic.applyRemovalPolicy(stage.removal);
    this.secret = new Secret(this, 'Secret', {
      description: 'Keys of confirmations, cursors and the ledger come from this',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: stage.removal,
    });
    Validations.of(this.secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'Another secret makes idempotency keys of the last 30 days conflicts, so it is rotated by hand, as docs/operations.md says.',
    });
    const { headsLock } = stage;
    this.heads =
      headsLock === undefined ? undefined : new Heads(this, 'Heads', { ...stage, headsLock });
    new StringParameter(this, 'TableName', {
      parameterName: parameterNames(stage.name).table,
      description: 'Name of the table, for commands run by hand',
      stringValue: this.table.tableName,
    });
  }
}
