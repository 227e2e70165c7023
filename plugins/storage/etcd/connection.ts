import { readFileSync } from 'node:fs';
import { Client, type ClientDuplexStream, credentials, type ServiceError } from '@grpc/grpc-js';
import type { Method } from './protocol.js';
import { type WatchResponse, Watch } from './protocol.js';

/** Where etcd is, and how it is spoken to. */
export interface EtcdConfig {
  /** `http://host:port` or `https://host:port`; calls go to one that answers. */
  readonly servers: readonly string[];
  readonly cafile?: string;
  readonly certfile?: string;
  readonly keyfile?: string;
  /** Begins every key, so that several stores can share a cluster. */
  readonly prefix: string;
}

/** A call that takes longer is given up, as its outcome then is unknown either way. */
const CALL_MS = 10_000;
/** Answers may hold a page of the largest objects. */
const MESSAGE_BYTES = 2 ** 30;

/** One channel per server; the one that last answered is used until it fails. Nothing is sent twice. */
export class Connection {
  readonly #clients: readonly Client[];
  #current = 0;

  constructor(config: EtcdConfig) {
    const file = (name?: string) => (name === undefined ? null : readFileSync(name));
    const secure = () => credentials.createSsl(file(config.cafile), file(config.keyfile), file(config.certfile));
    const options = {
      'grpc.max_receive_message_length': MESSAGE_BYTES,
      'grpc.enable_retries': 0,
      'grpc.keepalive_time_ms': 30_000,
    };
    this.#clients = config.servers.map(server => {
      const { protocol, host } = new URL(server);
      return new Client(host, protocol === 'https:' ? secure() : credentials.createInsecure(), options);
    });
  }

  call<Response>(method: Method<Response>, request: object, signal?: AbortSignal): Promise<Response> {
    return new Promise((resolve, reject) => {
      const at = this.#current;
      const answered = (error: ServiceError | null, response?: Response) => {
        signal?.removeEventListener('abort', cancel);
        if (!error) return resolve(response!);
        if (error.code === UNAVAILABLE || error.code === DEADLINE_EXCEEDED) this.#current = (at + 1) % this.#clients.length;
        reject(signal?.aborted ? signal.reason : error);
      };
      const options = { deadline: Date.now() + CALL_MS };
      const call = this.#clients[at]!.makeUnaryRequest(method.path, method.encode, method.decode, request, options, answered);
      const cancel = () => call.cancel();
      signal?.addEventListener('abort', cancel);
    });
  }

  watch(): ClientDuplexStream<object, WatchResponse> {
    return this.#clients[this.#current]!.makeBidiStreamRequest(Watch.path, Watch.encode, Watch.decode);
  }

  /** The next call goes to another server. */
  rotate(): void {
    this.#current = (this.#current + 1) % this.#clients.length;
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }
}

const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;
/** etcd's code for revisions that are compacted or not there yet. */
export const OUT_OF_RANGE = 11;
