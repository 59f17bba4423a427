/**
 * CloudFront in front of the function, for a domain of one's own: off unless a certificate is named. The
 * function knows it by a secret header. Origin access control is no way for this: CloudFront would sign in
 * the header that carries the caller's token, and every POST would need the hash of its body from the caller.
 */
import { CfnOutput, Fn, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { FunctionUrl } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { FRONT_HEADER, OUTPUTS } from '../settings/deployment-names.ts';
import { settingsTable } from '../settings/table.ts';
import type { Settings } from '../settings.ts';
import type { Stage } from './stages.ts';

/** The front of a stage. */
export class Front extends Construct {
  /** What CloudFront proves itself by; the function reads it. */
  readonly secret: Secret;
  private readonly host: string;
  private readonly certificateArn: string;
  private readonly webAclArn: string | undefined;

  /** The front that the settings ask for, if any. Throws a sentence about what cannot be deployed. */
  static of(scope: Construct, stage: Stage, settings: Settings): Front | undefined {
    const { frontCertificateArn, frontWebAclArn, publicUrl = '' } = settings;
    const { env } = settingsTable.frontCertificateArn;
    if (frontCertificateArn === undefined) {
      if (frontWebAclArn === undefined) return undefined;
      throw new Error(
        `${settingsTable.frontWebAclArn.env}: there is nothing to protect without ${env}`,
      );
    }
    if (!/^https:\/\/[^/:]+\/mcp$/.test(publicUrl)) {
      throw new Error(
        `${settingsTable.publicUrl.env}: expected https://YOUR.DOMAIN/mcp, because ${env} puts CloudFront in front`,
      );
    }
    const { hostname } = new URL(publicUrl);
    return new Front(scope, stage, hostname, frontCertificateArn, frontWebAclArn);
  }

  private constructor(
    scope: Construct,
    stage: Stage,
    host: string,
    certificateArn: string,
    webAclArn: string | undefined,
  ) {
    super(scope, 'Front');
    this.host = host;
    this.certificateArn = certificateArn;
    this.webAclArn = webAclArn;
    this.secret = new Secret(this, 'Secret', {
      description: `CloudFront of ${stage.name} proves itself to the function by this`,
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    Validations.of(this.secret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'The distribution holds a copy that only a deployment renews, so another value alone would shut everybody out; docs/operations.md says how to change it.',
    });
  }

  /** Puts the distribution in front of a function's URL. */
  open(url: FunctionUrl): void {
    const distribution = new Distribution(this, 'Distribution', {
      comment: `Checkpoint at ${this.host}`,
      domainNames: [this.host],
      certificate: Certificate.fromCertificateArn(this, 'Certificate', this.certificateArn),
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      httpVersion: HttpVersion.HTTP2_AND_3,
      ...(this.webAclArn !== undefined && { webAclId: this.webAclArn }),
      defaultBehavior: {
        origin: new HttpOrigin(Fn.select(2, Fn.split('/', url.url)), {
          protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
          // A reference that is resolved when the stack is deployed: the template holds no secret.
          customHeaders: { [FRONT_HEADER]: this.secret.secretValue.unsafeUnwrap() },
        }),
        // No answer is anybody else's.
        cachePolicy: CachePolicy.CACHING_DISABLED,
        // The function's URL is found by its own host name.
        originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
        allowedMethods: AllowedMethods.ALLOW_ALL,
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      },
    });
    Validations.of(distribution).acknowledge(
      {
        id: 'AwsSolutions-CFR1',
        reason: 'Who may call is said by tokens; operators travel, and a country says nothing.',
      },
      {
        id: 'AwsSolutions-CFR3',
        reason:
          'The function logs every request that reaches it, with its request id and without addresses of people; a log of the edge would keep those.',
      },
    );
    if (this.webAclArn === undefined) {
      Validations.of(distribution).acknowledge({
        id: 'AwsSolutions-CFR2',
        reason:
          'A web ACL is named by a setting where there is one; without it every call still needs a token, and callers have a rate.',
      });
    }
    new CfnOutput(this, OUTPUTS.frontDomain, {
      value: distribution.distributionDomainName,
    }).overrideLogicalId(OUTPUTS.frontDomain);
  }
}
