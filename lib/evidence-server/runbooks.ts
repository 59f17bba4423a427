// The runbooks of an operator: Markdown files in `runbooks/`, in sections, ranked by a search library.
import MiniSearch from 'minisearch';
import * as z from 'zod';
import { LIMITS } from '../core/limits.ts';
import { FileFault } from './faults.ts';
import { filesIn, remembered, textOf, type FoundFile } from './files.ts';
import { likeness } from './services.ts';
import { readYaml } from './yaml.ts';

/** One section of a runbook. */
export interface Section {
  readonly id: string;
  /** The file's name without its ending. */
  readonly runbook: string;
  readonly title: string;
  /** The heading; the title again for what stands before the first one. */
  readonly heading: string;
  readonly text: string;
  /** Services that the runbook is for; none where it is for all. */
  readonly services: readonly string[];
}

/** A section that was found, best first. */
export interface Match extends Section {
  readonly score: number;
}

/** The runbooks as they are now. */
export interface Runbooks {
  /** Changes with every file. */
  readonly version: string;
  search(query: string, forService?: string): readonly Match[];
}

const frontMatter = z.strictObject({
  services: z.array(z.string().trim().min(1)).max(50).optional(),
});

/** Reads the runbooks of a folder. */
export function readRunbooks(folder: string): () => Promise<Runbooks> {
  return remembered(
    () => filesIn(folder, 'runbooks', /^[^.].*\.md$/),
    async (files) => {
      const { max } = LIMITS.evidenceRunbooks;
      if (files.length > max) throw new FileFault('runbooks', `expected at most ${max} files`);
      const sections: Section[] = [];
      for (const file of files) sections.push(...sectionsOf(file, await textOf(file)));
      return searchIn(sections, files.map(({ version }) => version).join());
    },
  );
}

function searchIn(sections: readonly Section[], version: string): Runbooks {
  const index = new MiniSearch<Section>({
    fields: ['title', 'heading', 'services', 'text'],
    extractField: (section, field) => {
      const value = section[field as keyof Section];
      return typeof value === 'string' ? value : value.join(' ');
    },
    searchOptions: {
      boost: { title: 4, heading: 3, services: 2 },
      prefix: (term) => term.length > 3,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
    },
  });
  index.addAll(sections);
  const byId = new Map(sections.map((section) => [section.id, section]));
  return {
    version,
    search: (query, forService) => {
      const wanted = forService === undefined ? undefined : likeness(forService);
      const filter = ({ id }: { readonly id: unknown }): boolean => {
        const { services = [] } = byId.get(id as string) ?? {};
        return wanted === undefined || services.length === 0
          ? true
          : services.some((name) => likeness(name) === wanted);
      };
      const found = index.search(query, { filter }).flatMap(({ id, score }) => {
        const section = byId.get(id as string);
        return section === undefined ? [] : [{ ...section, score: Math.round(score * 100) / 100 }];
      });
      // Equal scores in a fixed order, so that pages fit together.
      return found.toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
    },
  };
}

function sectionsOf({ name }: FoundFile, whole: string): readonly Section[] {
  const runbook = name.replace(/^runbooks\/|\.md$/g, '');
  const [, matter, rest = whole] =
    /^---\r?\n([^]*?)^---[ \t]*\r?\n([^]*)$/m.exec(whole.startsWith('---') ? whole : '') ?? [];
  const { services = [] } =
    matter === undefined
      ? {}
      : readYaml(
          matter,
          frontMatter.nullish().transform((m) => m ?? {}),
          name,
          2,
        );
  const title = /^#[ \t]+(.+)$/m.exec(rest)?.[1]?.trim() ?? runbook;
  const parts = rest.replace(/^#[ \t]+.+$/m, '').split(/^##[ \t]+/m);
  return parts.flatMap((part, i) => {
    const [first = '', ...lines] = part.split('\n');
    const heading = i === 0 ? title : first.trim();
    const text = (i === 0 ? part : lines.join('\n')).trim();
    if (i === 0 && text === '' && parts.length > 1) return [];
    return [{ id: `${runbook}#${i}`, runbook, title, heading, text, services }];
  });
}
