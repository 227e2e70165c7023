import type { Awaitable } from '../awaitable.js';

/**
 * A request that a listener passes to the front end. Header names are in lower case. Valid until the exchange ends.
 *
 * @example
 * const exchange = new MyExchange(request, response); // implements Exchange
 * handle(exchange);
 */
export interface Exchange {
  readonly method: string;
  /** Path without query, percent-encoded, and the query without `?`. */
  readonly path: string;
  readonly query: string;
  header(name: string): string | undefined;
  /** All headers in the order of the request. */
  headers(): readonly (readonly [string, string])[];
  readonly remoteAddress: string;
  readonly secure: boolean;
  /** The client's certificate in PEM, if it sent one that the client CA verified. */
  readonly certificate?: string;
  /**
   * Whether the client sent a certificate that is not in `certificate`: it is of another CA, not for clients, or has
   * expired. Such a request is answered with 401 unless it has other credentials.
   */
  readonly hasInvalidCertificate?: boolean;
  /**
   * Reads the body: its parts are passed to `sink` as they arrive, from now on or later. Call it once, before the
   * handler returns; otherwise the body is discarded.
   *
   * @example
   * let received = 0;
   * exchange.body({
   *   write: bytes => void (received += bytes.length),
   *   close: () => exchange.respond(200, [], Buffer.from(`${received} bytes`)),
   *   abort: () => undefined,
   * });
   */
  body(sink: BodySink): void;
  /**
   * Sends a complete answer: status, headers, and a body in parts that are written in order without being joined. For
   * HEAD the body is not sent.
   */
  respond(
    status: number,
    headers: readonly (readonly [string, string])[],
    body: readonly Uint8Array[] | Uint8Array,
  ): void;
  /** Starts a streamed answer: of `length` bytes, or of any length without it. For HEAD the body is not sent. */
  stream(status: number, headers: readonly (readonly [string, string])[], options?: StreamOptions): ResponseStream;
  /**
   * Accepts the WebSocket handshake of the request: sends 101 with the selected subprotocol, if any. The connection is
   * then a stream in both directions, in which each message is one write. Any other answer refuses or ignores the
   * handshake. Undefined if the request is not a valid handshake (RFC 6455, 4.2.1), and for listeners without
   * WebSockets. There is no other way to take over a connection: uWebSockets.js does not offer one
   * (docs/guides/connections.md).
   *
   * @example
   * const socket = exchange.upgrade?.({ messages: 'text', receive: bytes => socket.write(bytes) });
   */
  readonly upgrade?: ((options: UpgradeOptions) => WebSocketStream) | undefined;
  /** Called once if the client disconnects before the answer is complete. */
  onAbort(listener: () => void): void;
  readonly aborted: boolean;
  /**
   * The status of the answer, once it has begun; undefined as long as there is none, and if the client disconnected
   * before.
   */
  readonly status?: number;
}

/**
 * Takes the body of a request, as the sink of a WritableStream takes its chunks (WHATWG Streams). A listener calls
 * either `close` or `abort`, once, and nothing after it.
 *
 * @example
 * const toFile = (file: FileHandle): BodySink => ({
 *   write: async bytes => void (await file.write(bytes)), // the client sends no faster than the disk writes
 *   close: () => void file.close(),
 *   abort: () => void file.close(),
 * });
 */
export interface BodySink {
  /**
   * Takes the next bytes, which belong to the sink from then on. While a promise that it returns is pending, it is not
   * called again and the connection is not read: only bytes that the listener has already received wait, less than 1
   * MiB. If it throws or rejects, `abort` is called with that error, and the rest of the body is discarded.
   */
  write(bytes: Uint8Array): void | Promise<void>;
  /** The body is complete. */
  close(): void;
  /**
   * The body ends before it is complete, with the error of `write`, or with an Error because the client has
   * disconnected or the request was answered.
   */
  abort(error: unknown): void;
}

/**
 * Options for accepting a WebSocket.
 *
 * @example
 * const options: UpgradeOptions = { messages: 'binary', subprotocol: 'v5.channel.k8s.io', receive: handleMessage };
 */
export interface UpgradeOptions {
  /** The type of the messages that are written. */
  readonly messages: 'text' | 'binary';
  /** The selected subprotocol: one that the client offers. */
  readonly subprotocol?: string | undefined;
  /**
   * Takes the next message of the client, whose bytes belong to it from then on. While a promise that it returns is
   * pending, it is not called again. The listener then stops reading the connection; one that cannot (uws) closes it
   * with code 1008 when too much waits. If it throws or rejects, the connection is closed with code 1011.
   */
  receive(message: Uint8Array, isBinary: boolean): void | Promise<void>;
}

/**
 * Options of a streamed answer.
 *
 * @example
 * const options: StreamOptions = { length: 4096 };
 */
export interface StreamOptions {
  /** Length of the body. Without it the body is sent in chunks (RFC 9112, 7.1). */
  readonly length?: number;
  /**
   * A byte that may be sent ahead of the next write. Set it if the pause between two writes may be long: the uws
   * listener completes a chunk only with the next one, and some clients (urllib3) return a chunk only when it is
   * complete.
   */
  readonly ahead?: ByteAhead | undefined;
  /**
   * Whether the stream is sent news at the same time as many other streams, like a watch. The listener may delay its
   * writes for some milliseconds to send several together.
   */
  readonly isNews?: boolean;
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
   * Whether each write begins with this byte, which is then removed from the write if it was sent ahead. Otherwise the
   * byte has no meaning between two writes.
   */
  readonly partOfWrite: boolean;
}

/**
 * A streamed answer (watches, long lists), or the sending side of a WebSocket.
 *
 * @example
 * const stream = exchange.stream(200, [['content-type', 'application/json']]);
 * if (stream.write(bytes) > 0) stream.onDrain(writeMore);
 */
export interface ResponseStream {
  /**
   * Writes bytes; on a WebSocket, one message. Several writes in one turn of the event loop are sent together; an empty
   * write is not sent. With `mayWait`, the bytes may be sent with the next write or at the end. Returns the number of
   * bytes that the connection has not accepted yet.
   */
  write(bytes: Uint8Array, mayWait?: boolean): number;
  /** Calls back when the unsent bytes are below the low-water mark of the listener. */
  onDrain(listener: () => void): void;
  end(): void;
  /** Closes the connection immediately, for clients that are too slow. */
  abort(): void;
}

/**
 * A WebSocket that was accepted. Each write is one message.
 *
 * @example
 * socket.end(1001, 'the server is closing');
 */
export interface WebSocketStream extends ResponseStream {
  /**
   * Closes the connection after the messages that were written, with a close code (RFC 6455, 7.4; 1000 by default) and
   * a reason of at most 123 bytes. No message of the client is received after that.
   */
  end(code?: number, reason?: string): void;
}

/**
 * Address and options of a listener.
 *
 * @example
 * const binding: Binding = { host: '127.0.0.1', port: 0 };
 */
export interface Binding {
  readonly host: string;
  /** 0 selects a free port. */
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
   * Stops accepting connections, waits for requests in flight for a limited time (the front end ends streams), then
   * closes all connections.
   */
  close(): Promise<void>;
  /**
   * Makes the listener of another thread, which has joined, serve connections. From then on, all accepted connections
   * are passed to the listeners that have joined, in turn, and none is served in this thread. This listener is closed
   * first. With `former`, the target replaces that one. Present in listeners with `join`.
   *
   * @example
   * listening.share?.(joined.target); // of the other thread: const joined = await listener.join(binding, handle);
   */
  share?(target: number, former?: number): void;
  /**
   * Reads the files of `Binding.tls` again, and uses them for connections from now on; open connections keep their own.
   * Throws if they cannot be used; then nothing changes. Without it, changed files take effect at the next start.
   */
  renew?(): Awaitable<void>;
}

/**
 * A listener that serves connections which the listener of another thread accepts.
 *
 * @example
 * const { target, close } = await listener.join(binding, handle);
 */
export interface Joined {
  /** The argument of `Listening.share` in the thread that accepts. */
  readonly target: number;
  /** Like `Listening.renew`. Returns the target that is to replace the former one. */
  renew?(): number;
  /** Waits for requests in flight for a limited time, then closes all connections. */
  close(): Promise<void>;
}

/**
 * An HTTP/1.1 server. The listener enforces the limits on headers, idle time and the length of URLs.
 *
 * @example
 * const mine: Listener = { name: 'mine', listen: (binding, handle) => open(binding, request => handle(request)) };
 */
export interface Listener {
  readonly name: string;
  listen(binding: Binding, handle: (exchange: Exchange) => void): Promise<Listening>;
  /**
   * Prepares to serve connections that another thread of this server accepts with `listen`. Absent in listeners that
   * serve in one thread only. It is called for listeners of built-in plugins only.
   */
  join?(binding: Binding, handle: (exchange: Exchange) => void): Promise<Joined>;
}
