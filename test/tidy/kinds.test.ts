import { expect, it } from 'vitest';
import { builtInStrategies } from '../kinds/builtIn.js';
import { sourcesIn } from './files.js';

/** Where requests of all kinds pass. */
const GENERIC = [
  'core/request',
  'core/plugin',
  'core/schema',
  'core/tables',
  'core/threads',
  'workers/front',
  'workers/pipeline',
  'workers/store',
];
/** The tables of kinds themselves. */
const TABLES = /^core\/schema\/(table|custom)\//;
/** What is no kind's rule: the grammar of paths, the one resource that two groups serve, and a message of that name. */
const ALLOWED = new Map([
  ['namespaces', /^core\/request\/route\.ts$/],
  ['events', /^core\/schema\/registry\.ts$|is: 'events'|case 'events'|is === 'events'|is !== 'events'|\['events'\]/],
]);

it('the generic path names no kind', () => {
  const plurals = new Set(Array.from(builtInStrategies('neutral').keys(), name => name.slice(name.indexOf('/') + 1)));
  const naming = sourcesIn(...GENERIC)
    .filter(({ path }) => !TABLES.test(path))
    .flatMap(({ path, text }) => text.split('\n').map(line => ({ path, line })))
    .filter(({ path, line }) =>
      [...line.matchAll(/['/]([a-z]+)'/g)].some(([, word = '']) => {
        const allowed = ALLOWED.get(word);
        return plurals.has(word) && !allowed?.test(path) && !allowed?.test(line);
      }),
    );
  expect(naming).toEqual([]);
});
