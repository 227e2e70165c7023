import { type Etcd, etcdInstalled, startEtcd as start } from '../../test/storage/etcd.js';

/** More than the cases write: long ones write more than etcd's default. */
const QUOTA_BYTES = 8 * 2 ** 30;

/** Starts the installed etcd on an empty directory; undefined if etcd is not installed. */
export async function startEtcd(directory: string): Promise<Etcd | undefined> {
  return etcdInstalled ? await start({ directory, flags: { 'quota-backend-bytes': String(QUOTA_BYTES) } }) : undefined;
}
