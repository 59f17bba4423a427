// `npm run bench [-- TOPIC...] [--quick] [--cpu-prof]`: measures each topic in a process of its own, one
// after the other, and prints every table at the end. Asserts nothing: machines differ.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { tableText, targetsText, type Size, type Table, type Topic } from './support/table.ts';

const TOPICS: Readonly<Record<string, () => Promise<Topic>>> = {
  commands: async () => (await import('./topics/commands.ts')).commands,
  flatness: async () => (await import('./topics/flatness.ts')).flatness,
  steps: async () => (await import('./topics/steps.ts')).steps,
  mcp: async () => (await import('./topics/mcp.ts')).mcp,
  dynamodb: async () => (await import('./topics/dynamodb.ts')).dynamodb,
  'dynamodb-rate': async () => (await import('./topics/dynamodb-rate.ts')).dynamodbRate,
  cost: async () => (await import('./topics/cost.ts')).cost,
  process: async () => (await import('./topics/process.ts')).freshProcess,
};

const args = process.argv.slice(2);
const size: Size = args.includes('--quick') ? 'quick' : 'full';
const profiled = args.includes('--cpu-prof');
const named = args.filter((arg) => !arg.startsWith('--'));
const unknown = named.filter((name) => !(name in TOPICS));
const note = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

if (unknown.length > 0) {
  note(`unknown: ${unknown.join(', ')}; the topics are ${Object.keys(TOPICS).join(', ')}`);
  process.exitCode = 1;
} else if (process.send !== undefined) {
  const topic = await TOPICS[named[0] ?? '']?.();
  if (topic === undefined) throw new Error('a child measures exactly one topic');
  process.send(await topic(size, (text) => note(`  ${text}`)));
  process.disconnect();
} else {
  const tables: Table[] = [];
  for (const name of named.length > 0 ? named : Object.keys(TOPICS)) {
    note(`${name} …`);
    // What a topic measured is not lost with one that fails after it.
    try {
      const table = await inChild(name);
      note(tableText(table));
      tables.push(table);
    } catch (error) {
      note(String(error));
      process.exitCode = 1;
    }
  }
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`;
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB`;
  const sections = [
    `Node ${process.versions.node}, SQLite ${process.versions['sqlite'] ?? ''}, ${process.platform} ${process.arch}, ${machine}, ${memory}; ${size} run.`,
    ...tables.map(tableText),
    targetsText(tables.flatMap(({ targets }) => targets)),
  ];
  process.stdout.write(`${sections.join('\n\n')}\n`);
}

/** Measures one topic where nothing else has been compiled, cached or left behind. */
async function inChild(name: string): Promise<Table> {
  const flags = profiled ? ['--cpu-prof', '--cpu-prof-dir=reports', '--cpu-prof-interval=200'] : [];
  const script = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [...flags, script, name, `--${size}`], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let table: Table | undefined;
  child.on('message', (message) => {
    table = message as Table;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (table === undefined) throw new Error(`${name} ended with ${String(code)} and no table`);
  return table;
}
