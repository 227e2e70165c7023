import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** The server of a connection, and its credentials. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly token?: string;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const NEWLINE = 10;

/** An answer: its status and the length of its body, and the body itself if it was requested. */
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

/** The buffer that all sockets read into, one after the other. */
const RECEIVED = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Opens a socket, with TLS if the address says so. Certificates are not verified: both ends belong to the bench.
 * `onData` is called with bytes that are overwritten when it returns.
 */
function open({ host, port, tls }: Address, onData: (bytes: Buffer) => void): Promise<Socket> {
  const callback = (length: number): boolean => {
    onData(RECEIVED.subarray(0, length));
    return true;
  };
  const to = { host, port, onread: { buffer: RECEIVED, callback } };
  return new Promise((resolve, reject) => {
    const socket = tls ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
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

  /** Processes bytes. Returns true once the last chunk and the empty line after it have arrived. */
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
 * A keep-alive connection with one request in flight at a time. It does as little as possible, so that it takes
 * little CPU time from the server.
 */
export class Connection {
  #socket!: Socket;
  #head: Buffer | undefined;
  #status = 0;
  #length = 0;
  #wanted = -1;
  #chunks: Chunks | undefined;
  #body: Buffer[] | undefined;
  #done: ((answer: Answer) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  private constructor() {}

  static async open(address: Address): Promise<Connection> {
    const connection = new Connection();
    const socket = await open(address, bytes => connection.#read(bytes));
    socket.on('error', error => connection.#failed?.(error));
    socket.on('close', () => connection.#failed?.(new Error('the connection was closed')));
    connection.#socket = socket;
    return connection;
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
        this.#head = Buffer.from(all);
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
    const keep = this.#body && ((part: Buffer) => void this.#body?.push(Buffer.from(part)));
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

/** Sends a request and resolves with the answer's body. Rejects unless the status is 2xx or 409. */
export type Send = (method: string, path: string, body?: string) => Promise<string>;

/** Calls `use` with a function that sends requests over one connection, one after another. */
export async function withConnection<T>(address: Address, use: (send: Send) => Promise<T>): Promise<T> {
  const connection = await Connection.open(address);
  try {
    return await use(async (method, path, body) => {
      const answer = await connection.send(requestBytes(address, method, path, body), true);
      if (answer.status >= 300 && answer.status !== 409)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
      return answer.body ?? '';
    });
  } finally {
    connection.close();
  }
}

/** Sends one request over a new connection. */
export const sendOnce = (address: Address, ...request: Parameters<Send>): Promise<string> =>
  withConnection(address, send => send(...request));

/** The media type of protobuf. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** The number of digits of `timeText`. */
const TIME_LENGTH = 17;

/**
 * The markers that separate events, and those before the time of the write in their objects, in JSON and in protobuf.
 */
const JSON_EVENTS = { end: Buffer.from('}\n'), sentAt: Buffer.from('"sentAt":"') };
const PROTOBUF_EVENTS = {
  end: Buffer.from('k8s\0'),
  sentAt: Buffer.from(`sentAt\x12${String.fromCharCode(TIME_LENGTH)}`),
};

/** Milliseconds since the last object in these bytes was written; undefined if they do not hold its time. */
export function lagOf(bytes: Buffer, { sentAt } = JSON_EVENTS): number | undefined {
  const sent = bytes.lastIndexOf(sentAt);
  const digits = sent + sentAt.length;
  if (sent < 0 || digits + TIME_LENGTH >= bytes.length) return undefined;
  const at = Number(bytes.toString('latin1', digits, digits + TIME_LENGTH));
  return at > 0 ? performance.timeOrigin + performance.now() - at : undefined;
}

/** Counts the occurrences of a marker in bytes that arrive in parts. */
class MarkerCounter {
  #last = Buffer.alloc(0);

  constructor(readonly marker: Buffer) {}

  /** The markers that end in these bytes. */
  count(bytes: Buffer): number {
    const { marker } = this;
    const rest = marker.length - 1;
    // A marker that began in the previous bytes.
    const seam = Buffer.concat([this.#last, bytes.subarray(0, rest)]);
    let found = seam.includes(marker) ? 1 : 0;
    for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + marker.length)) found++;
    this.#last = bytes.length >= rest ? Buffer.from(bytes.subarray(bytes.length - rest)) : seam.subarray(-rest);
    return found;
  }
}

/** The options of a watch, and the functions that are called for its events. */
export interface WatchOptions {
  readonly path: string;
  readonly protobuf: boolean;
  /** Called with the lag of the last event, in milliseconds. */
  readonly onLag: (milliseconds: number) => void;
  /** Called with the number of events that have arrived. */
  readonly onEvents: (events: number) => void;
}

/** A connection with a watch: counts events and samples their lag, without parsing them. */
export class WatchConnection {
  events = 0;
  isClosed = false;
  #socket!: Socket;

  private constructor() {}

  static async open(address: Address, { path, protobuf, onLag, onEvents }: WatchOptions): Promise<WatchConnection> {
    const watch = new WatchConnection();
    const form = protobuf ? PROTOBUF_EVENTS : JSON_EVENTS;
    const counter = new MarkerCounter(form.end);
    const socket = await open(address, bytes => {
      const events = counter.count(bytes);
      watch.events += events;
      const milliseconds = lagOf(bytes, form);
      if (milliseconds !== undefined) onLag(milliseconds);
      if (events > 0) onEvents(events);
    });
    const end = (): void => {
      watch.isClosed = true;
    };
    socket.on('error', end).on('close', end);
    watch.#socket = socket;
    const accept = protobuf ? `${PROTOBUF};stream=watch` : undefined;
    socket.write(requestBytes(address, 'GET', path, '', undefined, accept));
    return watch;
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
