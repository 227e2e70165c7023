import { expect, test } from 'vitest';
import { Informers } from '../../core/plugin/informers/informers.js';
import { Entry } from '../../core/threads/entries/entry.js';
import { packStartPage } from '../../core/threads/entries/startPage.js';

const bytesOf = (name: string, metadata: object): Buffer =>
  Buffer.from(JSON.stringify({ kind: 'X', apiVersion: 'v1', metadata: { name, ...metadata } }));

test('objects are found by their uids in all resources, packed or not, and not by uids inside of them', async () => {
  const informers = new Informers(() => undefined, true);
  const packed = ['a', 'b'].map((name, i) => ({
    key: `core/nodes/${name}`,
    modified: i + 1,
    value: bytesOf(name, { uid: `node-${name}` }),
  }));
  expect(informers.addPage(packStartPage(packed, true))).toBe(true);
  informers.delete('core/nodes/b', 3);
  const ownerReferences = [{ uid: 'owner' }];
  informers.set(new Entry('core/pods/shop/web', 4, bytesOf('web', { uid: 'pod', ownerReferences })));
  informers.set(new Entry('core/pods/shop/none', 5, bytesOf('none', {})));
  const found = await informers.findByUid(new Set(['node-a', 'node-b', 'pod', 'owner']));
  expect(Object.fromEntries(found)).toEqual({
    'node-a': { storageName: 'core/nodes', namespace: '', name: 'a' },
    pod: { storageName: 'core/pods', namespace: 'shop', name: 'web' },
  });
});
