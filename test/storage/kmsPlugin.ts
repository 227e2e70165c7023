import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { Decrypt, Encrypt, type Method, type SealedSeed, Status } from '../../core/services/encryption/kms/protocol.js';

type Handler = (request: never) => object | Promise<object>;

const definitionOf = <T>({ path, request, response }: Method<T>) => ({
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: (value: object) => request.encode(value),
  requestDeserialize: (bytes: Buffer) => request.decode(bytes),
  responseSerialize: (value: object) => response.encode(value),
  responseDeserialize: (bytes: Buffer) => response.decode(bytes),
});

/** A key management plugin (KMS v2) that a test can make slow, refuse calls, rotate its key, stop and start again. */
export class TestKmsPlugin {
  /** Keys by id. Seeds of other keys are refused. */
  readonly keys = new Map<string, Buffer>();
  current = '';
  healthz = 'ok';
  version = 'v2';
  /** The reason for refusing a seed without a key; by default it names the key. */
  refusal: string | undefined;
  /** The duration of each answer, in milliseconds. */
  delayMs = 0;
  /** The methods that were called. */
  readonly calls: string[] = [];
  /** The annotations that the plugin returns with each seed, and must get back. */
  readonly annotations = { 'kms.example.com/region': Buffer.from('eu') };
  #server: Server | undefined;

  constructor(readonly socket: string) {
    this.rotate();
  }

  get endpoint(): string {
    return `unix://${this.socket}`;
  }

  /** Uses a new key from now on. */
  rotate(): void {
    this.current = `key-${this.keys.size + 1}`;
    this.keys.set(this.current, randomBytes(32));
  }

  async start(): Promise<this> {
    rmSync(this.socket, { force: true });
    this.#server = new Server();
    this.#server.addService(
      { Status: definitionOf(Status), Encrypt: definitionOf(Encrypt), Decrypt: definitionOf(Decrypt) },
      {
        Status: this.#answer('Status', () => ({
          version: this.version,
          healthz: this.healthz,
          key_id: this.current,
        })),
        Encrypt: this.#answer('Encrypt', (request: { plaintext: Buffer }) => this.#encrypt(request.plaintext)),
        Decrypt: this.#answer('Decrypt', (request: SealedSeed) => this.#decrypt(request)),
      },
    );
    await new Promise<void>((resolve, reject) => {
      this.#server!.bindAsync(this.endpoint, ServerCredentials.createInsecure(), error =>
        error ? reject(error) : resolve(),
      );
    });
    return this;
  }

  /** Stops it at once, like a crash. */
  stop(): void {
    this.#server?.forceShutdown();
    this.#server = undefined;
  }

  #encrypt(plain: Uint8Array): object {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.keys.get(this.current)!, nonce);
    const ciphertext = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return { ciphertext, key_id: this.current, annotations: this.annotations };
  }

  #decrypt({ ciphertext, key_id: id, annotations }: SealedSeed): object {
    const key = this.keys.get(id);
    if (!key) throw new Error(this.refusal ?? `there is no key ${id}`);
    const region = annotations['kms.example.com/region'];
    if (!region || Buffer.from(region).toString() !== 'eu')
      throw new Error('the annotations are not those of the seed');
    const decipher = createDecipheriv('aes-256-gcm', key, ciphertext.subarray(0, 12), { authTagLength: 16 });
    decipher.setAuthTag(ciphertext.subarray(-16));
    return { plaintext: Buffer.concat([decipher.update(ciphertext.subarray(12, -16)), decipher.final()]) };
  }

  #answer(name: string, handle: Handler): handleUnaryCall<object, object> {
    return (call, callback) => {
      this.calls.push(name);
      const answer = async (): Promise<object> => {
        if (this.delayMs > 0) await new Promise(resolve => setTimeout(resolve, this.delayMs));
        return await handle(call.request as never);
      };
      answer().then(
        value => callback(null, value),
        (error: Error) => callback({ code: status.UNKNOWN, details: error.message }),
      );
    };
  }
}
