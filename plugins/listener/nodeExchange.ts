import type { Duplex } from 'node:stream';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type {
  BodySink,
  Exchange,
  ResponseStream,
  StreamOptions,
  UpgradeOptions,
  WebSocketStream,
} from '../../core/api/listener.js';
import { DROPPED_BODY_BYTES, DROPPED_BODY_MS } from '../../core/limits.js';
import type { Refusal } from '../../core/model/refusal.js';
import { clearTimeout, setImmediate, setTimeout } from '../../core/runtime/timers.js';
import { BodyReader } from './inflow/bodyReader.js';
import { bodiless, hasBody, type Headers, LOW_WATER } from './common.js';
import { type ClientCertificate, type ClientVerifier, checkCertificate } from './verify.js';
import { REFUSAL_HEADERS, refusalBody } from './framing.js';
import { type Handshake, NodeWebSocket } from './nodeWebsocket.js';

/** PEM of client certificates by connection; '' for connections without one. */
const certificates = new WeakMap<object, string>();

function certificateOf(socket: TLSSocket): string {
  let pem = certificates.get(socket);
  if (pem === undefined) {
    pem = socket.getPeerX509Certificate()?.toString() ?? '';
    certificates.set(socket, pem);
  }
  return pem;
}

/** The data that the exchanges of one listener share. */
export interface NodeServer {
  readonly secure: boolean;
  /** Whether answers close their connections. */
  readonly closing: boolean;
  /** Checks the certificate of the client of a connection; undefined if clients are not asked for certificates. */
  verifierOf(socket: Duplex): ClientVerifier | undefined;
}

/** Header names in lower case, with their values unchanged. */
export const pairs = (raw: readonly string[]): Headers =>
  Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i]!.toLowerCase(), raw[2 * i + 1]!] as const);

/** A streamed answer on `node:http`. Writes of one turn of the event loop are sent together. */
class NodeStream implements ResponseStream {
  private corked = false;

  constructor(private readonly response: ServerResponse) {}

  write(bytes: Uint8Array): number {
    if (this.response.writableEnded || this.response.destroyed) return 0;
    if (bytes.length > 0) {
      this.cork();
      this.response.write(bytes);
    }
    return this.response.writableLength;
  }

  onDrain(listener: () => void): void {
    this.response.on('drain', () => {
      if (this.response.writableLength < LOW_WATER) listener();
    });
  }

  end(): void {
    if (this.response.writableEnded) return;
    // Node.js 22 and 24 send the end of a corked response before its chunks.
    this.uncork();
    this.response.end();
  }

  abort(): void {
    this.response.destroy();
  }

  private cork(): void {
    if (this.corked) return;
    this.corked = true;
    this.response.cork();
    setImmediate(() => this.uncork());
  }

  private uncork(): void {
    if (!this.corked) return;
    this.corked = false;
    this.response.uncork();
  }
}

/**
 * Encodes a header value. Node writes header values as latin1; non-ASCII characters are sent as their UTF-8 bytes, as
 * other servers do.
 */
const asBytes = (value: string): string => (/[^\x00-\x7f]/.test(value) ? Buffer.from(value).toString('latin1') : value);

/** The part before the path in the absolute form of a target (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?]*/i;

/** A WebSocket whose client has closed the connection. */
const GONE: WebSocketStream = {
  write: () => 0,
  onDrain: () => undefined,
  end: () => undefined,
  abort: () => undefined,
};

/** One request on `node:http`. */
export class NodeExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly secure: boolean;
  readonly remoteAddress: string;
  aborted = false;
  status: number | undefined = undefined;
  readonly upgrade: Exchange['upgrade'];
  private readonly aborts: (() => void)[] = [];
  private copied: Headers | undefined;
  private presented: ClientCertificate | undefined;
  private reader: BodyReader | undefined;

  constructor(
    private readonly server: NodeServer,
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    /** Set if the request is a WebSocket handshake. */
    handshake?: Handshake,
  ) {
    const url = (request.url ?? '/').replace(ORIGIN, '') || '/';
    const mark = url.indexOf('?');
    this.method = request.method ?? 'GET';
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? '' : url.slice(mark + 1);
    this.secure = server.secure;
    this.remoteAddress = (request.socket.remoteAddress ?? '').replace(/^::ffff:(\d+\.)/, '$1');
    // Node also emits `finish` when a connection is destroyed before all of an ended answer was sent.
    let isSent = false;
    const lost = (): void => {
      if (!isSent) this.lose();
    };
    response.on('finish', () => {
      isSent = !request.socket.destroyed;
    });
    response.on('close', lost);
    request.on('error', lost);
    if (handshake) this.upgrade = options => this.accept(handshake, options);
  }

  get httpVersion(): '1.0' | '1.1' {
    return this.request.httpVersion as '1.0' | '1.1';
  }

  get socket(): Socket {
    return this.request.socket;
  }

  /** Answers with a refusal of the head and closes the connection. */
  refuse(refusal: Refusal): void {
    this.response.shouldKeepAlive = false;
    this.respond(refusal.code, REFUSAL_HEADERS, refusalBody(refusal));
  }

  get certificate(): string | undefined {
    return this.clientCertificate().certificate;
  }

  get hasInvalidCertificate(): boolean {
    return this.clientCertificate().isInvalid;
  }

  header(name: string): string | undefined {
    return this.headers().find(([key]) => key === name)?.[1];
  }

  headers(): Headers {
    return (this.copied ??= pairs(this.request.rawHeaders));
  }

  body(sink: BodySink): void {
    const { request } = this;
    const reader = new BodyReader(sink, request);
    this.reader = reader;
    request.on('data', (part: Uint8Array) => reader.take(part));
    request.once('end', () => reader.complete());
    request.once('close', () => reader.lose());
  }

  respond(status: number, headers: Headers, body: readonly Uint8Array[] | Uint8Array): void {
    const pieces = body instanceof Uint8Array ? [body] : body;
    const total = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const silent = bodiless(status) || this.method === 'HEAD';
    if (!this.head(status, bodiless(status) ? headers : [...headers, ['content-length', String(total)]])) return;
    this.response.cork();
    if (!silent) for (const piece of pieces) this.response.write(piece);
    this.response.end();
    this.response.uncork();
    this.discard();
  }

  /** `ahead` is not needed: `node:http` sends each chunk with its line end. */
  stream(status: number, headers: Headers, { length }: StreamOptions = {}): ResponseStream {
    if (this.head(status, length === undefined ? headers : [...headers, ['content-length', String(length)]])) {
      this.response.flushHeaders();
      this.discard();
    }
    return new NodeStream(this.response);
  }

  onAbort(listener: () => void): void {
    this.aborts.push(listener);
  }

  private clientCertificate(): ClientCertificate {
    if (this.presented) return this.presented;
    const socket = this.request.socket as TLSSocket;
    const verified = this.server.verifierOf(socket);
    const accepted = verified && ((pem: string) => socket.authorized && verified(pem));
    return (this.presented = checkCertificate(accepted, () => certificateOf(socket)));
  }

  private accept(handshake: Handshake, options: UpgradeOptions): WebSocketStream {
    if (this.response.headersSent || this.status !== undefined) throw new Error('the exchange already has an answer');
    if (this.aborted || handshake.isLost) return GONE;
    this.status = 101;
    this.response.detachSocket(handshake.socket);
    const stream = new NodeWebSocket(handshake.accept(options.subprotocol), handshake.socket, options);
    stream.onClose(ended => !ended && this.lose());
    return stream;
  }

  private lose(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const listener of this.aborts) listener();
  }

  private head(status: number, headers: Headers): boolean {
    if (this.response.headersSent) throw new Error('the exchange already has an answer');
    this.reader?.drop();
    if (this.aborted || this.response.destroyed) return false;
    this.status = status;
    const lines = this.server.closing ? [...headers, ['connection', 'close'] as const] : headers;
    this.response.writeHead(
      status,
      lines.flatMap(([name, value]) => [name, asBytes(value)]),
    );
    return true;
  }

  /**
   * Reads and discards the rest of the body, within bounds, so that the client can read the answer and the connection
   * can serve the next request.
   */
  private discard(): void {
    const { request } = this;
    if (request.complete || !hasBody(this.headers())) return void request.resume();
    const cut = (): void => void request.socket.destroy();
    const timer = setTimeout(cut, DROPPED_BODY_MS).unref();
    let left = DROPPED_BODY_BYTES;
    request.once('close', () => clearTimeout(timer));
    request.on('data', (part: Uint8Array) => {
      left -= part.length;
      if (left < 0) cut();
    });
    request.resume();
  }
}
