/**
 * `npm run requirements [-- results.json]`: lists the rows of docs/reference/requirements.tsv that have a test, and
 * those that have none. With results of vitest in JSON, by default dist/test-results.json of the last `npm test`, only
 * passing tests count; without them, all tests in the sources.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../project.mjs';

const ID = /[AR]\d{3}x?/g;
/** Ids in every `[R123 R124]` of a text. */
const idsIn = text =>
  [...text.matchAll(/\[([AR]\d{3}x?(?:[ ,]+[AR]\d{3}x?)*)\]/g)].flatMap(match => match[1].match(ID));

function sources(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .filter(name => name.endsWith('.ts'))
    .map(name => readFileSync(join(folder, name), 'utf8'));
}

/** The rows that tests name in the results of vitest, by whether they pass, or in the sources without results. */
function tested(file) {
  if (!file)
    return {
      ids: new Set(['test', 'examples', 'core/testing'].flatMap(name => sources(join(root, name)).flatMap(idsIn))),
      from: 'sources',
    };
  return { ids: passing(JSON.parse(readFileSync(file, 'utf8')).testResults), from: 'passing tests' };
}

/** The ids of the rows that passing tests name, by the `testResults` of vitest. */
export function passing(testResults) {
  const passed = testResults.flatMap(result => result.assertionResults).filter(test => test.status === 'passed');
  return new Set(passed.flatMap(test => idsIn(test.fullName)));
}

/** All rows: their id, text and issue. */
export function requirements() {
  const text = readFileSync(join(root, 'docs', 'reference', 'requirements.tsv'), 'utf8');
  const [, ...lines] = text.trimEnd().split('\n');
  return lines.map(line => line.split('\t')).map(([id, , requirement, , issue]) => ({ id, requirement, issue }));
}

function print(given) {
  const left = join(root, 'dist', 'test-results.json');
  const { ids, from } = tested(given ?? (existsSync(left) ? left : undefined));
  const rows = requirements();
  const known = new Set(rows.map(row => row.id));
  for (const letter of [...new Set(rows.map(row => row.issue))].sort()) {
    const own = rows.filter(row => row.issue === letter);
    const open = own.filter(row => !ids.has(row.id));
    console.log(`${letter}: ${own.length - open.length} of ${own.length} rows have a test (${from})`);
    for (const row of open) console.log(`  ${row.id}  ${row.requirement}`);
  }
  const strange = [...ids].filter(id => !known.has(id));
  if (strange.length > 0) {
    console.log(`tests name rows that do not exist: ${strange.join(', ')}`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === import.meta.filename) print(process.argv[2]);
