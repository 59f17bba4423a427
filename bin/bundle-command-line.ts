// Entry file of the second half of `npm run build`: the command line and the evidence server with everything they load, in a few
// files in place of several hundred, which a process reads and links in a third of the time. The package's
// other entries stay modules of their own, because whoever embeds them has these libraries as well.
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { BUNDLE, PROJECT_ROOT, SERVER_SHIMS } from '../lib/infra/bundle.ts';
import { PAGE_FILES, PAGES_FOLDER } from '../lib/settings/page-files.ts';

const outdir = join(PROJECT_ROOT, 'dist/bin');
const { metafile } = await build({
  ...BUNDLE,
  minify: false,
  minifyWhitespace: true,
  minifySyntax: true,
  external: [],
  mainFields: [...BUNDLE.mainFields],
  alias: SERVER_SHIMS,
  // Errors are known by the names of their classes, and a trace is to be read by whoever sees one.
  minifyIdentifiers: false,
  keepNames: true,
  absWorkingDir: PROJECT_ROOT,
  entryPoints: ['bin/checkpoint.ts', 'bin/evidence-server.ts'],
  outdir,
  // What one command alone needs is loaded by that command.
  splitting: true,
  chunkNames: 'part-[hash]',
  // Some libraries are CommonJS and ask for Node's modules when they run.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  metafile: true,
  logLevel: 'warning',
});
const folders = new Set(
  Object.keys(metafile.inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? [],
  ),
);
const texts = await Promise.all([...folders].toSorted().map(licenceOf));
await writeFile(
  join(outdir, 'THIRD-PARTY.md'),
  `# Libraries in these files\n\n${texts.join('\n')}`,
);

// The interactive page comes along as files, so that whoever installs the package gets no installer of its
// library with it.
const pages = join(PROJECT_ROOT, 'dist', PAGES_FOLDER);
await mkdir(pages, { recursive: true });
for (const [name, path] of Object.entries(PAGE_FILES)) {
  await copyFile(join(PROJECT_ROOT, path), join(pages, name));
}
await writeFile(join(pages, 'THIRD-PARTY.md'), await licenceOf('node_modules/swagger-ui-dist'));

/** The name, version and licence of a package that is in the bundle. Throws where it has no text of one. */
async function licenceOf(folder: string): Promise<string> {
  const at = join(PROJECT_ROOT, folder);
  const { name, version, license } = JSON.parse(
    await readFile(join(at, 'package.json'), 'utf8'),
  ) as { readonly [name: string]: string };
  const file = (await readdir(at)).find((each) => /^(?:licen[cs]e|copying)\b/i.test(each));
  const text =
    file === undefined ? `Licensed under ${license}.` : await readFile(join(at, file), 'utf8');
  return `## ${name} ${version}\n\n${text.trim()}\n`;
}
