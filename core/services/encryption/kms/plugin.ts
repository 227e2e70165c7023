import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { StoreError, Unavailable } from '../../../api/storage.js';
import { KMS_MESSAGE_BYTES, KMS_REASON_CHARACTERS } from '../../../limits.js';
import { monotonicTime, systemTime } from '../../../runtime/clock.js';
import { type Method, Status, type StatusResponse } from './protocol.js';

/** The endpoint of a key management plugin, and how long a call may take, in milliseconds. */
export interface KmsConfig {
  readonly name: string;
  /** `unix:///path`, or `unix:///@name` for an abstract socket. */
  readonly endpoint: string;
  readonly timeoutMs: number;
}

/** Called with each call: the method, the name of its gRPC status, and how long it took, in seconds. */
export type KmsObserver = (method: string, code: string, seconds: number) => void;

const OPTIONS = {
  'grpc.enable_retries': 0,
  'grpc.max_receive_message_length': KMS_MESSAGE_BYTES,
  // The host of a request that goes to a socket.
  'grpc.default_authority': 'localhost',
  // By default, the delay grows to minutes, and the keys would stay unavailable for that time after the plugin is back.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
};

/** Codes of failures that may be temporary. */
const PASSING: readonly number[] = [
  status.CANCELLED,
  status.DEADLINE_EXCEEDED,
  status.RESOURCE_EXHAUSTED,
  status.ABORTED,
  status.UNAVAILABLE,
];

/** The target of the gRPC library for an endpoint: abstract sockets have a scheme of their own. */
const targetOf = (endpoint: string): string =>
  endpoint.startsWith('unix:///@') ? `unix-abstract:${endpoint.slice('unix:///@'.length)}` : endpoint;

/** The part of a plugin's text that errors show. */
const truncate = (text: string): string => text.slice(0, KMS_REASON_CHARACTERS);

/** The connection to a key management plugin. */
export class KmsPlugin {
  readonly #client: Client;

  constructor(
    readonly config: KmsConfig,
    readonly observe: KmsObserver = () => undefined,
  ) {
    this.#client = new Client(targetOf(config.endpoint), credentials.createInsecure(), OPTIONS);
  }

  /**
   * Calls a method. Rejects with Unavailable if the plugin does not answer within its time or may succeed later, and
   * with StoreError if it refuses. Messages never repeat the request.
   */
  call<Response>({ path, request, response }: Method<Response>, message: object): Promise<Response> {
    const began = monotonicTime();
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        path,
        value => request.encode(value),
        bytes => response.decode(bytes),
        message,
        // Waits for a plugin that is restarting.
        new Metadata({ waitForReady: true }),
        { deadline: systemTime() + this.config.timeoutMs },
        (error, value) => {
          const code = error ? (status[error.code] ?? 'UNKNOWN') : 'OK';
          this.observe(path, code, (monotonicTime() - began) / 1000);
          if (error) reject(this.#failure(path, error));
          else resolve(value as Response);
        },
      );
    });
  }

  /** Asks for the plugin's health and current key. Rejects as `call`, and with StoreError if it is not healthy. */
  async status(): Promise<StatusResponse> {
    const answer = await this.call(Status, {});
    const { name } = this.config;
    const wrong = (what: string): StoreError => new StoreError(`the KMS plugin ${name} ${what}`);
    if (answer.version !== 'v2' && answer.version !== 'v2beta1')
      throw wrong(`speaks version ${JSON.stringify(truncate(answer.version))} of the protocol: it must be v2`);
    if (answer.healthz !== 'ok') throw wrong(`is not healthy: ${truncate(answer.healthz)}`);
    if (answer.key_id === '') throw wrong('has no key: its key_id is empty');
    return answer;
  }

  close(): void {
    this.#client.close();
  }

  #failure(path: string, { code, details }: ServiceError): Error {
    const { name, endpoint } = this.config;
    const message = `the KMS plugin ${name} at ${endpoint} failed ${path.split('/').at(-1)}: ${truncate(details)}`;
    return PASSING.includes(code) ? new Unavailable(message) : new StoreError(message);
  }
}
