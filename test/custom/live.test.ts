import { expect, test } from 'vitest';
import { type ApiObject, defineResource, type ResourceSource } from '../../core/api/index.js';
import { LiveRegistry } from '../../core/schema/registry/live.js';
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
