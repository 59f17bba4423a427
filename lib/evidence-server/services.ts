// The services of an operator, from one file.
import * as z from 'zod';
import { LIMITS } from '../core/limits.ts';
import { FileFault } from './faults.ts';
import { filesIn, remembered, textOf } from './files.ts';
import { readYaml } from './yaml.ts';

/** How a service can be. */
export const STATUSES = ['operational', 'degraded', 'down', 'maintenance', 'unknown'] as const;

const line = z.string().trim().min(1).max(LIMITS.sentenceChars.max);
const label = z.string().trim().min(1).max(LIMITS.titleChars.max);

/** One service, as the file has it and as the tool answers it. */
export const service = z.strictObject({
  name: label,
  status: z.enum(STATUSES),
  since: label.optional(),
  summary: line.optional(),
  owner: label.optional(),
  aliases: z.array(label).max(20).optional(),
  depends_on: z.array(label).max(50).optional(),
  checks: z
    .array(z.strictObject({ name: label, status: z.enum(STATUSES), detail: line.optional() }))
    .max(20)
    .optional(),
});

/** One service. */
export type Service = z.output<typeof service>;

const servicesFile = z.strictObject({
  services: z.array(service).max(LIMITS.evidenceServices.max),
});

/** Reads the services of a folder: its one `services.yaml`, `services.yml` or `services.json`. */
export function readServices(folder: string): () => Promise<readonly Service[]> {
  const find = () => filesIn(folder, '', /^services\.(?:ya?ml|json)$/);
  return remembered(find, async (files) => {
    const [file, other] = files;
    if (file === undefined) throw new FileFault('services.yaml', 'there is no such file');
    if (other !== undefined)
      throw new FileFault(other.name, `expected no file beside ${file.name}`);
    const { services } = readYaml(await textOf(file), servicesFile, file.name);
    const names = new Set<string>();
    for (const name of services.flatMap((each) => [each.name, ...(each.aliases ?? [])])) {
      const key = likeness(name);
      if (names.has(key)) throw new FileFault(file.name, `expected the name ${name} once`);
      names.add(key);
    }
    return services.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  });
}

/** The service of a name or an alias, in whatever letters. */
export function serviceNamed(services: readonly Service[], name: string): Service | undefined {
  const wanted = likeness(name);
  return services.find((each) =>
    [each.name, ...(each.aliases ?? [])].some((known) => likeness(known) === wanted),
  );
}

/** Names that mean the same. */
export function likeness(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/g, '-');
}
