/** Runs the import table over a tree with dependency-cruiser and answers in plain data. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import type { ImportRule } from './import-rules.ts';

/** A forbidden edge that was found. */
export interface ForbiddenEdge {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

/** What a cruise saw: the modules of the tree itself, and the forbidden edges. */
export interface CruisedTree {
  readonly modules: readonly string[];
  readonly edges: readonly ForbiddenEdge[];
}

const sourceFolders = ['lib', 'bin', 'lambdas', 'examples', 'test'];

/**
 * Reads every import of a tree, type-only imports included.
 *
 * @param baseDir absolute path of the tree; the paths in the answer start from it
 */
export async function cruiseImports(
  baseDir: string,
  rules: readonly ImportRule[],
): Promise<CruisedTree> {
  const result = await cruise(
    sourceFolders.filter((folder) => existsSync(join(baseDir, folder))),
    {
      baseDir,
      // TypeScript 7 offers no parser to tools; without this one the answer is "0 modules, no violations".
      parser: 'swc',
      doNotFollow: { path: 'node_modules' },
      exclude: { path: '^test/architecture/fixtures/' },
      outputType: 'json',
      validate: true,
      ruleSet: {
        forbidden: rules.map(({ name, because, from, to }) => ({
          name,
          comment: because,
          severity: 'error' as const,
          from,
          to,
        })),
      },
    },
    { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  );
  const report = typeof result.output === 'string' ? JSON.parse(result.output) : result.output;
  return readReport(report);
}

interface Report {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

function readReport(report: Report): CruisedTree {
  const ours = new RegExp(`^(?:${sourceFolders.join('|')})/(?!.*node_modules/)`);
  return {
    modules: report.modules.map((module) => module.source).filter((source) => ours.test(source)),
    edges: report.summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to })),
  };
}
