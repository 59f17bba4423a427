// CloudFront in front of the function, with and without it. What a template says needs no account.
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from '@jest/globals';
import { synthesise } from '../support/synth.ts';

const PUBLIC_URL = 'https://checkpoint.example.com/mcp';
const CERTIFICATE = 'arn:aws:acm:us-east-1:123456789012:certificate/0123-4567';
const ACL = 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/checkpoint/0123-4567';
const SETTINGS = {
  CHECKPOINT_PUBLIC_URL: PUBLIC_URL,
  CHECKPOINT_FRONT_CERTIFICATE_ARN: CERTIFICATE,
};

const off = synthesise({ CHECKPOINT_PUBLIC_URL: PUBLIC_URL });
const on = synthesise(SETTINGS);
const protectedOne = synthesise({ ...SETTINGS, CHECKPOINT_FRONT_WEB_ACL_ARN: ACL });

const distribution = { Type: 'AWS::CloudFront::Distribution' };
const permissions = ({ service }: typeof on) =>
  Object.values(service.findResources('AWS::Lambda::Permission')).map(
    ({ Properties: { Action, Principal, FunctionUrlAuthType, InvokedViaFunctionUrl } }) =>
      [Action, Principal, FunctionUrlAuthType ?? InvokedViaFunctionUrl] as unknown[],
  );

describe('without a certificate', () => {
  test('there is no distribution, no secret of one, and nothing that the function is told of one', () => {
    off.service.resourceCountIs(distribution.Type, 0);
    expect(JSON.stringify(off.service.toJSON())).not.toMatch(/FRONT|cloudfront/i);
  });
});

describe('with a certificate', () => {
  test('CloudFront stands at the host of the public URL and lets no plain HTTP through', () => {
    on.service.hasResourceProperties(distribution.Type, {
      DistributionConfig: Match.objectLike({
        Aliases: ['checkpoint.example.com'],
        ViewerCertificate: {
          AcmCertificateArn: CERTIFICATE,
          MinimumProtocolVersion: 'TLSv1.2_2021',
          SslSupportMethod: 'sni-only',
        },
        DefaultCacheBehavior: Match.objectLike({
          AllowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
          ViewerProtocolPolicy: 'https-only',
          // Managed policies: CachingDisabled, AllViewerExceptHostHeader.
          CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
          OriginRequestPolicyId: 'b689b0a8-53d0-40ab-baf2-68738e2966ac',
        }),
        WebACLId: Match.absent(),
      }),
    });
  });

  test('it proves itself by a secret that the template only refers to, and the function reads that one', () => {
    const [config] = Object.values(on.service.findResources(distribution.Type)).map(
      ({ Properties }) => Properties.DistributionConfig,
    );
    const [origin] = config.Origins;
    expect(origin.CustomOriginConfig).toMatchObject({
      OriginProtocolPolicy: 'https-only',
      OriginSSLProtocols: ['TLSv1.2'],
    });
    const [header] = origin.OriginCustomHeaders;
    expect(header.HeaderName).toBe('x-checkpoint-front');
    const [, parts] = header.HeaderValue['Fn::Join'];
    expect([parts[0], parts.at(-1)]).toEqual(['{{resolve:secretsmanager:', ':SecretString:::}}']);
    on.service.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          CHECKPOINT_FRONT_SECRET_ID: parts[1],
          CHECKPOINT_PUBLIC_URL_PARAMETER: Match.anyValue(),
        }),
      },
    });
    on.service.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Sid: 'Secrets', Resource: Match.arrayWith([parts[1]]) }),
        ]),
      },
    });
  });

  test('it signs nothing: the token’s header stays the caller’s, and no body needs a hash', () => {
    on.service.resourceCountIs('AWS::CloudFront::OriginAccessControl', 0);
    expect(JSON.stringify(on.service.toJSON())).not.toMatch(/OriginAccessControl|sigv4/i);
  });

  test('the URL keeps both of its permissions, and nobody else gets one of them', () => {
    const both = [
      ['lambda:InvokeFunctionUrl', '*', 'NONE'],
      ['lambda:InvokeFunction', '*', true],
    ];
    const ofUrl = permissions(on).filter(([, principal]) => principal === '*');
    expect(ofUrl).toHaveLength(2);
    expect(ofUrl).toEqual(expect.arrayContaining(both));
    expect(permissions(on).flat()).not.toContain('cloudfront.amazonaws.com');
    expect(permissions(on)).toEqual(permissions(off));
  });

  test('the outputs name the domain that DNS has to point to, and the public URL', () => {
    on.service.hasOutput('FrontDomain', { Value: Match.anyValue() });
    on.service.hasOutput('McpUrl', { Value: PUBLIC_URL });
  });

  test('a web ACL is asked where one is named', () => {
    protectedOne.service.hasResourceProperties(distribution.Type, {
      DistributionConfig: Match.objectLike({ WebACLId: ACL }),
    });
    const rules = (one: typeof on) =>
      one.acknowledged
        .map(([, rule]) => rule.replace('Annotation::', ''))
        .filter((rule) => rule.startsWith('AwsSolutions-CFR'))
        .toSorted();
    expect(rules(protectedOne)).toEqual(['AwsSolutions-CFR1', 'AwsSolutions-CFR3']);
    expect(rules(on)).toEqual(['AwsSolutions-CFR1', 'AwsSolutions-CFR2', 'AwsSolutions-CFR3']);
    expect(rules(off)).toEqual([]);
  });
});

describe('what cannot stand in front is refused with a sentence', () => {
  test.each<[Record<string, string>, string]>([
    [
      { CHECKPOINT_FRONT_CERTIFICATE_ARN: CERTIFICATE },
      'CHECKPOINT_PUBLIC_URL: expected https://YOUR.DOMAIN/mcp, because CHECKPOINT_FRONT_CERTIFICATE_ARN puts CloudFront in front',
    ],
    [
      { ...SETTINGS, CHECKPOINT_PUBLIC_URL: 'https://checkpoint.example.com:8443/mcp' },
      'CHECKPOINT_PUBLIC_URL: expected https://YOUR.DOMAIN/mcp',
    ],
    [
      {
        ...SETTINGS,
        CHECKPOINT_FRONT_CERTIFICATE_ARN: CERTIFICATE.replace('us-east-1', 'eu-west-1'),
      },
      'expected an ARN of a certificate in us-east-1',
    ],
    [
      { CHECKPOINT_FRONT_WEB_ACL_ARN: ACL },
      'CHECKPOINT_FRONT_WEB_ACL_ARN: there is nothing to protect without CHECKPOINT_FRONT_CERTIFICATE_ARN',
    ],
  ])('%j', (environment, sentence) => {
    expect(() => synthesise(environment)).toThrow(sentence);
  });
});
