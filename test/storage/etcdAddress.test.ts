import { expect, test } from 'vitest';
import { hostAndPort } from '../../plugins/storage/etcd/connection.js';

test.each([
  ['http://127.0.0.1:2379', '127.0.0.1:2379'],
  ['http://etcd.example:80', 'etcd.example:80'],
  ['https://etcd.example:443', 'etcd.example:443'],
  ['https://etcd.example', 'etcd.example:443'],
  ['http://[::1]:2379', '[::1]:2379'],
])('etcd at %s is called at %s', (server, address) => {
  expect(hostAndPort(server)).toBe(address);
});
