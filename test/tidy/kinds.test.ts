import { describe, expect, it } from 'vitest';
import { groupRows } from '../../core/schema/table/resources.js';
import { builtInStrategies } from '../kinds/builtIn.js';
import { sourcesIn } from './files.js';

/** Code for requests of all kinds. */
const GENERIC = [
  'core/request',
  'core/plugin',
  'core/schema',
  'core/services/tables',
  'core/threads',
  'workers/front',
  'workers/pool',
  'workers/writer',
];
/** The tables of kinds. */
const TABLES = /^core\/schema\/(table|custom)\//;
/**
 * Uses of names of kinds that are not rules of a kind: the grammar of paths, a message with such a name, and the folder
 * that passes requests on to the servers of APIServices.
 */
const ALLOWED = new Map([
  ['apiservices', /^workers\/front\/aggregation\//],
  ['namespaces', /^core\/request\/route\.ts$/],
  ['events', /is: 'events'|case 'events'|is === 'events'|is !== 'events'|\['events'\]/],
]);

/** `CSIDriver` as a file name: `csiDriver`. */
const fileNameOf = (kind: string): string =>
  kind
    .replace(/[A-Z]+(?=[A-Z][a-z]|$)/g, acronym => acronym[0] + acronym.slice(1).toLowerCase())
    .replace(/^./, first => first.toLowerCase());

/** The storage names of the kinds of each group, by file name. The folder of a group is the first label of its name. */
const KINDS = new Map(
  groupRows().map(({ name, versions }) => [
    name.split('.')[0] || 'core',
    new Map(
      versions.flatMap(({ resources }) =>
        resources.map(({ kind, plural }) => [fileNameOf(kind), `${name || 'core'}/${plural}`]),
      ),
    ),
  ]),
);

it('generic code names no kind', () => {
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

/** Code about built-in kinds, whose fields have types. */
const TYPED = ['plugins/kinds', 'plugins/admission', 'plugins/controllers', 'plugins/authz/node'];

it('code about built-in kinds reads their fields through types, not by string names', () => {
  const untyped = sourcesIn(...TYPED).flatMap(({ path, text }) =>
    [...text.matchAll(/\b(?:value|record|string|number)s?At\(/g)].map(([call]) => `${path}: ${call}`),
  );
  expect(untyped).toEqual([]);
});

describe('plugins/kinds', () => {
  const files = sourcesIn('plugins/kinds');
  /** Parses `plugins/kinds/<group>/<kind>…`. Files of all kinds have neither. */
  const places = files.map(({ path, text, imports }) => {
    const [group = '', kind = ''] = path.slice('plugins/kinds/'.length).replace(/\.ts$/, '').split('/');
    return { path, text, imports, group, kind };
  });
  const kindFiles = places.filter(({ kind, group }) => kind !== '' && group !== 'shared');

  it('has a folder for each group, and in it a file or folder for each kind, by its name', () => {
    const misplaced = kindFiles.filter(({ group, kind }) => !KINDS.get(group)?.has(kind));
    expect(misplaced.map(({ path }) => path)).toEqual([]);
    expect(places.filter(({ kind }) => kind === '').map(({ path }) => path)).toEqual(['plugins/kinds/index.ts']);
  });

  it('exports the strategy of a kind from the file of that kind', () => {
    const given = places.flatMap(({ path, text, group, kind }) =>
      [...text.matchAll(/builtInKind(?:<\w+>)?\(\s*'([^']+)'/g)].map(match => ({
        path,
        group,
        kind,
        storageName: match[1]!,
      })),
    );
    const foreign = given.filter(({ group, kind, storageName }) => KINDS.get(group)?.get(kind) !== storageName);
    expect(foreign).toEqual([]);
    expect(given.map(({ storageName }) => storageName).sort()).toEqual([...builtInStrategies('neutral').keys()].sort());
  });

  it('has in `shared` only code that several kinds use', () => {
    const usersOf = (path: string): Set<string> =>
      new Set(
        places
          .filter(({ imports }) => imports.includes(path))
          .flatMap(user => (user.group === 'shared' ? [...usersOf(user.path)] : [`${user.group}/${user.kind}`])),
      );
    const shared = places.filter(({ group }) => group === 'shared');
    expect(shared.filter(({ path }) => usersOf(path).size < 2).map(({ path }) => path)).toEqual([]);
  });

  it('is the only folder with modules named after kinds', () => {
    const names = new Set([...KINDS.values()].flatMap(kinds => [...kinds.keys()]));
    const elsewhere = sourcesIn('core', 'workers').filter(({ path }) => names.has(path.replace(/^.*\/|\.ts$/g, '')));
    expect(elsewhere.map(({ path }) => path)).toEqual([]);
  });
});
