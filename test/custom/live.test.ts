import { expect, test } from 'vitest';
import { type ApiObject, defineResource, type ResourceSource } from '../../core/api/index.js';
import { LiveRegistry } from '../../core/schema/registry/live.js';
import { namingOf } from '../../core/naming.js';
import { discoveryDocuments } from '../../core/services/discovery/index.js';
import { registryOf } from '../kinds/builtIn.js';

const tea = defineResource({
  group: 'tea.example.com',
  version: 'v1',
  kind: 'Tea',
  plural: 'teas',
  scope: 'Cluster',
  schema: { type: 'object' },
});

test('if a source fails for an object, its previous type is kept and the thread continues', () => {
  const source: ResourceSource = {
    storageName: 'core/configmaps',
    define: (object: ApiObject) => {
      if (object.metadata.labels?.bad) throw new Error('cannot be read');
      return tea;
    },
  };
  const logged: object[] = [];
  const live = new LiveRegistry(registryOf('neutral'), [], [source], {
    error: fields => logged.push(fields),
  });
  const change = (revision: number, labels?: object): void =>
    live.apply({
      key: 'core/configmaps/a/b',
      revision,
      value: Buffer.from(JSON.stringify({ metadata: { name: 'b', labels } })),
    });
  const isServed = (): boolean => live.current.find('tea.example.com', 'v1', 'teas') !== undefined;
  change(1);
  expect(isServed()).toBe(true);
  change(2, { bad: 'yes' });
  expect(isServed()).toBe(true);
  expect(logged).toMatchObject([{ key: 'core/configmaps/a/b' }]);
  live.apply({ key: 'core/configmaps/a/b', revision: 3 });
  expect(isServed()).toBe(false);
});

/** A registry whose types are defined by the data of ConfigMaps. */
function registryOfConfigMaps() {
  const define = ({ data }: ApiObject) => ({ ...tea, ...(data as { group: string; plural: string; kind: string }) });
  const failures: object[] = [];
  const log = { error: (fields: object) => void failures.push(fields) };
  const live = new LiveRegistry(registryOf('neutral'), [], [{ storageName: 'core/configmaps', define }], log);
  let revision = 0;
  const set = (name: string, group: string, plural: string, kind: string): void => {
    const value = Buffer.from(JSON.stringify({ metadata: { name }, data: { group, plural, kind } }));
    live.apply({ key: `core/configmaps/a/${name}`, revision: ++revision, value });
  };
  const remove = (name: string): void => live.apply({ key: `core/configmaps/a/${name}`, revision: ++revision });
  return { live, set, remove, failures };
}

test('a changed definition does not change the groups of other definitions', () => {
  const { live, set, remove } = registryOfConfigMaps();
  for (let i = 0; i < 20; i++) set(`d${i}`, `g${i}.example.com`, 'cups', 'Cup');
  const before = live.current;
  set('d3', 'g3.example.com', 'cups', 'Mug');
  remove('d4');
  const after = live.current;
  expect(after.find('g3.example.com', 'v1', 'cups')?.kind).toBe('Mug');
  expect(after.groups.has('g4.example.com')).toBe(false);
  const changed = [...before.groups].filter(([name, group]) => after.groups.get(name) !== group);
  expect(changed.map(([name]) => name)).toEqual(['g3.example.com', 'g4.example.com']);
});

test('of two definitions with the same name, the second is served once the first is deleted or moved to another group', () => {
  const { live, set, remove, failures } = registryOfConfigMaps();
  const kinds = () => Array.from(live.current.groups.get('g.example.com')?.versions[0]?.resources.values() ?? []);
  set('b', 'g.example.com', 'cups', 'Cup');
  set('a', 'g.example.com', 'mugs', 'Cup');
  expect(kinds().map(({ plural }) => plural)).toEqual(['mugs']);
  expect(failures).toEqual([{ key: 'core/configmaps/a/b' }]);
  set('a', 'other.example.com', 'mugs', 'Cup');
  expect(kinds().map(({ plural }) => plural)).toEqual(['cups']);
  set('a', 'g.example.com', 'mugs', 'Cup');
  remove('a');
  expect(kinds().map(({ plural }) => plural)).toEqual(['cups']);
});

test('aggregated discovery that is assembled from groups equals the document that is encoded as a whole', () => {
  const { live, set, remove } = registryOfConfigMaps();
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const answerAt = (path: string, indent: boolean) => {
    const documents = discoveryDocuments(live.current, namingOf('kubernetes'));
    return documents.answer(path, accept, undefined, indent)!;
  };
  const documentAt = (path: string, indent: boolean): string => Buffer.from(answerAt(path, indent).bytes).toString();
  const without = answerAt('/apis', false);
  for (const kind of ['Cup', 'Mug']) {
    set('d', 'g.example.com', 'cups', kind);
    for (const path of ['/api', '/apis'])
      expect(documentAt(path, false)).toBe(`${JSON.stringify(JSON.parse(documentAt(path, true)))}\n`);
    expect(documentAt('/apis', false)).toContain(`"kind":"${kind}"`);
  }
  const one = answerAt('/apis', false);
  set('c', 'a.example.com', 'cups', 'Cup');
  remove('d');
  set('d', 'g.example.com', 'cups', 'Mug');
  remove('c');
  // Neither the order of definitions nor deleted ones affect the document and its tag.
  expect(answerAt('/apis', false)).toEqual(one);
  remove('d');
  expect(answerAt('/apis', false)).toEqual(without);
});
