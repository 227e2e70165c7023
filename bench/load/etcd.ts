/** The clients of a fan-out with etcd itself. Like those in connection.ts, they do as little as the protocol allows. */
import { Client, credentials } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { Txn, Watch } from '../../plugins/storage/etcd/protocol.js';
import { modRevisionEquals } from '../../plugins/storage/etcd/transaction.js';
import { lagOf } from './connection.js';

/** Field numbers of etcd's WatchResponse. */
const CREATED = 3;
const EVENTS = 11;
/** The time limit for etcd to confirm a watch, in milliseconds. */
const OPEN_MS = 10_000;

/** Creates a client with its own connection. */
const connect = (url: string): Client =>
  new Client(new URL(url).host, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });

/** Reads the kind of a message of a watch. Its events are counted, not decoded. */
function summarize(bytes: Buffer): { readonly created: boolean; readonly events: number } {
  const reader = protobuf.Reader.create(bytes);
  let created = false;
  let events = 0;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === EVENTS) events++;
    if (tag >>> 3 === CREATED) created = reader.bool();
    else reader.skipType(tag & 7);
  }
  return { created, events };
}

/** A watch of every key under `prefix`: counts events and samples their lag. */
export class EtcdWatch {
  isClosed = false;
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** Opens a watch. Resolves once etcd has confirmed it. */
  static open(
    url: string,
    prefix: string,
    onLag: (milliseconds: number) => void,
    onEvents: (events: number) => void,
  ): Promise<EtcdWatch> {
    const client = connect(url);
    const stream = client.makeBidiStreamRequest(Watch.path, Watch.encode, bytes => bytes);
    const watch = new EtcdWatch(client);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('opening a watch at etcd timed out')), OPEN_MS);
      const end = (error?: Error): void => {
        watch.isClosed = true;
        clearTimeout(timer);
        reject(error ?? new Error('the watch was closed'));
      };
      stream.on('error', end).on('end', end);
      stream.on('data', (bytes: Buffer) => {
        const { created, events } = summarize(bytes);
        if (created) {
          clearTimeout(timer);
          resolve(watch);
        }
        if (events === 0) return;
        const milliseconds = lagOf(bytes);
        if (milliseconds !== undefined) onLag(milliseconds);
        onEvents(events);
      });
      stream.write({ create: { key: Buffer.from(`${prefix}/`), range_end: Buffer.from(`${prefix}0`) } });
    });
  }

  close(): void {
    this.#client.close();
  }
}

/** Writes one key if it has not changed since: like an update with a resourceVersion. */
export class EtcdWriter {
  readonly #client: Client;
  readonly #key: Buffer;
  #modified = 0;

  constructor(url: string, key: string) {
    this.#client = connect(url);
    this.#key = Buffer.from(key);
  }

  /** Writes the value. Resolves with true if the write took place. */
  async write(value: string): Promise<boolean> {
    const transaction = {
      compare: [modRevisionEquals(this.#key, this.#modified)],
      success: [{ put: { key: this.#key, value: Buffer.from(value) } }],
      failure: [{ range: { key: this.#key } }],
    };
    const { succeeded, header } = await new Promise<ReturnType<typeof Txn.decode>>((resolve, reject) => {
      this.#client.makeUnaryRequest(Txn.path, Txn.encode, Txn.decode, transaction, (error, answer) =>
        error ? reject(error) : resolve(answer!),
      );
    });
    if (succeeded) this.#modified = header.revision;
    return succeeded;
  }

  close(): void {
    this.#client.close();
  }
}
