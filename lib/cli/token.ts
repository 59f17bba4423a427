// `checkpoint token`: signs a development token for whatever server runs on the data folder.
import { SCOPES, TENANT_NAME, type PrincipalKind, type Scope } from '../core/model/principal.ts';
import { LIMITS } from '../core/limits.ts';
import type { Settings } from '../settings.ts';
import { developmentIssuer } from '../wiring/local.ts';
import { awsErrorName, awsProblem } from './deploy/aws-problem.ts';
import { CliProblem } from './failure.ts';

/** The options of the command, as typed. */
export interface TokenOptions {
  readonly subject?: string;
  readonly name?: string;
  readonly scope: readonly string[];
  readonly tenant: string;
  readonly expires: string;
  readonly agent?: boolean;
  readonly service?: boolean;
  /** A deployed stage whose own issuer signs, in place of the data folder's. */
  readonly deployment?: string;
}

/** Signs the token. Problems name the option and what was expected. */
export async function signToken(settings: Settings, options: TokenOptions): Promise<string> {
  if (settings.issuers.length > 0) {
    throw new CliProblem(
      'CHECKPOINT_ISSUERS is set: tokens come from those issuers, not from here.',
    );
  }
  const token = {
    subject: subjectOf(options),
    tenant: tenantOf(options.tenant),
    scopes: scopesOf(options),
    kind: kindOf(options),
    ...(options.name !== undefined && { name: options.name }),
    expiresInSeconds: seconds(options.expires),
  };
  // Opening it creates the data folder, so that comes after every check.
  const { deployment } = options;
  const issuer = await (deployment === undefined
    ? developmentIssuer(settings)
    : deploymentIssuer(deployment));
  return issuer.sign(token);
}

async function deploymentIssuer(stage: string) {
  if (!/^[a-z][a-z0-9-]{0,15}$/.test(stage)) {
    throw new CliProblem('--deployment: expected the name of a stage, such as dev');
  }
  // Loaded only here: a local command needs nothing of AWS.
  const { openDeployment } = await import('../wiring/deployment.ts');
  const opened = openDeployment(stage);
  try {
    return await opened.issuer();
  } catch (error) {
    if (awsErrorName(error) !== 'ParameterNotFound') {
      throw awsProblem(error, 'ssm:GetParameter and secretsmanager:GetSecretValue');
    }
    throw new CliProblem(
      `The stage ${stage} of this account and region signs no tokens: it is not deployed, is no development stage, or has an identity provider.`,
      { cause: error },
    );
  } finally {
    opened.close();
  }
}

function kindOf({ agent, service }: TokenOptions): PrincipalKind {
  if (agent === true && service === true) {
    throw new CliProblem('--agent and --service exclude each other.');
  }
  if (service === true) return 'service';
  return agent === true ? 'agent' : 'person';
}

function subjectOf({ subject, service }: TokenOptions): string {
  const given = subject ?? (service === true ? 'service' : '');
  // 16 characters are left for the issuer's alias.
  const most = LIMITS.subjectChars.max - 17;
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._@+-]*$/u.test(given) || given.length > most) {
    throw new CliProblem(`--subject: expected a name of 1 to ${most} letters, digits or ._@+-`);
  }
  return given;
}

function tenantOf(tenant: string): string {
  if (TENANT_NAME.test(tenant)) return tenant;
  const { max } = LIMITS.tenantChars;
  throw new CliProblem(`--tenant: expected 1 to ${max} letters, digits, - or _`);
}

function scopesOf({ scope, service }: TokenOptions): readonly Scope[] {
  const given = scope.flatMap((part) => part.split(/[\s,]+/)).filter((part) => part !== '');
  const names = given.length === 0 && service === true ? ['mcp:service'] : given;
  const unknown = names.filter((name) => !(SCOPES as readonly string[]).includes(name));
  if (unknown.length > 0) {
    throw new CliProblem(`--scope: unknown ${unknown.join(', ')}; known are ${SCOPES.join(', ')}`);
  }
  if (names.includes('mcp:service') && service !== true)
    throw new CliProblem('--scope: mcp:service goes with --service only');
  if (names.length === 0)
    throw new CliProblem(`--scope: expected one or more of ${SCOPES.join(', ')}`);
  return names as Scope[];
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

function seconds(text: string): number {
  const [, count, unit] = /^([1-9][0-9]{0,5})([smhd])$/.exec(text) ?? [];
  const result = Number(count) * (UNIT_SECONDS[unit ?? ''] ?? Number.NaN);
  if (result <= 365 * 86_400) return result;
  throw new CliProblem('--expires: expected a time such as 30m, 12h or 7d, up to 365d');
}
