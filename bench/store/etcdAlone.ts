/**
 * Measures etcd alone, with the gRPC client of the plugin, in a separate process: `node etcdAlone.js URL KIND
 * CLIENTS BYTES MS`. `update` changes one key per client, `get` reads one key, `list` reads 1,000 keys. Prints
 * operations per second.
 */
import { Connection } from '../../plugins/storage/etcd/connection.js';
import { Put, Range, Txn, type TxnResponse } from '../../plugins/storage/etcd/protocol.js';
import { modRevisionEquals } from '../../plugins/storage/etcd/transaction.js';

/** The number of keys in a list. */
const LISTED = 1000;

const [url = '', kind = '', ...numbers] = process.argv.slice(2);
const [clients = 1, bytes = 1500, ms = 1000] = numbers.map(Number);
const value = Buffer.alloc(bytes, 'x');
const run = `/alone-${Date.now()}/`;
const connection = new Connection({ servers: [url], prefix: '/alone' });
const key = (name: string): Buffer => Buffer.from(run + name);
const END = Buffer.from(`${run.slice(0, -1)}0`);

/** Calls per second of `clients` loops. */
async function rateOf(once: (client: number) => Promise<unknown>): Promise<number> {
  let count = 0;
  const began = performance.now();
  const loop = async (_: unknown, client: number): Promise<void> => {
    for (; performance.now() - began < ms; count++) await once(client);
  };
  await Promise.all(Array.from({ length: clients }, loop));
  return (count * 1000) / (performance.now() - began);
}

async function update(): Promise<number> {
  const modified: number[] = [];
  for (let i = 0; i < clients; i++)
    modified.push((await connection.call(Put, { key: key(String(i)), value })).header.revision);
  return await rateOf(async client => {
    const own = key(String(client));
    const answer: TxnResponse = await connection.call(Txn, {
      compare: [modRevisionEquals(own, modified[client]!)],
      success: [{ put: { key: own, value } }],
      failure: [{ range: { key: own } }],
    });
    modified[client] = answer.header.revision;
  });
}

async function read(count: number): Promise<number> {
  for (let i = 0; i < count; i++) await connection.call(Put, { key: key(String(i)), value });
  return await rateOf(() => connection.call(Range, count === 1 ? { key: key('0') } : { key: key(''), range_end: END }));
}

const kinds: { readonly [kind: string]: (() => Promise<number>) | undefined } = {
  update,
  get: () => read(1),
  list: () => read(LISTED),
};
console.log(await kinds[kind]!());
connection.close();
