/**
 * `npm test -- [vitest arguments]`: installs and builds if stale, runs the tests, and prints their count on a
 * separate last line. Files with failed tests are run once more, alone: a test that then passes is unstable. It does
 * not fail the run, but more than a few of them do. With `--changed`, only those tests run that the changes since the
 * beginning of the branch select, or since a commit with `--changed=COMMIT`.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changedTests } from './test/changed.mjs';
import { build, install, root, run } from './project.mjs';

/** More unstable tests than this fail the run. */
const MOST_UNSTABLE = 3;
/** More files than this with failed tests are not run again: their tests do not fail by chance. */
const MOST_REPEATED = 8;

const folder = join(root, 'dist');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');

/** The results of a run; undefined if vitest has written none because it did not start. */
async function runTests(file, args) {
  const results = join(folder, file);
  rmSync(results, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
  // Tests import the build, which is certain to be current only here.
  const env = { ...process.env, CAPSTAN_TEST_BUILT: '1' };
  const code = await run(process.execPath, [vitest, 'run', ...reporters, ...args], { env });
  return existsSync(results) ? { code, ...JSON.parse(readFileSync(results, 'utf8')) } : undefined;
}

/** The names of the failed tests of a file; the name of the file if it could not be run, or if a hook has failed. */
function failedIn({ name, status, assertionResults }) {
  const failed = assertionResults.filter(test => test.status === 'failed');
  return status === 'failed' && failed.length === 0 ? [name] : failed.map(({ fullName }) => `${name} > ${fullName}`);
}

const failedOf = results => results.testResults.flatMap(failedIn);

/** Runs the files with failed tests again, one at a time. Returns the tests that fail again. */
async function repeatFailed(results, flags) {
  const files = results.testResults.filter(file => failedIn(file).length > 0).map(({ name }) => name);
  if (files.length === 0 || files.length > MOST_REPEATED) return failedOf(results);
  console.log(`\nrunning files with failed tests again: ${files.join(' ')}`);
  const again = await runTests('test-results-again.json', [...flags, '--no-file-parallelism', ...files]);
  const failed = again ? failedOf(again) : failedOf(results);
  // A file that fails as a whole, in the first or the second run, has no test names.
  const isSame = (name, other) => name.startsWith(other) || other.startsWith(`${name} > `);
  return failedOf(results).filter(name => failed.some(other => isSame(name, other)));
}

/** Prints the last line of the run, which `.ci/run` prints again at its end. */
function printSummary(passed, failed) {
  const line = `${passed} passed, ${failed} failed`;
  console.log(line);
  writeFileSync(join(folder, 'test-summary.txt'), `${line}\n`);
}

/**
 * The arguments for vitest: with the files of changed tests instead of `--changed`. Ends the script if there are none.
 */
function argumentsFor(given) {
  const at = given.findIndex(arg => /^--changed(=|$)/.test(arg));
  if (at < 0) return given;
  const tests = changedTests(given[at].split('=')[1]);
  console.log(`${tests.length} files of tests are touched`);
  if (tests.length === 0) process.exit(0);
  return given.toSpliced(at, 1, ...tests);
}

const args = argumentsFor(process.argv.slice(2));
await install();
await build();
mkdirSync(folder, { recursive: true });
const results = await runTests('test-results.json', args);
if (results === undefined) {
  printSummary(0, 1);
  process.exitCode = 1;
} else {
  const flags = args.filter((arg, i) => arg.startsWith('-') || args[i - 1] === '-t');
  const first = failedOf(results);
  const failed = await repeatFailed(results, flags);
  const unstable = first.filter(name => !failed.includes(name));
  for (const name of unstable) console.log(`unstable: ${name}`);
  if (results.numPendingTests > 0) console.log(`${results.numPendingTests} skipped`);
  const isUnstable = unstable.length > MOST_UNSTABLE;
  if (isUnstable) console.log(`${unstable.length} tests are unstable, more than ${MOST_UNSTABLE}`);
  printSummary(results.numPassedTests + unstable.length, failed.length);
  // If no test has failed, vitest fails because of an error outside of tests.
  const isBroken = results.code !== 0 && first.length === 0;
  process.exitCode = failed.length > 0 || isUnstable || isBroken || results.numPassedTests === 0 ? 1 : 0;
}
