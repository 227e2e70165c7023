import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Entry } from '../../core/threads/entries/entry.js';
import { packStartPage, readStartPage } from '../../core/threads/entries/startPage.js';

const item = fc.record({
  key: fc.string({ unit: 'binary' }),
  modified: fc.maxSafeNat(),
  value: fc.uint8Array({ maxLength: 100 }),
});

test.each([false, true])('a start page contains the packed items, shared: %s', shared => {
  fc.assert(
    fc.property(fc.array(item), items => {
      const entries: Entry[] = [];
      readStartPage(packStartPage(items, shared), entry => entries.push(entry));
      expect(entries.map(({ key, revision, value }) => ({ key, modified: revision, value }))).toEqual(items);
    }),
  );
});

test.each([
  ['core/configmaps/shop/settings', 'shop', 'settings'],
  ['core/namespaces/shop', '', 'shop'],
  ['rbac.authorization.orchestrator.io/clusterroles/system:node', '', 'system:node'],
])('the entry of %s is in the namespace "%s" and has the name %s', (key, namespace, name) => {
  const entry = new Entry(key, 1, Buffer.from('{}'));
  expect([entry.namespace, entry.name]).toEqual([namespace, name]);
});
