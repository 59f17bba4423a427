/**
 * The stages, in one table: what a stage keeps, for how long, and what it lets through. Everything else
 * of a stage comes from the settings.
 */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';

/** What differs from stage to stage. */
export interface Stage {
  readonly name: string;
  /** What happens to the table, its key, its secret and its logs when the stack goes. */
  readonly removal: RemovalPolicy;
  /** Whether the table refuses to be deleted, by whomever. */
  readonly deletionProtection: boolean;
  /** Days for which the table can be put back to any second. */
  readonly recoveryDays: number;
  readonly logRetention: RetentionDays;
  /**
   * How long nobody, the owner of the account included, can delete or change a signed list of heads. Left
   * out, the stage has no bucket for them: one with locked lists could not go with its stage.
   */
  readonly headsLock?: Duration;
  /** Whether the deployment may sign tokens itself until an identity provider is configured. */
  readonly ownIssuer: boolean;
  /** Left out, the account's common pool: a new account has none to spare. */
  readonly reservedConcurrency?: number;
  readonly memoryMiB: number;
  /** The outer limit of one call; a command ends long before. */
  readonly timeout: Duration;
  /** The functions that nobody waits for. The lease of a shard lasts three such calls and a minute. */
  readonly background: { readonly memoryMiB: number; readonly timeout: Duration };
}

const common = {
  // One whole processor, which the first call of a process needs.
  memoryMiB: 1_769,
  timeout: Duration.seconds(10),
  background: { memoryMiB: 1_024, timeout: Duration.seconds(60) },
} as const;

const kept = {
  ...common,
  removal: RemovalPolicy.RETAIN,
  deletionProtection: true,
  recoveryDays: 35,
  headsLock: Duration.days(365),
  ownIssuer: false,
} as const;

const STAGES: readonly Stage[] = [
  {
    ...common,
    name: 'dev',
    removal: RemovalPolicy.DESTROY,
    deletionProtection: false,
    recoveryDays: 1,
    logRetention: RetentionDays.ONE_WEEK,
    ownIssuer: true,
  },
  { ...kept, name: 'staging', logRetention: RetentionDays.ONE_MONTH },
  { ...kept, name: 'prod', logRetention: RetentionDays.ONE_YEAR },
];

/** A stage by its name. Throws an error that names the stages there are. */
export function stageNamed(name: string): Stage {
  const stage = STAGES.find((each) => each.name === name);
  if (stage !== undefined) return stage;
  const known = STAGES.map((each) => each.name).join(', ');
  throw new Error(`CHECKPOINT_STAGE: expected one of ${known}`);
}
