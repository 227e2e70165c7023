/**
 * `npm test -- [vitest arguments]`: installs and builds what is stale, runs the tests, and ends with their count on a
 * line of its own.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, install, root, run } from './project.mjs';

await install();
await build();
const results = join(root, 'dist', 'test-results.json');
mkdirSync(join(root, 'dist'), { recursive: true });
rmSync(results, { force: true });
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
const code = await run(process.execPath, [vitest, 'run', ...reporters, ...process.argv.slice(2)]);
process.exitCode = code;
/** Prints the last line of the run, which `.ci/run` prints again at its end. */
function printSummary(line) {
  console.log(line);
  writeFileSync(join(root, 'dist', 'test-summary.txt'), `${line}\n`);
}

if (existsSync(results)) {
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(readFileSync(results, 'utf8'));
  const broken = testResults.filter(file => file.status === 'failed' && file.assertionResults.length === 0).length;
  if (broken > 0) console.log(`${broken} test files could not be run`);
  if (numPendingTests > 0) console.log(`${numPendingTests} skipped`);
  printSummary(`${numPassedTests} passed, ${numFailedTests + broken} failed`);
  if (numPassedTests === 0 && code === 0) process.exitCode = 1;
} else {
  printSummary('0 passed, 1 failed');
  process.exitCode = code || 1;
}
