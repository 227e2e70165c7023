import { allValues, definePoint } from './point.js';

/** One request as a listener hands it to the front end. Header names are lower case; valid until the exchange ends. */
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
   * Reads the whole body, at most `limit` bytes; rejects with Refusal RequestEntityTooLarge above it and with an Error
   * when the client goes away.
   */
  body(limit: number): Promise<Uint8Array>;
  /**
   * Sends a complete answer: status, headers, and a body in one or more pieces that are written in order without being
   * joined. HEAD sends no body.
   */
  respond(
    status: number,
    headers: readonly (readonly [string, string])[],
    body: readonly Uint8Array[] | Uint8Array,
  ): void;
  /** Begins a streamed answer: of `length` bytes, or, without, of as many as come. */
  stream(status: number, headers: readonly (readonly [string, string])[], length?: number): ResponseStream;
  /** Called once when the client goes away before the answer is complete. */
  onAbort(listener: () => void): void;
  readonly aborted: boolean;
  /**
   * Status of the answer from the call that gives it on; undefined where there is none, also because the client was
   * gone before.
   */
  readonly status?: number;
}

/** A streamed answer (watch, long lists). */
export interface ResponseStream {
  /**
   * Writes bytes; several writes in one event-loop turn leave as one. Returns the bytes that the connection has not
   * taken yet.
   */
  write(bytes: Uint8Array): number;
  /** Called when unsent bytes have drained below the listener's low-water mark. */
  onDrain(listener: () => void): void;
  end(): void;
  /** Closes the connection at once, for readers that are too slow. */
  abort(): void;
}

/** Where and how to listen. */
export interface Binding {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly tls?: { readonly certFile: string; readonly keyFile: string; readonly clientCaFile?: string };
}

/** An open listener. */
export interface Listening {
  readonly port: number;
  /**
   * Stops accepting, lets exchanges under way end (streams are ended by the front end) for a bounded time, then closes
   * all connections.
   */
  close(): Promise<void>;
}

/** A way to serve HTTP/1.1. Bounds on headers, idle time and URL length come from core/limits.ts. */
export interface Listener {
  readonly name: string;
  listen(binding: Binding, handle: (exchange: Exchange) => void): Promise<Listening>;
}

/** HTTP listeners: the last is used, so that one of the configuration replaces the server's own. */
export const listener = definePoint<Listener, readonly Listener[]>('listener', ['front'], allValues);
