import { readFileSync } from 'node:fs';
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { StoreError, Unavailable } from '../../../core/api/index.js';
import { Authenticate, type Method, Watch, type WatchResponse } from './protocol.js';

/** Where etcd is, and how it is spoken to. */
export interface EtcdConfig {
  /** `http://host:port` or `https://host:port`; calls go to one that answers. */
  readonly servers: readonly string[];
  readonly cafile?: string;
  readonly certfile?: string;
  readonly keyfile?: string;
  /** Who this is to an etcd with authentication; the password stands in a file. */
  readonly user?: string;
  readonly passwordFile?: string;
  /** Begins every key, so that several stores can share a cluster. */
  readonly prefix: string;
  /** Time for which history is kept, in ms; 0 and undefined: somebody else compacts. */
  readonly compactionInterval?: number;
}

/** One attempt that takes longer is given up, as its outcome then is unknown either way. */
export const ATTEMPT_MS = 4000;
/** How long a call is tried again: longer than a new leader takes, shorter than clients wait. */
export const LIMIT_MS = 7000;
/** Pause between attempts. */
export const PAUSE_MS = 100;
/** Times a call is sent again with another token. */
const TOKENS = 3;
/** Answers may hold a page of the largest objects. */
const MESSAGE_BYTES = 2 ** 30;

const OPTIONS = {
  'grpc.max_receive_message_length': MESSAGE_BYTES,
  'grpc.max_send_message_length': MESSAGE_BYTES,
  'grpc.enable_retries': 0,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5000,
  // The defaults back off up to minutes: the server would be away long after etcd is back.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
};

/** Codes after which a call has certainly not taken place. */
const REFUSED: readonly number[] = [
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.PERMISSION_DENIED,
  status.RESOURCE_EXHAUSTED,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
  status.UNAUTHENTICATED,
];

/** Whether etcd itself said no: trying again is useless, and nothing was changed. */
export const isRefusal = (error: unknown): boolean => REFUSED.includes((error as ServiceError).code);

/** Whether a call that failed may have been sent: not if there was no connection to send it on. */
export const mayBeSent = (error: unknown): boolean =>
  !/^No connection established/.test((error as ServiceError).details ?? '');

/** etcd's answer to revisions that are compacted or not there yet. */
export const isOutOfRange = (error: unknown): boolean => (error as ServiceError).code === status.OUT_OF_RANGE;

/** Whether a new token may help: the old one has expired, or the users were changed. */
const wantsToken = ({ code, details = '' }: ServiceError): boolean =>
  code === status.UNAUTHENTICATED ||
  /invalid auth token|user name is empty|revision of auth store is old/.test(details);

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** Host and port of a URL, whose own default port the library does not know. */
export function addressOf(server: string): string {
  const { protocol, hostname, port } = new URL(server);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/**
 * One channel per server; the one that last answered is used until it fails. A call is sent once, unless `persist`
 * repeats it.
 */
export class Connection {
  readonly #clients: readonly Client[];
  #current = 0;
  #metadata: Metadata;
  #authenticating: Promise<void> | undefined;

  constructor(readonly config: EtcdConfig) {
    this.#clients = config.servers.map(server => {
      const security = new URL(server).protocol === 'https:' ? secure(config) : credentials.createInsecure();
      return new Client(addressOf(server), security, OPTIONS);
    });
    this.#metadata = withToken(undefined);
  }

  /** One attempt; sent again only where etcd refused its token. */
  async call<Response>(method: Method<Response>, request: object, signal?: AbortSignal): Promise<Response> {
    for (let tokens = 0; ; tokens++) {
      const before = this.#metadata;
      try {
        return await this.#once(method, request, signal);
      } catch (error) {
        if (tokens >= TOKENS || !(await this.renewToken(error as ServiceError, before))) throw error;
      }
    }
  }

  /**
   * A call that may be sent any number of times: until it is answered or refused, for a while. Throws Unavailable then.
   */
  async persist<Response>(
    method: Method<Response>,
    request: object,
    signal?: AbortSignal,
    limit = LIMIT_MS,
  ): Promise<Response> {
    const until = performance.now() + limit;
    for (;;) {
      signal?.throwIfAborted();
      try {
        return await this.call(method, request, signal);
      } catch (error) {
        if (signal?.aborted || isRefusal(error)) throw error;
        if (performance.now() + PAUSE_MS > until) throw this.unavailable(error as Error);
      }
      await pause(PAUSE_MS);
    }
  }

  /** What is thrown when etcd cannot be reached. */
  unavailable(error: Error): Unavailable {
    // The library leaves this note empty.
    const why = ((error as ServiceError).details || error.message).replace(/\.? Resolution note:\s*$/, '');
    return new Unavailable(`etcd at ${this.config.servers.join(', ')} does not answer: ${why}`);
  }

  /** A watch stream; `token` is what it was opened with. */
  watch(): { readonly stream: ClientDuplexStream<object, WatchResponse>; readonly token: Metadata } {
    const token = this.#metadata;
    return {
      stream: this.#clients[this.#current]!.makeBidiStreamRequest(Watch.path, Watch.encode, Watch.decode, token),
      token,
    };
  }

  /** Gets a new token if `error` asks for one and there is a user; true if the call may be sent again. */
  async renewToken(error: ServiceError, before: Metadata): Promise<boolean> {
    if (this.config.user === undefined || !wantsToken(error)) return false;
    if (this.#metadata === before) {
      this.#authenticating ??= this.#authenticate().finally(() => {
        this.#authenticating = undefined;
      });
      await this.#authenticating;
    }
    return true;
  }

  /** The next call goes to another server. */
  rotate(): void {
    this.#current = (this.#current + 1) % this.#clients.length;
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  async #authenticate(): Promise<void> {
    const { user, passwordFile } = this.config;
    const password = passwordFile === undefined ? '' : readFileSync(passwordFile, 'utf8').trimEnd();
    this.#metadata = withToken(
      (await this.#once(Authenticate, { name: user, password }, undefined, withToken(undefined))).token,
    );
  }

  #once<Response>(
    method: Method<Response>,
    request: object,
    signal?: AbortSignal,
    metadata = this.#metadata,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const at = this.#current;
      const answered = (error: ServiceError | null, response?: Response) => {
        signal?.removeEventListener('abort', cancel);
        if (!error) return resolve(response!);
        if (!isRefusal(error) && at === this.#current) this.rotate();
        reject(signal?.aborted ? signal.reason : error);
      };
      const options = { deadline: Date.now() + ATTEMPT_MS };
      const client = this.#clients[at]!;
      const call = client.makeUnaryRequest(
        method.path,
        method.encode,
        method.decode,
        request,
        metadata,
        options,
        answered,
      );
      const cancel = () => call.cancel();
      signal?.addEventListener('abort', cancel);
    });
  }
}

/**
 * What a PEM file of the configuration holds; null without one. The TLS library ignores a CA bundle without
 * certificates.
 */
function pem(flag: string, file: string | undefined, label: string): Buffer | null {
  if (file === undefined) return null;
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (error) {
    throw new StoreError(`${flag}: ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  if (!content.includes(`${label}-----`)) throw new StoreError(`${flag}: ${file} holds no PEM block ${label}`);
  return content;
}

/** How a server is spoken to by TLS. Throws StoreError that names the flag of a file that cannot be used. */
function secure({ cafile, certfile, keyfile }: EtcdConfig): ChannelCredentials {
  const ca = pem('--etcd-cafile', cafile, 'CERTIFICATE');
  const [key, certificate] = [
    pem('--etcd-keyfile', keyfile, 'PRIVATE KEY'),
    pem('--etcd-certfile', certfile, 'CERTIFICATE'),
  ];
  try {
    return credentials.createSsl(ca, key, certificate);
  } catch (error) {
    const which = [cafile && '--etcd-cafile', certfile && '--etcd-certfile and --etcd-keyfile']
      .filter(Boolean)
      .join(', ');
    throw new StoreError(`${which}: the files cannot be used for TLS: ${(error as Error).message}`);
  }
}

/** `hasleader` has a member that is cut off from its cluster refuse, and end its watches, instead of waiting. */
function withToken(token: string | undefined): Metadata {
  const metadata = new Metadata();
  metadata.set('hasleader', 'true');
  if (token !== undefined) metadata.set('token', token);
  return metadata;
}
