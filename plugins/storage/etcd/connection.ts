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
import { monotonicTime, systemTime } from '../../../core/runtime/clock.js';
import { delay } from '../../../core/runtime/timers.js';
import { Authenticate, type Method, Watch, type WatchResponse } from './protocol.js';

/** Configuration of the connection to etcd. */
export interface EtcdConfig {
  /** `http://host:port` or `https://host:port`. Calls go to one of them that responds. */
  readonly servers: readonly string[];
  readonly cafile?: string;
  readonly certfile?: string;
  readonly keyfile?: string;
  /** The user, if etcd requires authentication. The password is read from `passwordFile`. */
  readonly user?: string;
  readonly passwordFile?: string;
  /** Prefix of all keys, so that several stores can share a cluster. */
  readonly prefix: string;
  /** Time for which history is kept, in ms. With 0 or undefined this server does not compact. */
  readonly compactionInterval?: number;
  /** An EncryptionConfiguration; absent: values are stored as they are. */
  readonly encryption?: string;
}

/** Timeout of one attempt. */
export const ATTEMPT_MS = 4000;
/** Time for which a call is retried: longer than the election of a leader, shorter than clients' timeouts. */
export const RETRY_LIMIT_MS = 7000;
/** Pause between two attempts. */
export const PAUSE_MS = 100;
/** How often a call is repeated with a new token. */
const MAX_TOKEN_RENEWALS = 3;
/** Limit of messages: a response may contain a page of the largest objects. */
const MAX_MESSAGE_BYTES = 2 ** 30;

const OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.enable_retries': 0,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5000,
  // By default the delay grows to minutes, for which the server would stay unavailable after etcd has returned.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
};

/** Status codes that mean that a call had no effect. */
const REJECTED_CODES: readonly number[] = [
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.PERMISSION_DENIED,
  status.RESOURCE_EXHAUSTED,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
  status.UNAUTHENTICATED,
];

/** Whether etcd has rejected a call: it had no effect, and a retry is useless. */
export const isRejected = (error: unknown): boolean => REJECTED_CODES.includes((error as ServiceError).code);

/** Whether a failed call may have had an effect: not without a connection, or a leader, which a member checks first. */
export const mayHaveHadEffect = (error: unknown): boolean =>
  !/^No connection established|^etcdserver: no leader$/.test((error as ServiceError).details ?? '');

/** Whether a call failed because a revision is compacted or in the future. */
export const isOutOfRange = (error: unknown): boolean => (error as ServiceError).code === status.OUT_OF_RANGE;

/** Whether a call failed because the token is invalid: it has expired, or the users were changed. */
const needsToken = ({ code, details = '' }: ServiceError): boolean =>
  code === status.UNAUTHENTICATED ||
  /invalid auth token|user name is empty|revision of auth store is old/.test(details);

/** Host and port of a URL. The gRPC library does not know the default ports of URL schemes. */
export function hostAndPort(server: string): string {
  const { protocol, hostname, port } = new URL(server);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/** A connection with one channel per server. One channel is used until it fails. */
export class Connection {
  readonly #clients: readonly Client[];
  #current = 0;
  #metadata: Metadata;
  #authenticating: Promise<void> | undefined;

  constructor(readonly config: EtcdConfig) {
    this.#clients = config.servers.map(server => {
      const security = new URL(server).protocol === 'https:' ? tlsCredentials(config) : credentials.createInsecure();
      return new Client(hostAndPort(server), security, OPTIONS);
    });
    this.#metadata = tokenMetadata(undefined);
  }

  /** Makes a call. It is repeated only if etcd rejects the token. */
  async call<Response>(method: Method<Response>, request: object, signal?: AbortSignal): Promise<Response> {
    for (let tokens = 0; ; tokens++) {
      const before = this.#metadata;
      try {
        return await this.#callOnce(method, request, signal);
      } catch (error) {
        if (tokens >= MAX_TOKEN_RENEWALS || !(await this.renewToken(error as ServiceError, before))) throw error;
      }
    }
  }

  /** Makes an idempotent call: retries until etcd responds or `limit` ms have passed. Throws Unavailable then. */
  async callWithRetry<Response>(
    method: Method<Response>,
    request: object,
    signal?: AbortSignal,
    limit = RETRY_LIMIT_MS,
  ): Promise<Response> {
    const until = monotonicTime() + limit;
    for (;;) {
      signal?.throwIfAborted();
      try {
        return await this.call(method, request, signal);
      } catch (error) {
        if (signal?.aborted || isRejected(error)) throw error;
        if (monotonicTime() + PAUSE_MS > until) throw this.unavailable(error as Error);
      }
      await delay(PAUSE_MS);
    }
  }

  /** The error of a call that etcd did not respond to. */
  unavailable(error: Error): Unavailable {
    // Removes an empty note that the gRPC library appends.
    const why = ((error as ServiceError).details || error.message).replace(/\.? Resolution note:\s*$/, '');
    return new Unavailable(`etcd at ${this.config.servers.join(', ')} does not answer: ${why}`);
  }

  /** Opens a watch stream. `token` is the token that it uses. */
  watch(): { readonly stream: ClientDuplexStream<object, WatchResponse>; readonly token: Metadata } {
    const token = this.#metadata;
    return {
      stream: this.#clients[this.#current]!.makeBidiStreamRequest(Watch.path, Watch.encode, Watch.decode, token),
      token,
    };
  }

  /** Renews the token if `error` shows that it is invalid. Returns whether the call may be repeated. */
  async renewToken(error: ServiceError, before: Metadata): Promise<boolean> {
    if (this.config.user === undefined || !needsToken(error)) return false;
    if (this.#metadata === before) {
      this.#authenticating ??= this.#authenticate().finally(() => {
        this.#authenticating = undefined;
      });
      await this.#authenticating;
    }
    return true;
  }

  /** Switches to the next server. */
  rotate(): void {
    this.#current = (this.#current + 1) % this.#clients.length;
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  async #authenticate(): Promise<void> {
    const { user, passwordFile } = this.config;
    const password = passwordFile === undefined ? '' : readFileSync(passwordFile, 'utf8').trimEnd();
    this.#metadata = tokenMetadata(
      (await this.#callOnce(Authenticate, { name: user, password }, undefined, tokenMetadata(undefined))).token,
    );
  }

  #callOnce<Response>(
    method: Method<Response>,
    request: object,
    signal?: AbortSignal,
    metadata = this.#metadata,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const at = this.#current;
      const onResponse = (error: ServiceError | null, response?: Response) => {
        signal?.removeEventListener('abort', cancel);
        if (!error) return resolve(response!);
        if (!isRejected(error) && at === this.#current) this.rotate();
        reject(signal?.aborted ? signal.reason : error);
      };
      const options = { deadline: systemTime() + ATTEMPT_MS };
      const client = this.#clients[at]!;
      const call = client.makeUnaryRequest(
        method.path,
        method.encode,
        method.decode,
        request,
        metadata,
        options,
        onResponse,
      );
      const cancel = () => call.cancel();
      signal?.addEventListener('abort', cancel);
    });
  }
}

/**
 * Reads a PEM file; null if not configured. Throws StoreError for a file without PEM, which the TLS library ignores.
 */
function readPem(flag: string, file: string | undefined, label: string): Buffer | null {
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

/** TLS credentials. Throws StoreError naming the flag of a file that cannot be used. */
function tlsCredentials({ cafile, certfile, keyfile }: EtcdConfig): ChannelCredentials {
  const ca = readPem('--etcd-cafile', cafile, 'CERTIFICATE');
  const [key, certificate] = [
    readPem('--etcd-keyfile', keyfile, 'PRIVATE KEY'),
    readPem('--etcd-certfile', certfile, 'CERTIFICATE'),
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

/** Metadata of calls. With `hasleader`, a member without a leader rejects calls and ends watches instead of waiting. */
function tokenMetadata(token: string | undefined): Metadata {
  const metadata = new Metadata();
  metadata.set('hasleader', 'true');
  if (token !== undefined) metadata.set('token', token);
  return metadata;
}
