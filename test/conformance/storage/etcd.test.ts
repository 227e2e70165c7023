import { describe, it } from 'vitest';
import { EtcdStore } from '../../../plugins/storage/etcd/store.js';
import { etcdWanted, startEtcd } from '../../storage/etcd.js';
import { storageConformance } from '../storage.js';

if (etcdWanted) {
  storageConformance('etcd', async () => {
    const { url, stop } = await startEtcd();
    return { open: () => new EtcdStore({ servers: [url], prefix: 'test' }).start(), dispose: stop };
  });
} else {
  describe('storage conformance: etcd', () => {
    it.skip('skipped: the program `etcd` is not installed (CAPSTAN_TEST_REQUIRE=all makes this a failure)', () => {});
  });
}
