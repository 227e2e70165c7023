import type { BodySink, Exchange, Listener, Listening } from '../../../api/listener.js';
import { Refusal } from '../../../model/refusal.js';
import { WholeBody } from '../../../request/wholeBody.js';
import { nextTurn } from '../../../runtime/timers.js';
import { RawClient, type RawTarget } from '../../rawClient.js';

/** The listener under test, and how the suite connects to it. */
export interface ListenerCase {
  make(): Promise<Listener>;
  /** Paths and texts of a CA, a serving certificate and client certificates; without them, plain HTTP. */
  readonly tls?: ListenerTls;
  /** Whether the listener accepts WebSockets (`Exchange.upgrade`). */
  readonly hasWebSockets?: boolean;
}

/** Certificates for the suite. */
export interface ListenerTls {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string;
  readonly caPem: string;
  readonly good: { readonly cert: string; readonly key: string };
  readonly foreign: { readonly cert: string; readonly key: string };
}

/** A value that arrives later. */
export class Later<T> {
  resolve!: (value: T | PromiseLike<T>) => void;
  readonly value = new Promise<T>(resolve => {
    this.resolve = resolve;
  });
}

/** The header that every request has. */
export const HOST = 'Host: localhost\r\n';
/** A GET, with further lines of headers. */
export const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\n${HOST}${more}\r\n`;
/** The bytes of a text. */
export const bytes = (text: string): Buffer => Buffer.from(text);
/** Headers of a WebSocket handshake. */
export const HANDSHAKE =
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
/** The largest body, in bytes, that the front end of the suite reads as a whole. */
export const LIMIT = 1000;
/** More bytes than the buffers of a connection hold. */
export const BIG = 8 * 1024 * 1024;

/** Reads a body of at most `LIMIT` bytes. */
export function readWhole(exchange: Exchange): Promise<Uint8Array> {
  const whole = new WholeBody(LIMIT);
  exchange.body(whole);
  return whole.bytes;
}

/** Answers by path. Each path tests one behavior. */
export class Front {
  readonly events = new Map<string, Later<Exchange>>();
  /** Handlers of requests, by path. Tests answer these requests. */
  readonly handlers = new Map<string, (exchange: Exchange) => void>();
  /** Sinks of the bodies of requests, by path. Tests answer these requests. */
  readonly sinks = new Map<string, BodySink>();
  /** Number of bytes of the body of `/body/counted`. */
  counted = 0;
  /** The error with which reading the body of `/answered` was rejected. */
  readonly answeredEarly = new Later<string>();

  event(name: string): Later<Exchange> {
    let later = this.events.get(name);
    if (!later) this.events.set(name, (later = new Later()));
    return later;
  }

  readonly handle = (exchange: Exchange): void => {
    const { path } = exchange;
    exchange.onAbort(() => this.event(`abort ${path}`).resolve(exchange));
    this.event(path).resolve(exchange);
    const sink = this.sinks.get(path);
    this.handlers.get(path)?.(exchange);
    if (sink) exchange.body(sink);
    else if (path.startsWith('/now'))
      exchange.respond(200, [['x-a', 'b']], bytes(`${exchange.method} ${path}?${exchange.query}`));
    else if (path === '/later')
      void nextTurn().then(() => exchange.respond(200, [], bytes(`later ${exchange.header('x-id')}`)));
    else if (path === '/headers')
      void nextTurn().then(() => exchange.respond(200, [], bytes(JSON.stringify(exchange.headers()))));
    else if (path === '/pieces') exchange.respond(200, [], [bytes('one,'), bytes(''), bytes('two,'), bytes('three')]);
    else if (path === '/empty') exchange.respond(200, [], []);
    else if (path === '/big')
      exchange.respond(
        200,
        [],
        Array.from({ length: BIG / 4096 }, (_, i) => Buffer.alloc(4096, 97 + (i % 26))),
      );
    else if (path === '/none') exchange.respond(304, [['etag', '"x"']], []);
    else if (path === '/throw') throw new Error('handler failed');
    else if (path.startsWith('/body')) this.readBody(exchange);
    else if (path === '/answered') {
      readWhole(exchange).catch(error => this.answeredEarly.resolve(String(error)));
      void nextTurn().then(() => exchange.respond(403, [], bytes('early')));
    } else if (path === '/certificate') exchange.respond(200, [], bytes(exchange.certificate ?? 'none'));
    else if (path === '/address') exchange.respond(200, [], bytes(`${exchange.remoteAddress} ${exchange.secure}`));
    else if (path === '/writes') this.writes(exchange);
  };

  private readBody(exchange: Exchange): void {
    const whole = new WholeBody(LIMIT);
    exchange.body({
      write: part => {
        if (exchange.path === '/body/refused') throw new Refusal('TooManyRequests', 'too many');
        if (exchange.path === '/body/counted') this.counted += part.length;
        return whole.write(part);
      },
      close: () => whole.close(),
      abort: error => whole.abort(error),
    });
    void whole.bytes.then(
      body => exchange.respond(200, [], bytes(`${body.length} ${Buffer.from(body).toString('latin1').slice(0, 10)}`)),
      error => {
        this.event(`failed ${exchange.path}`).resolve(exchange);
        if (error instanceof Refusal) exchange.respond(error.code, [], bytes(error.message));
      },
    );
  }

  private writes(exchange: Exchange): void {
    const stream = exchange.stream(200, [['content-type', 'text/plain']]);
    for (const part of ['a', 'b', 'c']) stream.write(bytes(part));
    void nextTurn()
      .then(nextTurn)
      .then(() => {
        stream.write(bytes('d'));
        stream.end();
      });
  }
}

/** A listener under test with its clients, opened for each test. */
export class ListenerSetup {
  front = new Front();
  listener!: Listener;
  listening!: Listening;
  readonly #clients: RawClient[] = [];

  constructor(readonly given: ListenerCase) {}

  /** Opens the listener. */
  async begin(): Promise<void> {
    this.front = new Front();
    this.listener = await this.given.make();
    this.listening = await this.listen();
  }

  /** Closes the clients and the listener. */
  async end(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.socket.destroy();
    await this.listening.close();
  }

  readonly targetOf = (port: number): RawTarget => ({ port, ca: this.given.tls?.caPem });

  readonly listen = (handle: (exchange: Exchange) => void = this.front.handle): Promise<Listening> =>
    this.listener.listen({ host: '127.0.0.1', port: 0, tls: this.given.tls }, handle);

  /** A connection. */
  readonly open = async (target = this.targetOf(this.listening.port)): Promise<RawClient> => {
    const client = await RawClient.open(target);
    this.#clients.push(client);
    return client;
  };

  /** Sends a text on a new connection, and resolves with the answer when the condition holds or the connection ends. */
  readonly ask = async (text: string, condition: (text: string) => boolean): Promise<string> => {
    const client = await this.open();
    client.send(text);
    return await client.until(condition);
  };

  /**
   * Resolves when a number that decreases while data is sent has not changed during many requests on another
   * connection, because it is zero or because the data is not read.
   */
  readonly untilStill = async (unsent: () => number): Promise<void> => {
    const client = await this.open();
    let before = Number.NaN;
    for (let same = 0, requests = 1; same < 20 && unsent() > 0; requests++) {
      client.send(get(`/now/${requests}`));
      await client.until(text => text.endsWith(`/now/${requests}?`));
      const now = unsent();
      same = now === before ? same + 1 : 0;
      before = now;
    }
  };
}
