/**
 * Prints `N passed, N failed` from jest's JSON report and exits 1 unless nothing failed.
 *
 * Usage: node .ci/count-results.mjs REPORT JEST_EXIT_CODE FAILED_STEPS
 *
 * A suite that could not run counts as one failure, and so does each failed step before the tests;
 * a report that is missing, empty or contradicted by jest's exit code is never a success.
 */
import { readFileSync } from 'node:fs';

const [report, jestExitCode, failedSteps] = process.argv.slice(2);

function readReport() {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return {};
  }
}

const { numPassedTests = 0, numFailedTests = 0, numRuntimeErrorTestSuites = 0 } = readReport();
const failedTests = numFailedTests + numRuntimeErrorTestSuites;
const unexplained = failedTests === 0 && (jestExitCode !== '0' || numPassedTests === 0) ? 1 : 0;
const failed = failedTests + unexplained + Number(failedSteps);

console.log(`${numPassedTests} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
