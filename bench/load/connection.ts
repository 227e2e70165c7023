import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** What a connection connects to, and its credentials. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly token?: string;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const NEWLINE = 10;
const BRACE = 125;

/** An answer: its status and the length of its body, and the body itself if it was asked for. */
export interface Answer {
  readonly status: number;
  readonly length: number;
  readonly body?: string;
}

/** The bytes of a request. */
export function requestBytes(
  address: Address,
  method: string,
  path: string,
  body = '',
  contentType = 'application/json',
  accept = 'application/json',
): Buffer {
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${address.host}:${address.port}`, `Accept: ${accept}`];
  if (address.token) head.push(`Authorization: Bearer ${address.token}`);
  if (body) head.push(`Content-Type: ${contentType}`, `Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Opens a socket, with TLS if the address says so. Certificates are not verified: both ends belong to the bench. */
function open({ host, port, tls }: Address): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = tls ? connectTls({ host, port, rejectUnauthorized: false }) : connect({ host, port });
    socket.setNoDelay(true);
    socket.once(tls ? 'secureConnect' : 'connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Counts the bytes of a chunked body (RFC 9112, 7.1) without keeping them. */
class Chunks {
  length = 0;
  #left = 0;
  #line = '';
  #inLine = true;
  #last = false;

  /** Takes bytes. Returns true once the last chunk and the empty line behind it have come. */
  push(bytes: Buffer, body: ((part: Buffer) => void) | undefined): boolean {
    let at = 0;
    while (at < bytes.length) {
      if (!this.#inLine) {
        const part = bytes.subarray(at, at + this.#left);
        at += part.length;
        this.#left -= part.length;
        this.length += part.length;
        body?.(part);
        if (this.#left === 0) this.#inLine = true;
        continue;
      }
      const end = bytes.indexOf(NEWLINE, at);
      this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end + 1);
      if (end < 0) return false;
      at = end + 1;
      if (this.#endLine()) return true;
    }
    return false;
  }

  #endLine(): boolean {
    const line = this.#line.trim();
    this.#line = '';
    if (this.#last) return line === '';
    if (line === '') return false;
    if (!/^[0-9a-f]+$/i.test(line)) throw new Error(`${JSON.stringify(line.slice(0, 40))} is not the size of a chunk`);
    this.#left = Number.parseInt(line, 16);
    this.#last = this.#left === 0;
    this.#inLine = this.#last;
    return false;
  }
}

/**
 * A keep-alive connection with one request in flight at a time. It does as little as a client can, so that it takes
 * little CPU beside the server.
 */
export class Connection {
  readonly #socket: Socket;
  #head: Buffer | undefined;
  #status = 0;
  #length = 0;
  #wanted = -1;
  #chunks: Chunks | undefined;
  #body: Buffer[] | undefined;
  #done: ((answer: Answer) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('error', error => this.#failed?.(error));
    socket.on('close', () => this.#failed?.(new Error('the connection was closed')));
  }

  static async open(address: Address): Promise<Connection> {
    return new Connection(await open(address));
  }

  /** Sends a request and resolves with its answer, once that is complete. */
  send(request: Buffer, keepBody = false): Promise<Answer> {
    this.#head = undefined;
    this.#wanted = -1;
    this.#length = 0;
    this.#chunks = undefined;
    this.#body = keepBody ? [] : undefined;
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    let rest = bytes;
    if (this.#wanted < 0 && !this.#chunks) {
      const all = this.#head ? Buffer.concat([this.#head, bytes]) : bytes;
      const end = all.indexOf(HEAD_END);
      if (end < 0) {
        this.#head = all;
        return;
      }
      this.#readHead(all.toString('latin1', 0, end).toLowerCase());
      rest = all.subarray(end + 4);
    }
    this.#readBody(rest);
  }

  #readHead(head: string): void {
    this.#status = Number(head.slice(9, 12));
    const length = /\ncontent-length: *(\d+)/.exec(head)?.[1];
    if (length === undefined && head.includes('chunked')) this.#chunks = new Chunks();
    else this.#wanted = Number(length ?? 0);
  }

  #readBody(bytes: Buffer): void {
    const keep = this.#body && ((part: Buffer) => void this.#body?.push(part));
    if (this.#chunks) {
      if (this.#chunks.push(bytes, keep)) this.#finish(this.#chunks.length);
      return;
    }
    this.#length += bytes.length;
    keep?.(bytes);
    if (this.#length >= this.#wanted) this.#finish(this.#length);
  }

  #finish(length: number): void {
    const body = this.#body && Buffer.concat(this.#body).toString();
    this.#done?.({ status: this.#status, length, ...(body === undefined ? {} : { body }) });
  }
}

/** Name of the member that carries the time of a write to its watchers. */
const SENT_AT = Buffer.from('"sentAt":"');
/** Digits of `timeText`. */
const TIME_LENGTH = 17;

/** Milliseconds since the last object in these bytes was written; undefined if they do not hold its time. */
export function lagOf(bytes: Buffer): number | undefined {
  const sent = bytes.lastIndexOf(SENT_AT);
  const digits = sent + SENT_AT.length;
  if (sent < 0 || digits + TIME_LENGTH >= bytes.length) return undefined;
  const at = Number(bytes.toString('latin1', digits, digits + TIME_LENGTH));
  return at > 0 ? performance.timeOrigin + performance.now() - at : undefined;
}

/** A connection with a watch: counts events and samples their lag, without parsing them. */
export class WatchConnection {
  events = 0;
  isClosed = false;
  readonly #socket: Socket;

  private constructor(socket: Socket, onLag: (milliseconds: number) => void, onEvents: (events: number) => void) {
    this.#socket = socket;
    let brace = false;
    socket.on('data', (bytes: Buffer) => {
      const before = this.events;
      if (brace && bytes[0] === NEWLINE) this.events++;
      brace = bytes.at(-1) === BRACE;
      for (let at = bytes.indexOf('}\n'); at >= 0; at = bytes.indexOf('}\n', at + 2)) this.events++;
      const milliseconds = lagOf(bytes);
      if (milliseconds !== undefined) onLag(milliseconds);
      if (this.events > before) onEvents(this.events - before);
    });
    const end = (): void => {
      this.isClosed = true;
    };
    socket.on('error', end).on('close', end);
  }

  static async open(
    address: Address,
    path: string,
    onLag: (milliseconds: number) => void,
    onEvents: (events: number) => void,
  ): Promise<WatchConnection> {
    const socket = await open(address);
    socket.write(requestBytes(address, 'GET', path));
    return new WatchConnection(socket, onLag, onEvents);
  }

  close(): void {
    this.#socket.destroy();
  }
}

/**
 * The current time as it is written to objects: `TIME_LENGTH` characters, milliseconds since the epoch with three
 * decimals.
 */
export const timeText = (): string =>
  (performance.timeOrigin + performance.now()).toFixed(3).padStart(TIME_LENGTH, '0');
