/** Synthesises a stage in this process, without bundling: what a template says needs no code in it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { createCheckpointApp } from '../../lib/infra/checkpoint-app.ts';
import type { Environment } from '../../lib/settings.ts';
import { projectRoot } from './project-files.ts';

/** One resource of a template. */
export interface Resource {
  readonly Type: string;
  readonly Properties?: { readonly [name: string]: unknown };
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** Both templates of a stage. */
export interface Synthesised {
  readonly data: Template;
  readonly service: Template;
  /** Rules that are acknowledged: where, which, and why. */
  readonly acknowledged: readonly (readonly [path: string, rule: string, reason: string])[];
  /** Every resource of both, by stack and logical id. */
  readonly resources: readonly (readonly [string, Resource])[];
}

/** An identity provider, which stages other than dev want. */
export const ISSUERS = JSON.stringify([
  {
    alias: 'corp',
    issuer: 'https://id.example.com',
    jwks_url: 'https://id.example.com/jwks',
    tenants: ['plant-7'],
  },
]);

/** The flags under which the app is deployed. */
export const { context: FLAGS } = JSON.parse(
  readFileSync(join(projectRoot, 'cdk.json'), 'utf8'),
) as { readonly context: { readonly [flag: string]: unknown } };

/** Synthesises the stage that the environment names. */
export function synthesise(environment: Environment): Synthesised {
  const { app, data, service } = createCheckpointApp(environment, {
    context: { ...FLAGS, 'aws:cdk:bundling-stacks': [] },
    analyticsReporting: false,
  });
  const templates = { data: Template.fromStack(data), service: Template.fromStack(service) };
  const resources = Object.entries(templates).flatMap(([stack, template]) =>
    Object.entries(template.toJSON()['Resources'] as { [id: string]: Resource }).map(
      ([id, resource]) => [`${stack}/${id}`, resource] as const,
    ),
  );
  const acknowledged = app.node.findAll().flatMap(({ node }) =>
    node.metadata
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .flatMap(({ data: rules }) => Object.entries(rules as { [rule: string]: string }))
      .map(([rule, reason]) => [node.path, rule, reason] as const),
  );
  return { ...templates, acknowledged, resources };
}
