// Summarises a CPU profile (`npm run bench -- TOPIC --cpu-prof` leaves one in reports/): where the time
// itself was spent, and under which functions of ours it was.
// Usage: node test/bench/profile.ts FILE [lines] [only below this function]
import { readFileSync } from 'node:fs';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const [file = '', lines = '30', below] = process.argv.slice(2);
const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile;
const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
const parents = new Map(
  profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
);

const nameOf = ({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string => {
  const place = url.replace(/^.*\/(lib|test|node_modules)\//, '$1/');
  return `${functionName || '(anonymous)'} ${place}${url === '' ? '' : `:${lineNumber + 1}`}`;
};

const own = new Map<string, number>();
const under = new Map<string, number>();
let total = 0;
profile.samples.forEach((id, i) => {
  const spent = profile.timeDeltas[i] ?? 0;
  const names: string[] = [];
  for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
    const node = nodes.get(at);
    if (node !== undefined) names.push(nameOf(node));
  }
  if (below !== undefined && !names.some((name) => name.startsWith(below))) return;
  total += spent;
  const [self = ''] = names;
  own.set(self, (own.get(self) ?? 0) + spent);
  for (const name of new Set(names)) under.set(name, (under.get(name) ?? 0) + spent);
});

function print(title: string, times: ReadonlyMap<string, number>): void {
  process.stdout.write(`${title}\n`);
  const most = [...times].toSorted((a, b) => b[1] - a[1]).slice(0, Number(lines));
  for (const [name, spent] of most) {
    const share = ((100 * spent) / total).toFixed(1).padStart(5);
    process.stdout.write(`${share} % ${(spent / 1_000).toFixed(0).padStart(7)} ms  ${name}\n`);
  }
}

print('Own time', own);
print('\nTime with everything called', under);
