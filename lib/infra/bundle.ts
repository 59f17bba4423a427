/**
 * How a function is bundled, once for the CDK and for whatever else builds one: ECMAScript modules in one
 * minified file with everything inside, for the Node that runs it.
 */
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';

/** The top of the project. */
export const PROJECT_ROOT = join(import.meta.dirname, '../..');

/** The major version of Node: of the functions, of the bundle's target, and of the project itself. */
export const NODE_MAJOR = 24;

/** Most bytes of the HTTP function's file. */
export const BUNDLE_BYTES_MOST = 1_000_000;

/** Most bytes of the file of the function that relays. */
export const RELAY_BUNDLE_BYTES_MOST = 800_000;

/** Most bytes of the file of the reconciler, which also writes to a bucket and reads tickets back. */
export const RECONCILE_BUNDLE_BYTES_MOST = 1_000_000;

/** Most bytes of the file of the function that works on runs, which speaks to evidence servers. */
export const RUN_BUNDLE_BYTES_MOST = 1_300_000;

/**
 * Compiles JSON schemas for answers to questions that this server never asks; the other form of it that the
 * package has is a tenth as large.
 */
export const SERVER_SHIMS: Readonly<Record<string, string>> = {
  '@modelcontextprotocol/server/_shims': join(
    PROJECT_ROOT,
    'node_modules/@modelcontextprotocol/server/dist/shimsBrowser.mjs',
  ),
};

/**
 * What a function does not need, and what stands in for it. The first reads keys from files, sign-in
 * sessions and metadata services, where a function has them in its environment.
 */
const STAND_INS: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node': join(
    PROJECT_ROOT,
    'lib/adapters/deployment/environment-credentials.ts',
  ),
  ...SERVER_SHIMS,
};

/** The options of a bundle; whoever builds adds the entry and the place. */
export const BUNDLE = {
  bundle: true,
  minify: true,
  platform: 'node',
  target: `node${NODE_MAJOR}`,
  format: 'esm',
  // Without this order the CommonJS forms of some packages are taken, which cannot be shaken.
  mainFields: ['module', 'main'],
  // No source maps: they would be several times the bundle, read at every start, and no trace leaves.
  sourcemap: false,
  alias: STAND_INS,
  external: [],
} as const satisfies BuildOptions;
