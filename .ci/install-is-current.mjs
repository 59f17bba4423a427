/**
 * Exits 0 when node_modules holds what package-lock.json names, 1 when it must be installed again.
 * It compares content, because a checkout gives every file a new date. It runs on any Node, since it
 * decides whether the project's own one is there.
 */
import { readFileSync } from 'node:fs';

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
  } catch {
    return undefined;
  }
}

const wanted = packagesIn('package-lock.json');
const installed = packagesIn('node_modules/.package-lock.json');

function isCurrent() {
  if (!wanted || !installed) return false;
  const differs = (path) =>
    installed[path]?.version !== wanted[path]?.version ||
    installed[path]?.integrity !== wanted[path]?.integrity;
  // An optional package of another platform is in the lock file and rightly not installed.
  const missing = Object.keys(wanted).some(
    (path) => path !== '' && !installed[path] && !wanted[path].optional,
  );
  return !missing && !Object.keys(installed).some(differs);
}

process.exitCode = isCurrent() ? 0 : 1;
