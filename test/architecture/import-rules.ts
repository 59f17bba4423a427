/**
 * Which room may import from which, as data: each rule forbids edges and says why in one sentence.
 * `import-rules.test.ts` runs them over the tree and over one planted edge for each.
 */

/** One kind of forbidden import edge. Paths are regular expressions on paths from the top. */
export interface ImportRule {
  readonly name: string;
  /** One sentence: what goes wrong without the rule. */
  readonly because: string;
  readonly from: { readonly path?: string; readonly pathNot?: string };
  readonly to: { readonly path?: string; readonly pathNot?: string; readonly circular?: boolean };
}

/** Matches packages by name, installed (a path in node_modules) or not (the bare name). */
function packages(...names: string[]): string {
  return `(?:^|/node_modules/|^node_modules/)(?:${names.join('|')})(?:/|$)`;
}

/** Matches a module of Node, with or without its prefix. */
function builtIn(name: string): string {
  return `^(?:node:)?${name}$`;
}

function anyOf(...patterns: string[]): string {
  return patterns.join('|');
}

/** The rooms of `lib`: every module there is in one of them, so that none escapes the rules. */
export const rooms =
  '^lib/(?:(?:core|policies|adapters/[^/]+|surface|cli|docs|entry|evidence-server|infra|lambda|settings|wiring)/|settings\\.ts$)';

/** The import table. */
export const importRules: readonly ImportRule[] = [
  {
    name: 'core-stands-alone',
    because: 'Decisions stay testable without fakes only while the core knows no technology.',
    from: { path: '^lib/core/' },
    to: { pathNot: anyOf('^lib/core/', packages('zod', 'canonicalize'), builtIn('crypto')) },
  },
  {
    name: 'policies-know-core-only',
    because: 'A domain must run on every store and every surface without being changed.',
    from: { path: '^lib/policies/' },
    to: { pathNot: anyOf('^lib/(?:core|policies)/', packages('zod')) },
  },
  {
    name: 'adapters-know-core-only',
    because: 'An adapter serves a port of the core, whoever calls it and whatever was configured.',
    from: { path: '^lib/adapters/' },
    to: { path: '^lib/', pathNot: '^lib/(?:core|adapters)/' },
  },
  {
    name: 'adapters-do-not-meet',
    because:
      'An adapter that needs another one cannot be replaced alone. How one request leaves is shared.',
    from: { path: '^lib/adapters/([^/]+)/' },
    to: { path: '^lib/adapters/', pathNot: '^lib/adapters/(?:$1|outbound)/' },
  },
  {
    name: 'surface-knows-core-only',
    because: 'One web-standard surface runs on Lambda, on Node and in tests, on any adapter.',
    from: { path: '^lib/surface/' },
    to: {
      pathNot: anyOf(
        '^lib/(?:core|surface)/',
        packages('zod', 'hono', '@modelcontextprotocol/server'),
      ),
    },
  },
  {
    name: 'only-wiring-picks-adapters',
    because: 'Which adapter is used is decided in one place, so that every entry file agrees.',
    from: { path: '^(?:lib/docs|bin|lambdas|examples)/' },
    to: { path: '^lib/adapters/' },
  },
  {
    name: 'cli-goes-through-wiring',
    because: 'A command line that reaches past the wiring becomes a second application.',
    from: { path: '^lib/cli/' },
    to: {
      path: '^lib/',
      pathNot:
        '^lib/(?:(?:cli|core|settings|surface/speech|wiring)/|(?:settings|surface/speech)\\.ts$)',
    },
  },
  {
    name: 'docs-know-settings-and-core-only',
    because: 'Documents are generated from tables, never from a running program.',
    from: { path: '^lib/docs/' },
    to: {
      path: '^lib/',
      pathNot:
        '^lib/(?:(?:docs|settings|core|adapters)/|settings\\.ts$|surface/(?:rest/(?:requests\\.ts$|shapes/)))',
    },
  },
  {
    name: 'settings-know-nothing',
    because: 'Everything may read a setting, so a setting that imports anything makes cycles.',
    from: { path: '^lib/settings(?:/|\\.ts$)' },
    to: { path: '^lib/', pathNot: '^lib/settings/' },
  },
  {
    name: 'evidence-server-stands-apart',
    because: 'It runs as a process of its own, which somebody may replace by another one.',
    from: { path: '^lib/evidence-server/' },
    to: { path: '^lib/', pathNot: '^lib/(?:evidence-server|core)/' },
  },
  {
    name: 'evidence-server-is-a-process',
    because: 'Whoever imports it instead of starting it trusts what it says.',
    from: { path: '^lib/', pathNot: '^lib/evidence-server/' },
    to: { path: '^lib/evidence-server/' },
  },
  {
    name: 'lib-is-inside',
    because: 'Library code that imports an entry file or a test runs them as a side effect.',
    from: { path: '^lib/' },
    to: { path: '^(?:bin|lambdas|test|examples)/', pathNot: '/node_modules/' },
  },
  {
    name: 'entries-are-for-others',
    because:
      'A package entry that is used inside is a barrel: it loads everything and makes cycles.',
    from: { path: '^(?:lib|bin|lambdas|examples)/' },
    to: { path: '^lib/entry/' },
  },
  {
    name: 'infra-imports-no-runtime-code',
    because: 'Synthesis must not load the program it deploys; it needs names only.',
    from: { path: '^lib/infra/' },
    to: {
      path: '^lib/',
      pathNot: '^lib/(?:infra/|settings/|settings\\.ts$|adapters/dynamodb/table\\.ts$)',
    },
  },
  {
    name: 'aws-sdk-in-aws-adapters',
    because: 'The same code runs on a laptop that has no AWS account.',
    from: {
      path: '^(?:lib|bin|examples)/',
      pathNot: '^lib/adapters/(?:deployment|dynamodb|outbound|step-functions|sinks|tickets)/',
    },
    to: { path: packages('@aws-sdk/[^/]+') },
  },
  {
    name: 'lambda-room-knows-surface-and-core',
    because: 'What is about Lambda alone must not know which backend it serves.',
    from: { path: '^lib/lambda/' },
    to: { path: '^lib/', pathNot: '^lib/(?:(?:lambda|surface|core|settings)/|settings\\.ts$)' },
  },
  {
    name: 'lambda-libraries-in-their-room',
    because: 'A laptop that serves the same app needs nothing of Lambda.',
    from: { path: '^(?:lib|bin|lambdas|examples)/', pathNot: '^lib/lambda/' },
    to: { path: packages('@middy/[^/]+', '@aws-lambda-powertools/[^/]+') },
  },
  {
    name: 'functions-hold-no-local-backend',
    because: 'Whatever a function imports is in its bundle and is loaded before its first answer.',
    from: {
      path: '^(?:lambdas/|lib/lambda/|lib/wiring/(?:(?:app|asked-tools|aws|delivery|deployed-tickets|kept|registry|run-work|sink-names)|[a-z]+-function)\\.ts$)',
    },
    to: {
      path: '^lib/(?:cli/|wiring/local\\.ts$|adapters/(?:sqlite/|identity/(?:dev-issuer|create-once)\\.ts$))',
    },
  },
  {
    name: 'cdk-in-infra',
    because: 'The CDK is megabytes of build-time code that must never reach a function bundle.',
    from: { path: '^(?:lib|bin|lambdas|examples)/', pathNot: '^(?:lib/infra/|bin/app\\.ts$)' },
    to: { path: packages('aws-cdk-lib', 'constructs', 'cdk-nag') },
  },
  {
    name: 'sqlite-in-its-adapter',
    because: 'SQL outside the adapter is a store that no contract case covers.',
    from: { path: '^(?:lib|bin|lambdas|examples)/', pathNot: '^lib/adapters/sqlite/' },
    to: { path: builtIn('sqlite') },
  },
  {
    name: 'no-cycles',
    because: 'Modules in a cycle can only be understood, tested and loaded together.',
    from: {},
    to: { circular: true },
  },
];
