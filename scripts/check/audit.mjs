/**
 * `npm run audit`: asks the registry for known vulnerabilities of the production dependencies. Fails if one is high or
 * critical. A registry that does not answer is reported, and does not count as a failure: it says nothing about the
 * dependencies.
 */
import { spawnSync } from 'node:child_process';
import { root } from '../project.mjs';

const FAILING = ['high', 'critical'];

/** The report of `npm audit`; undefined if npm printed none. */
function reportIn(text) {
  try {
    const report = JSON.parse(text);
    return report.metadata?.vulnerabilities ? report : undefined;
  } catch {
    return undefined;
  }
}

/** One line for each package: its severity, and the advisories about it or its dependencies. */
function describe({ name, severity, via }) {
  const causes = via.map(cause => (typeof cause === 'string' ? `through ${cause}` : `${cause.title} (${cause.url})`));
  return `${severity}: ${name}: ${causes.join('; ')}`;
}

const flags = ['--json', '--loglevel=warn', '--omit=dev', '--fetch-retries=0', '--fetch-timeout=60000'];
const { stdout, stderr, error } = spawnSync('npm', ['audit', ...flags], { cwd: root, encoding: 'utf8' });
if (error) throw error;
const report = reportIn(stdout);
if (report) {
  const found = Object.values(report.vulnerabilities);
  for (const one of found) console.log(describe(one));
  const failing = found.filter(({ severity }) => FAILING.includes(severity));
  console.log(`audit: ${found.length} vulnerable production dependencies, ${failing.length} of them high or critical`);
  if (failing.length > 0) process.exitCode = 1;
} else {
  const [reason = ''] = `${stderr}${stdout}`.split('\n').filter(line => line.trim() !== '');
  const shown = reason.replace(/^npm (warn|error) (audit )?/, '');
  console.log(`audit: the registry did not answer, nothing was checked: ${shown}`);
}
