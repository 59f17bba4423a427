// What somebody gets who installs the packed package: it is packed, installed into an empty folder and
// used there, without the checkout and without type stripping.
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { childEnvironment } from '../support/command-line.ts';
import { projectRoot } from '../support/project-files.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** Packing compiles, and installing fetches; both take what a busy machine takes. */
const PATIENTLY_MS = 600_000;

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
}

let app: string;
let installed: string;
let files: readonly string[];
let manifest: Manifest;

beforeAll(async () => {
  const folder = await tempFolder();
  await run(projectRoot, 'npm', 'pack', '--silent', '--pack-destination', folder);
  const [tarball] = await readdir(folder);
  app = join(folder, 'app');
  await mkdir(app);
  await writeFile(join(app, 'package.json'), '{ "private": true, "type": "module" }');
  const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--silent'];
  await run(app, 'npm', 'install', ...quietly, join(folder, tarball ?? ''));
  installed = join(app, 'node_modules/checkpoint');
  const entries = await readdir(installed, { recursive: true, withFileTypes: true });
  files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
  manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as Manifest;
}, PATIENTLY_MS);

/** Runs a program to its end and answers what it printed; a failure carries everything it said. */
async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  // The npm that runs the tests tells its children which package they are in; here it is another.
  const inherited = Object.entries(childEnvironment()).filter(
    ([name]) => !/^(?:npm_(?:package|lifecycle|config_local_prefix)|init_cwd)/i.test(name),
  );
  const env = {
    ...Object.fromEntries(inherited),
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
  };
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  if (code !== 0)
    throw new Error(`${program} ${args.join(' ')} ended with ${String(code)}\n${out}${err}`);
  return out;
}

/** The program under a heading of a document. */
async function programOf(document: string, heading: string): Promise<string> {
  const text = await readFile(join(projectRoot, document), 'utf8');
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const code = /^```ts$\n([^]*?)^```$/m.exec(section)?.[1];
  if (code === undefined) throw new Error(`${document} has no program under "${heading}"`);
  return code;
}

/** The program under "Embed it" in the README. */
const embedding = (): Promise<string> => programOf('README.md', 'Embed it');
/** The one with a procedure in code. */
const typed = (): Promise<string> => programOf('docs/procedures.md', 'In a program of your own');

/** Type-checks files of the app against the shipped types; throws with what the compiler said. */
async function typeCheck(...names: string[]): Promise<void> {
  const options = {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: ['node'],
  };
  const types = join(app, 'node_modules/@types');
  await mkdir(types, { recursive: true });
  await symlink(join(projectRoot, 'node_modules/@types/node'), join(types, 'node')).catch(
    () => undefined,
  );
  const config = { compilerOptions: options, files: names };
  await writeFile(join(app, 'tsconfig.json'), JSON.stringify(config));
  await run(app, join(projectRoot, 'node_modules/.bin/tsc'), '-p', 'tsconfig.json');
}

describe('the packed package', () => {
  test('holds compiled code, types and documents, and neither sources nor tests', () => {
    const kinds = new Set(files.map((path) => path.replace(/^.*?((?:\.d)?\.\w+|LICENSE)$/, '$1')));
    expect([...kinds].toSorted()).toEqual([
      '.css',
      '.d.ts',
      '.js',
      '.json',
      '.md',
      '.yaml',
      'LICENSE',
    ]);
    expect([...new Set(files.map((path) => path.replace(/\/.*/, '')))].toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'dist',
      'docs',
      'examples',
      'package.json',
    ]);
    expect(
      files.filter((path) => /test|bench|example(?!s\/evidence\/)|fixture/i.test(path)),
    ).toEqual([]);
  });

  /** What the code below a folder imports, as it is written there. */
  async function importedBy(below: string, pattern: RegExp): Promise<readonly string[]> {
    const imported = new Set<string>();
    for (const path of files.filter((name) => name.startsWith(below) && name.endsWith('.js'))) {
      const text = await readFile(join(installed, path), 'utf8');
      for (const [, name = ''] of text.matchAll(pattern)) imported.add(name);
    }
    return [...imported].toSorted();
  }

  test('depends on exactly what its code imports', async () => {
    const packages = /(?<!\.)(?:from|import) ?\(?'((?:@[\w-]+\/)?[\w-]+)[^']*'/g;
    const imported = await importedBy('dist/lib/', packages);
    expect(imported.filter((name) => name !== 'node')).toEqual(
      Object.keys(manifest.dependencies).toSorted(),
    );
  });

  test('brings a command line that is whole: it loads its own parts and what Node has', async () => {
    const imported = await importedBy(
      'dist/bin/',
      /(?<![-\w])(?:from|import)"([@\w][^"]*|\.[^"]*)"/g,
    );
    expect(imported).toContain('node:sqlite');
    expect(imported.filter((name) => !name.startsWith('./part-') && !isBuiltin(name))).toEqual([]);
    const licences = await readFile(join(installed, 'dist/bin/THIRD-PARTY.md'), 'utf8');
    for (const name of ['zod', 'hono', '@modelcontextprotocol/server', 'commander']) {
      expect(licences).toMatch(new RegExp(`^## ${name} \\d`, 'm'));
    }
  });

  test(
    'answers its version and plays its demo as an installed command',
    async () => {
      expect((await run(app, 'npx', 'checkpoint', '--version')).trim()).toBe(manifest.version);
      const played = await run(app, 'npx', 'checkpoint', 'demo');
      expect(played.trimEnd().split('\n').at(-1)).toBe('Every answer was the right one.');
    },
    PATIENTLY_MS,
  );

  test(
    'starts its evidence server on the files that come along',
    async () => {
      const rows = (await run(app, 'npx', 'checkpoint', 'tools', '--json')).trim().split('\n');
      expect(rows.map((row) => (JSON.parse(row) as { allowed: boolean }).allowed)).toEqual([
        true,
        true,
      ]);
    },
    PATIENTLY_MS,
  );

  test(
    'points a new procedure at the schema that it ships',
    async () => {
      await run(app, 'npx', 'checkpoint', 'policy', 'new', 'my-round');
      const made = JSON.parse(await readFile(join(app, 'my-round.json'), 'utf8')) as object;
      expect(made).toMatchObject({
        $schema: 'node_modules/checkpoint/docs/procedure.schema.json',
      });
      expect(files).toContain('docs/procedure.schema.json');
    },
    PATIENTLY_MS,
  );

  test(
    'gives each of its entries a name for name promise',
    async () => {
      const script = [
        'const promised = {};',
        'for (const entry of process.argv.slice(2)) {',
        '  promised[entry] = Object.keys(await import(`checkpoint${entry.slice(1)}`)).sort();',
        '}',
        'console.log(JSON.stringify(promised));',
      ];
      await writeFile(join(app, 'entries.mjs'), script.join('\n'));
      const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith('.json'));
      const promised: unknown = JSON.parse(await run(app, 'node', 'entries.mjs', ...entries));
      expect(promised).toEqual({
        '.': [
          'SettingsError',
          'createSpeech',
          'dataFile',
          'localApp',
          'openLocal',
          'readSettings',
          'toolsFor',
        ],
        './core': [
          'Fault',
          'LIMITS',
          'OUTCOME_CODES',
          'SCOPES',
          'buildRegistry',
          'createQueries',
          'createService',
          'isFault',
          'parseProcedure',
          'registerProcedures',
          'secretsOf',
          'verifyAll',
        ],
        './dynamodb': [
          'TTL_ATTRIBUTE',
          'createDynamoClient',
          'createDynamoStore',
          'createTableInput',
          'tableNameFault',
        ],
        './ports': [],
        './sqlite': ['openSqliteStore', 'systemClock', 'systemRandom'],
        './surface': ['createApp', 'createSpeech'],
      });
    },
    PATIENTLY_MS,
  );
});

describe('the program under "Embed it"', () => {
  test(
    'records a step of a procedure of its own, and recognises the repeat',
    async () => {
      const program = await embedding();
      const lines = program.split('\n').filter((line) => line.trim() !== '');
      expect(lines.length).toBeLessThanOrEqual(10);
      await mkdir(join(app, 'policies'));
      await run(app, 'npx', 'checkpoint', 'policy', 'new', 'door-round', '--folder', 'policies');
      await writeFile(join(app, 'embed.ts'), program);
      expect(await run(app, 'node', 'embed.ts')).toMatch(
        /^Recorded, safe to start: yes\. Next is /,
      );
      expect(await run(app, 'node', 'embed.ts')).toMatch(
        /^Already recorded, safe to start: yes\. /,
      );
    },
    PATIENTLY_MS,
  );

  test(
    'runs with a procedure in code and typed commands too',
    async () => {
      await writeFile(join(app, 'typed.ts'), await typed());
      const first = await run(app, 'node', 'typed.ts');
      expect(first.trim()).toBe(
        'Recorded, door shut: yes. All steps are done; you can complete it now.',
      );
      const second = await run(app, 'node', 'typed.ts');
      expect(second.trim()).toBe(
        'Already recorded, door shut: yes. All steps are done; you can complete it now.',
      );
    },
    PATIENTLY_MS,
  );

  test(
    'type-checks against the shipped types, and so does a store of one’s own',
    async () => {
      await writeFile(join(app, 'embed.ts'), await embedding());
      await writeFile(join(app, 'typed.ts'), await typed());
      const store = [
        "import { createService, type ServiceParts } from 'checkpoint/core';",
        "import type { Clock, StorageBackend } from 'checkpoint/ports';",
        "import { openSqliteStore, systemClock } from 'checkpoint/sqlite';",
        "import { createApp, type AppParts } from 'checkpoint/surface';",
        'const clock: Clock = systemClock;',
        'const wrapped = (store: StorageBackend): StorageBackend => ({ ...store });',
        'export const open = async (parts: ServiceParts, app: AppParts, path: string) => {',
        '  const { random } = parts;',
        '  const store = wrapped(await openSqliteStore({ path, lockTimeoutMs: 1, clock, random }));',
        '  return createApp({ ...app, store, service: createService({ ...parts, store }) });',
        '};',
      ];
      await writeFile(join(app, 'store.ts'), store.join('\n'));
      await typeCheck('embed.ts', 'typed.ts', 'store.ts');
    },
    PATIENTLY_MS,
  );

  test(
    'does not type-check when a command is wrong, so the types are really looked at',
    async () => {
      const wrong = (await typed()).replace("step: 'shut'", 'step: 7');
      await writeFile(join(app, 'wrong.ts'), wrong);
      await expect(typeCheck('wrong.ts')).rejects.toThrow(/TS2322: Type 'number'/);
    },
    PATIENTLY_MS,
  );
});
