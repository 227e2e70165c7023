import { afterAll, describe, it } from 'vitest';
import { EtcdStore } from '../../../plugins/storage/etcd/store.js';
import { etcdWanted, startEtcd } from '../../storage/etcd.js';
import { storageConformance } from '../storage.js';

if (etcdWanted) {
  const etcd = await startEtcd();
  afterAll(() => etcd.stop());
  let stores = 0;
  storageConformance('etcd', async () => {
    const prefix = `test-${stores++}`;
    return { open: () => new EtcdStore({ servers: [etcd.url], prefix }).start(), dispose: async () => {} };
  });
} else {
  describe('storage conformance: etcd', () => {
    it.skip('skipped: the program `etcd` is not installed (CAPSTAN_TEST_REQUIRE=all makes this a failure)', () => {});
  });
}
