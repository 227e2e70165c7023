/**
 * `npm run badges`, a step of `.ci/run`: draws the badges of README.md from the results of the last complete `npm
 * test`: the tests that passed, the rows of the requirements that they name, and the clients that they used.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../project.mjs';
import { passing, requirements } from './requirements.mjs';

/** The clients, and the files of their tests in test/clients. */
const CLIENTS = { kubectl: 'kubectl.test.ts', 'client-node': 'clientNode.test.ts', python: 'python.test.ts' };
/** The average width of a character, and the width of the space next to a text, in pixels. */
const CHARACTER = 6.6;
const SPACE = 8;

function badge(name, value, isGood) {
  const [left, right] = [name, value].map(text => Math.ceil(text.length * CHARACTER + 2 * SPACE));
  const text = (x, content) => `<text x="${x}" y="14" text-anchor="middle">${content}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${name}: ${value}">
<style>text { font: 11px system-ui, sans-serif; fill: #ffffff; }</style>
<rect width="${left + right}" height="20" rx="3" fill="#444c56"/>
<path d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-${right - 3}z" fill="${isGood ? '#1a7f37' : '#b35900'}"/>
${text(left / 2, name)}
${text(left + right / 2, value)}
</svg>
`;
}

/** The results of the test files; for files that were run again, those of the second run. */
function lastResults() {
  const read = name => JSON.parse(readFileSync(join(root, 'dist', name), 'utf8'));
  const { startTime, testResults } = read('test-results.json');
  const again = existsSync(join(root, 'dist', 'test-results-again.json')) && read('test-results-again.json');
  // Badges of an earlier run may have been left.
  const later = again?.startTime > startTime ? again.testResults : [];
  return testResults.map(file => later.find(({ name }) => name === file.name) ?? file);
}

/** The value of each badge, and whether it is good. */
function badgesOf(testResults) {
  const statuses = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  const [passed, failed] = ['passed', 'failed'].map(word => statuses.filter(status => status === word).length);
  const ids = passing(testResults);
  const rows = requirements();
  const verified = rows.filter(({ id }) => ids.has(id)).length;
  const clients = Object.entries(CLIENTS).flatMap(([name, file]) => {
    const found = testResults.find(result => result.name.endsWith(`/clients/${file}`));
    return found?.assertionResults.some(({ status }) => status === 'passed') && found.status === 'passed' ? [name] : [];
  });
  return {
    tests: [failed > 0 ? `${failed} failed` : `${passed.toLocaleString('en-US')} passed`, failed === 0 && passed > 0],
    requirements: [`${verified} of ${rows.length}`, verified === rows.length],
    clients: [clients.join(' · ') || 'none', clients.length === Object.keys(CLIENTS).length],
  };
}

const testResults = lastResults();
const folder = join(root, 'docs', 'images', 'badges');
mkdirSync(folder, { recursive: true });
for (const [name, [value, isGood]] of Object.entries(badgesOf(testResults)))
  writeFileSync(join(folder, `${name}.svg`), badge(name, value, isGood));
