/** Where the signed lists of heads of a stage are kept: a bucket that takes nothing back, and their key. */
import { Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  ObjectLockRetention,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { settingsTable } from '../settings/table.ts';
import type { Stage } from './stages.ts';
import type { Wildcard } from './statements.ts';

/** How the CDK names what another stack is told of the bucket; the rules name it in their findings. */
const BUCKET_OUTPUT = 'PublishOutputFnGetAttHeadsBucket0A4B513AArnBE75FD30';

/** Bucket and secret of a stage that is kept. */
export class Heads extends Construct {
  readonly bucket: Bucket;
  readonly secret: Secret;

  constructor(scope: Construct, id: string, stage: Stage & Required<Pick<Stage, 'headsLock'>>) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      versioned: true,
      objectLockEnabled: true,
      objectLockDefaultRetention: ObjectLockRetention.compliance(stage.headsLock),
      removalPolicy: stage.removal,
    });
    Validations.of(this.bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason:
        'One function writes one list a day, and a list holds ids and digests; who read it, CloudTrail says.',
    });
    this.secret = new Secret(this, 'Secret', {
      description: 'The key that signs lists of heads comes from this',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: stage.removal,
    });
    Validations.of(this.secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'Another secret is another key, whose fingerprint everybody who verifies would have to be told, so it is rotated by hand, as docs/operations.md says.',
    });
  }

  /** What the function that signs is told. */
  get environment(): { readonly [name: string]: string } {
    return {
      [settingsTable.headsBucket.env]: this.bucket.bucketName,
      [settingsTable.headsSecretId.env]: this.secret.secretArn,
    };
  }

  /** The one wildcard of {@link statements}. */
  get wildcard(): Wildcard {
    const { stackName } = Stack.of(this);
    const region = '{"Ref":"AWS::Region"}';
    const bucket = `{"Fn::GetStackOutput":{"StackName":"${stackName}","Region":${region},"OutputName":"${BUCKET_OUTPUT}"}}`;
    return {
      id: `AwsSolutions-IAM5[Resource::${bucket}/heads/*]`,
      reason: 'The names of the lists, which are days and parts; nothing else is kept there.',
    };
  }

  /** Writing lists and asking for them. Without the second right a list that is not there is a refusal. */
  statements(): PolicyStatement[] {
    const { bucketArn } = this.bucket;
    return [
      new PolicyStatement({
        sid: 'Heads',
        actions: ['s3:GetObject', 's3:PutObject'],
        resources: [`${bucketArn}/heads/*`],
      }),
      new PolicyStatement({
        sid: 'HeadsBucket',
        actions: ['s3:ListBucket'],
        resources: [bucketArn],
      }),
    ];
  }
}
