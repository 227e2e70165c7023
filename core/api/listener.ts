import { allValues, definePoint } from './point.js';

/**
 * One request as a listener hands it to the front end. Header names are lower case; valid until the exchange ends.
 *
 * @example
 * const exchange = new MyExchange(request, response); // implements Exchange
 * handle(exchange);
 */
export interface Exchange {
  readonly method: string;
  /** Path without query, still percent-encoded, and the query without `?`. */
  readonly path: string;
  readonly query: string;
  header(name: string): string | undefined;
  /** All headers, in order received. */
  headers(): readonly (readonly [string, string])[];
  readonly remoteAddress: string;
  readonly secure: boolean;
  /** PEM of the client's certificate, if it sent one that the client CA verified. */
  readonly certificate?: string;
  /**
   * Reads the whole body. Call it once, before the handler returns; otherwise the body is discarded. `onPart` is called
   * with the size of each part as it arrives. An error that it throws ends the read. Rejects with this error, with
   * Refusal RequestEntityTooLarge above `limit` bytes, and with an Error if the client disconnects or the request is
   * answered before the body is complete. Then no part of the body is kept.
   *
   * @example
   * let received = 0;
   * const body = await exchange.body(3 * 1024 * 1024, bytes => (received += bytes));
   */
  body(limit: number, onPart?: (bytes: number) => void): Promise<Uint8Array>;
  /**
   * Sends a complete answer: status, headers, and a body in one or more pieces that are written in order without being
   * joined. HEAD sends no body.
   */
  respond(
    status: number,
    headers: readonly (readonly [string, string])[],
    body: readonly Uint8Array[] | Uint8Array,
  ): void;
  /** Begins a streamed answer: of `length` bytes, or, without, of as many as come. HEAD sends no body. */
  stream(status: number, headers: readonly (readonly [string, string])[], options?: StreamOptions): ResponseStream;
  /**
   * Accepts the WebSocket handshake that the request is: sends 101 with the subprotocol chosen, if any, and begins a
   * stream each of whose writes is one message. `end` closes with code 1000; messages of the client are read and
   * dropped. A handshake may be refused, or ignored, by any other answer. Undefined where the request is no valid
   * handshake (RFC 6455, 4.2.1), and in listeners that know no WebSockets.
   *
   * @example
   * exchange.upgrade?.('text', subprotocol).write(encode({ type: 'ADDED', object }));
   */
  readonly upgrade?: ((messages: 'text' | 'binary', subprotocol?: string) => ResponseStream) | undefined;
  /** Called once when the client goes away before the answer is complete. */
  onAbort(listener: () => void): void;
  readonly aborted: boolean;
  /**
   * Status of the answer from the call that gives it on; undefined where there is none, also because the client was
   * gone before.
   */
  readonly status?: number;
}

/**
 * How a streamed answer is sent.
 *
 * @example
 * const options: StreamOptions = { length: 4096 };
 */
export interface StreamOptions {
  /** Bytes of the body. Without it the body is sent in chunks (RFC 9112, 7.1). */
  readonly length?: number;
  /**
   * A byte that may be sent ahead of the next write. Pass it where the pause between two writes may be long: the uws
   * listener ends a chunk only when it begins the next one, and some clients (urllib3) hand out a chunk only when they
   * have read its end.
   */
  readonly ahead?: ByteAhead | undefined;
}

/**
 * A byte that may be sent ahead of a write.
 *
 * @example
 * const JSON_DOCUMENTS: ByteAhead = { value: 0x20, partOfWrite: false };
 * const MESSAGES_OF_UP_TO_16_MB: ByteAhead = { value: 0, partOfWrite: true }; // 4 bytes of length, big-endian
 */
export interface ByteAhead {
  readonly value: number;
  /**
   * Whether each write begins with this byte, which is then left out of the write if it was sent ahead. Otherwise the
   * byte means nothing to readers wherever it stands between two writes.
   */
  readonly partOfWrite: boolean;
}

/**
 * A streamed answer (watch, long lists), or what is sent on a WebSocket.
 *
 * @example
 * const stream = exchange.stream(200, [['content-type', 'application/json']]);
 * if (stream.write(bytes) > 0) stream.onDrain(writeMore);
 */
export interface ResponseStream {
  /**
   * Writes bytes, on a WebSocket one message; several writes in one event-loop turn leave as one, none of no bytes
   * leaves at all. `mayWait`: the reader loses nothing if it gets them only with the next write or at the end. Returns
   * the bytes that the connection has not taken yet.
   */
  write(bytes: Uint8Array, mayWait?: boolean): number;
  /** Called when unsent bytes have drained below the listener's low-water mark. */
  onDrain(listener: () => void): void;
  end(): void;
  /** Closes the connection at once, for readers that are too slow. */
  abort(): void;
}

/**
 * Where and how to listen.
 *
 * @example
 * const binding: Binding = { host: '127.0.0.1', port: 0 };
 */
export interface Binding {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly tls?: { readonly certFile: string; readonly keyFile: string; readonly clientCaFile?: string };
}

/**
 * An open listener.
 *
 * @example
 * const { port, close } = await listener.listen(binding, handle);
 */
export interface Listening {
  readonly port: number;
  /**
   * Stops accepting, lets exchanges under way end (streams are ended by the front end) for a bounded time, then closes
   * all connections.
   */
  close(): Promise<void>;
}

/**
 * A way to serve HTTP/1.1. The bounds on headers, idle time and URL length are the listener's to keep.
 *
 * @example
 * const mine: Listener = { name: 'mine', listen: (binding, handle) => open(binding, request => handle(request)) };
 */
export interface Listener {
  readonly name: string;
  listen(binding: Binding, handle: (exchange: Exchange) => void): Promise<Listening>;
}

/**
 * HTTP listeners: the last is used, so that one of the configuration replaces the server's own.
 *
 * @example
 * contribute: () => [listener.of(host => new MyListener(host.log))],
 */
export const listener = definePoint<Listener>()('listener', ['front'], allValues);
