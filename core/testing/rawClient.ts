import { connect as plainConnect, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';

/** The address of a raw connection. */
export interface RawTarget {
  readonly port: number;
  /** The CA of the server's certificate; `'any'` disables verification. Without it, plain TCP. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

const trust = (ca: string) => (ca === 'any' ? { rejectUnauthorized: false } : { ca });

/** A connection that sends exactly the given bytes and keeps the received ones. */
export class RawClient {
  /** Begins with the received bytes, and doubles in size when full: large answers arrive in hundreds of chunks. */
  #space = Buffer.alloc(1024);
  #length = 0;
  closed = false;
  private waiters: (() => void)[] = [];

  private constructor(readonly socket: Socket) {
    socket.on('data', chunk => {
      this.#add(chunk);
      this.wake();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.closed = true;
      this.wake();
    });
  }

  /** Connects, with TLS if a CA is given. */
  static open(target: RawTarget): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const { port, ca, cert, key } = target;
      const socket = ca
        ? tlsConnect({ port, host: '127.0.0.1', ...trust(ca), cert, key }, () => resolve(new RawClient(socket)))
        : plainConnect({ port, host: '127.0.0.1' }, () => resolve(new RawClient(socket)));
      socket.once('error', reject);
    });
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** All bytes that were received so far. */
  get received(): Buffer {
    return this.#space.subarray(0, this.#length);
  }

  /** Resolves when the condition holds for the text received so far, or the connection is closed. */
  async until(condition: (text: string) => boolean): Promise<string> {
    return await this.untilBytes(() => condition(this.text));
  }

  /** The same for the bytes received so far. */
  async untilBytes(condition: (received: Buffer) => boolean): Promise<string> {
    while (!this.closed && !condition(this.received)) {
      await new Promise<void>(resolve => {
        this.waiters.push(resolve);
      });
    }
    return this.text;
  }

  /** Resolves when the connection is closed. */
  async end(): Promise<string> {
    return await this.untilBytes(() => false);
  }

  get text(): string {
    return this.received.toString('latin1');
  }

  #add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#space.length) this.#space = Buffer.concat([this.received], 2 * length);
    chunk.copy(this.#space, this.#length);
    this.#length = length;
  }

  private wake(): void {
    const waiters = this.waiters;
    this.waiters = [];
    for (const waiter of waiters) waiter();
  }
}

/** Number of times `part` occurs. */
export const count = (text: string, part: string): number => text.split(part).length - 1;

/** The data of the chunks of an answer that have arrived with the line end that completes them (RFC 9112, 7.1). */
export function completeChunks(answer: string): string {
  let data = '';
  for (let at = answer.indexOf('\r\n\r\n') + 4; ; ) {
    const line = answer.indexOf('\r\n', at);
    const size = line < 0 ? 0 : Number.parseInt(answer.slice(at, line), 16);
    const end = line + 2 + size;
    if (!size || answer.slice(end, end + 2) !== '\r\n') return data;
    data += answer.slice(line + 2, end);
    at = end + 2;
  }
}
