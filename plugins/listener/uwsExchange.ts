import type { HttpRequest, us_socket_context_t } from '@uwsjs/core';
import type {
  BodySink,
  Exchange,
  ResponseStream,
  StreamOptions,
  UpgradeOptions,
  WebSocketStream,
} from '../../core/api/listener.js';
import type { Refusal } from '../../core/model/refusal.js';
import { asksForWebSocket, handshakeFault } from '../../core/model/webSocket.js';
import { BodyReader } from './inflow/bodyReader.js';
import { bodiless, hasBody, type Headers, statusLine } from './common.js';
import { REFUSAL_HEADERS, refusalBody, sizeRefusal } from './framing.js';
import { type ClientCertificate, type ClientVerifier, checkCertificate } from './verify.js';
import type { Response } from './uwsTypes.js';
import { type UserData, UwsWebSocket } from './uwsWebsocket.js';
import { CORKED_BYTES, flushAtTurnEnd, joined, UwsStream } from './uwsWrite.js';

/** The data that the exchanges of one listener share. */
export interface UwsServer {
  readonly secure: boolean;
  /** Whether answers close their connections. */
  readonly closing: boolean;
  /** Whether a client certificate is valid; undefined if clients are not asked for certificates. */
  readonly verified: ClientVerifier | undefined;
  begin(): void;
  finish(): void;
}

/** The first of the longest runs of words that are zero, which `::` stands for (RFC 5952, 4.2). */
function longestZeros(words: readonly string[]): { readonly start: number; readonly length: number } {
  let longest = { start: 0, length: 0 };
  let length = 0;
  for (const [i, word] of words.entries()) {
    length = word === '0' ? length + 1 : 0;
    if (length > longest.length) longest = { start: i + 1 - length, length };
  }
  return longest;
}

/** The text of an address of 4 or 16 bytes. */
function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const mapped =
    bytes.length === 16 && bytes.subarray(0, 10).every(b => b === 0) && bytes[10] === 255 && bytes[11] === 255;
  if (mapped) return bytes.subarray(12).join('.');
  const words = Array.from({ length: bytes.length / 2 }, (_, i) =>
    ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16),
  );
  const { start, length } = longestZeros(words);
  if (length < 2) return words.join(':');
  return `${words.slice(0, start).join(':')}::${words.slice(start + length).join(':')}`;
}

/**
 * The exchange of the last callback of uWS. Its connection owns the only cork buffer until the promises that the
 * callback settled have been handled.
 */
let calledBack: UwsExchange | undefined;
/** White space that fills the cork buffer of uWS. */
const CORK_OVERFLOW = Buffer.alloc(16 * 1024, ' ');

/** Whether a request is a valid WebSocket handshake, whose values are not too long to be read. */
const isHandshake = (method: string, headers: Headers): boolean =>
  !sizeRefusal(headers, 'utf8') && asksForWebSocket(method, headers) && !handshakeFault(headers);

/**
 * One request on uWS. The native request is valid only until the handler returns. Later reads use a copy of the
 * headers, which takes 1.5 µs for eight headers.
 */
export class UwsExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly secure: boolean;
  aborted = false;
  status: number | undefined = undefined;
  readonly upgrade: Exchange['upgrade'];
  private request: HttpRequest | undefined;
  private copied: [string, string][] | undefined;
  /** Whether the client asks for the connection to be closed; known when the headers are copied. */
  private closes = false;
  private reader: BodyReader | undefined;
  private streaming: UwsStream | undefined;
  /** Whether the connection has become a WebSocket. */
  private upgraded = false;
  private answered = false;
  private finished = false;
  private aborts: (() => void)[] | undefined;
  private address: string | undefined;
  private presented: ClientCertificate | undefined;

  constructor(
    private readonly server: UwsServer,
    private readonly res: Response,
    request: HttpRequest,
    /** Set if the request may be a WebSocket handshake. */
    context?: us_socket_context_t,
  ) {
    res.onAborted(() => this.lose());
    server.begin();
    this.request = request;
    calledBack = this;
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
    this.query = request.getQuery() ?? '';
    this.secure = server.secure;
    if (context && isHandshake(this.method, this.headers())) this.upgrade = options => this.accept(context, options);
  }

  /**
   * Answers with a refusal of the head and closes the connection at once, so that no bytes after the head are parsed
   * as another request. The answer is padded with white space: uWS does not close the connection, and serves the
   * following bytes, as long as the answer fits its cork buffer.
   */
  refuse(refusal: Refusal): void {
    this.claim(refusal.code);
    this.head(refusal.code, REFUSAL_HEADERS);
    this.res.end(Buffer.concat([refusalBody(refusal), CORK_OVERFLOW]), true);
    this.finish();
  }

  /** Call when the handler has returned. */
  leave(): void {
    if (!this.finished && !this.aborted) this.headers();
    this.request = undefined;
  }

  header(name: string): string | undefined {
    return this.headers().find(([key]) => key === name)?.[1] || undefined;
  }

  headers(): Headers {
    if (!this.copied) {
      const copied: [string, string][] = [];
      this.request?.forEach((key, value) => {
        copied.push([key, value]);
        if (key === 'connection') this.closes = value.toLowerCase() === 'close';
      });
      this.copied = copied;
    }
    return this.copied;
  }

  get remoteAddress(): string {
    if (this.address === undefined)
      this.address = this.usable ? addressText(new Uint8Array(this.res.getRemoteAddress())) : '';
    return this.address;
  }

  get certificate(): string | undefined {
    return this.clientCertificate().certificate;
  }

  get hasInvalidCertificate(): boolean {
    return this.clientCertificate().isInvalid;
  }

  body(sink: BodySink): void {
    // uWS discards parts that arrive before `onData` is called.
    if (!this.request || this.reader) {
      sink.abort(new Error('the body was read twice, or too late'));
      return;
    }
    const { res } = this;
    const reader = new BodyReader(sink, res);
    this.reader = reader;
    res.onData((part, last) => {
      calledBack = this;
      // It is copied, because its memory belongs to uWS.
      if (part.byteLength > 0 && !reader.isOver) reader.take(new Uint8Array(part.slice(0)), last);
      else if (last) reader.complete();
    });
  }

  respond(status: number, headers: Headers, body: readonly Uint8Array[] | Uint8Array): void {
    if (!this.claim(status)) return;
    this.corked(() => this.send(status, headers, body instanceof Uint8Array ? [body] : body));
  }

  stream(status: number, headers: Headers, options: StreamOptions = {}): ResponseStream {
    const { length } = options;
    const here = this.claim(status);
    const silent = this.method === 'HEAD' || bodiless(status);
    if (here)
      this.corked(() => {
        this.head(status, headers);
        if (!silent) return;
        if (length !== undefined) this.res.writeHeader('content-length', String(length));
        this.res.endWithoutBody();
        this.finish();
      });
    // After the head, so that the stream is flushed after it at the end of this turn.
    return this.begin(!here || silent, options);
  }

  onAbort(listener: () => void): void {
    (this.aborts ??= []).push(listener);
  }

  /** Whether the response object may still be used. */
  private get usable(): boolean {
    return !this.aborted && !this.finished && !this.upgraded;
  }

  private clientCertificate(): ClientCertificate {
    const read = (): string => (this.usable ? this.res.getX509Certificate() : '');
    return (this.presented ??= checkCertificate(this.server.verified, read));
  }

  /**
   * Begins the answer and sets the status. Returns false if the client has closed the connection. Throws if there is an
   * answer already.
   */
  private claim(status: number): boolean {
    if (this.answered) throw new Error('the exchange already has an answer');
    this.answered = true;
    this.reader?.drop();
    if (this.aborted) return false;
    this.status = status;
    return true;
  }

  private accept(context: us_socket_context_t, options: UpgradeOptions): WebSocketStream {
    const stream = new UwsWebSocket(options, ended => (ended ? this.finish() : this.lose()));
    if (!this.claim(101)) return stream;
    const key = this.header('sec-websocket-key')!;
    this.upgraded = true;
    // Not corked, although uWS warns of that on standard error: if the WebSocket gets the address that the response
    // had, `cork` would then mistake it for the response, and might close it.
    this.res.upgrade<UserData>({ stream }, key, options.subprotocol ?? '', '', context);
    return stream;
  }

  private begin(lost: boolean, options: StreamOptions): UwsStream {
    this.streaming = new UwsStream(this.res, () => this.finish(), lost, options);
    return this.streaming;
  }

  private head(status: number, headers: Headers): void {
    this.headers();
    this.res.writeStatus(statusLine(status));
    for (const [name, value] of headers) if (name !== 'content-length') this.res.writeHeader(name, value);
    // uWS closes the connection after the answer, but does not say so (RFC 9112, 9.6): the client might reuse it.
    if (this.closes) this.res.writeHeader('connection', 'close');
  }

  private send(status: number, headers: Headers, pieces: readonly Uint8Array[]): void {
    let total = 0;
    for (const piece of pieces) total += piece.length;
    this.head(status, headers);
    const { closing } = this.server;
    if (bodiless(status)) this.res.endWithoutBody();
    else if (this.method === 'HEAD') this.res.writeHeader('content-length', String(total)).endWithoutBody();
    // A body that fits the cork buffer is written in one call; others are streamed.
    else if (pieces.length === 1 && total <= CORKED_BYTES) this.res.end(pieces[0], closing);
    else if (total <= CORKED_BYTES) this.res.end(joined(pieces), closing);
    else {
      const stream = this.begin(false, { length: total });
      for (const piece of pieces) stream.write(piece);
      stream.end();
      stream.flush();
      return;
    }
    this.finish();
  }

  /**
   * Runs `work` so that its writes are sent as one TLS record and with one system call. It runs at the end of this turn
   * of the event loop if the cork buffer may belong to another connection, or if more of the body may arrive: over TLS,
   * a write while uWS receives discards bytes that are not yet decrypted, which breaks the connection.
   */
  private corked(work: () => void): void {
    if (this.isReceiving || (!this.request && calledBack !== this))
      flushAtTurnEnd({ flush: () => this.usable && this.res.cork(work) });
    else if (this.request) work();
    else this.res.cork(work);
  }

  /** Whether more of the body may arrive. */
  private get isReceiving(): boolean {
    if (this.reader) return !this.reader.isComplete;
    return hasBody(this.headers());
  }

  private finish(): void {
    if (this.finished) return;
    this.finished = true;
    this.streaming = undefined;
    this.server.finish();
  }

  private lose(): void {
    if (this.aborted) return;
    this.aborted = true;
    this.streaming?.lose();
    this.reader?.lose();
    if (this.finished) return;
    this.finish();
    for (const listener of this.aborts ?? []) listener();
  }
}
