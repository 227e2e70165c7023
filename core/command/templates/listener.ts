import { CREDENTIALS_BYTES, HEADER_BYTES, HEADER_VALUE_BYTES } from '../../limits.js';
import { commonTests, MAPS, type PointTemplate, serverTest, testHead } from './shared.js';

/** HTTP by the modules of Node.js. */
export const listener: PointTemplate = {
  config: '{ "connections": 1000 }',
  source: name => `import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import {
  type Binding,
  type BodySink,
  ConfigError,
  definePlugin,
  type Exchange,
  type Listener,
  type Listening,
  listener,
  type Plugin,
  Refusal,
  type ResponseStream,
  type StreamOptions,
} from 'capstan/api';

/** Settings: how many connections are served at once. */
interface Config {
  readonly connections: number;
}

function parse(config: unknown): Config {
  const { connections } = (config ?? {}) as Partial<Config>;
  if (!Number.isInteger(connections) || connections! < 1) throw new ConfigError('connections', 'must be at least 1');
  return { connections: connections! };
}

type Headers = readonly (readonly [string, string])[];

/** The limits that the server expects: of all headers, of a value, and of a value with credentials. */
const HEADER_BYTES = ${HEADER_BYTES};
const VALUE_BYTES = ${HEADER_VALUE_BYTES};
const CREDENTIALS_BYTES = ${CREDENTIALS_BYTES};
const CREDENTIALS = new Set(['authorization', 'sec-websocket-protocol']);
/** How long closing waits for open exchanges. */
const DRAIN_MS = 10_000;
/** Bytes of an unread body that are received and discarded, so that the client can read its answer. */
const DISCARDED_BYTES = 64 * 1024 * 1024;
/** Unsent bytes below which writers continue. */
const LOW_WATER = 64 * 1024;

const JSON_TYPE: Headers = [['content-type', 'application/json']];
const toJson = (refusal: Refusal): Buffer => Buffer.from(JSON.stringify(refusal.toStatus()));

/** A streamed answer. The writes of one turn are sent together. */
class Stream implements ResponseStream {
  #isCorked = false;

  constructor(readonly response: ServerResponse) {}

  write(bytes: Uint8Array): number {
    const { response } = this;
    if (response.writableEnded || response.destroyed) return 0;
    if (!this.#isCorked) {
      this.#isCorked = true;
      response.cork();
      setImmediate(() => this.#uncork());
    }
    if (bytes.length > 0) response.write(bytes);
    return response.writableLength;
  }

  onDrain(listener: () => void): void {
    this.response.on('drain', () => this.response.writableLength < LOW_WATER && listener());
  }

  end(): void {
    this.#uncork();
    this.response.end();
  }

  abort(): void {
    this.response.destroy();
  }

  #uncork(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.response.uncork();
  }
}

/** A request, and its answer. */
class HttpExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  aborted = false;
  status: number | undefined;
  readonly #aborts: (() => void)[] = [];
  #headers: Headers | undefined;
  /** Ends the body before it is complete. */
  #failBody: (why: string) => void = () => undefined;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly secure: boolean,
  ) {
    const [path = '/', ...query] = (request.url ?? '/').split('?');
    this.method = request.method ?? 'GET';
    this.path = path;
    this.query = query.join('?');
    this.remoteAddress = request.socket.remoteAddress ?? '';
    response.on('close', () => {
      if (response.writableFinished || this.aborted) return;
      this.aborted = true;
      this.#failBody('the client closed the connection');
      for (const listener of this.#aborts) listener();
    });
    request.on('error', () => undefined);
  }

  header(name: string): string | undefined {
    return this.headers().find(([other]) => other === name)?.[1];
  }

  headers(): Headers {
    const raw = this.request.rawHeaders;
    return (this.#headers ??= raw.flatMap((name, i) =>
      i % 2 === 0 ? [[name.toLowerCase(), raw[i + 1]!] as const] : [],
    ));
  }

  get certificate(): string | undefined {
    const socket = this.request.socket as TLSSocket;
    return this.secure && socket.authorized ? socket.getPeerX509Certificate()?.toString() : undefined;
  }

  get hasInvalidCertificate(): boolean {
    const socket = this.request.socket as TLSSocket;
    return this.secure && !socket.authorized && socket.getPeerX509Certificate() !== undefined;
  }

  body(sink: BodySink): void {
    const { request } = this;
    /** Parts that have arrived while the sink waits. */
    let parts: Uint8Array[] = [];
    let isComplete = false;
    let isBusy = false;
    let isOver = false;
    const fail = (error: unknown): void => {
      if (isOver) return;
      isOver = true;
      parts = [];
      request.resume();
      sink.abort(error);
    };
    const pass = (): void => {
      while (!isOver && !isBusy) {
        const part = parts.shift();
        if (!part) break;
        try {
          const written = sink.write(part);
          if (!written) continue;
          isBusy = true;
          request.pause();
          written.then(() => {
            isBusy = false;
            pass();
          }, fail);
        } catch (error) {
          fail(error);
        }
      }
      if (isOver || isBusy) return;
      if (!isComplete) request.resume();
      else {
        isOver = true;
        sink.close();
      }
    };
    this.#failBody = why => {
      if (!isOver) fail(new Error(why));
    };
    request.on('data', (part: Uint8Array) => {
      if (isOver) return;
      parts.push(part);
      pass();
    });
    request.once('end', () => {
      isComplete = true;
      pass();
    });
    request.once('close', () => {
      if (!isComplete) fail(new Error('the client closed the connection'));
    });
  }

  respond(status: number, headers: Headers, body: readonly Uint8Array[] | Uint8Array): void {
    const parts = body instanceof Uint8Array ? [body] : body;
    const hasBody = status >= 200 && status !== 204 && status !== 304;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (!this.#begin(status, hasBody ? [...headers, ['content-length', \`\${length}\`]] : headers)) return;
    this.response.cork();
    if (hasBody && this.method !== 'HEAD') for (const part of parts) this.response.write(part);
    this.response.end();
    this.response.uncork();
  }

  stream(status: number, headers: Headers, { length }: StreamOptions = {}): ResponseStream {
    const all = length === undefined ? headers : [...headers, ['content-length', \`\${length}\`] as const];
    if (this.#begin(status, all)) this.response.flushHeaders();
    return new Stream(this.response);
  }

  onAbort(listener: () => void): void {
    this.#aborts.push(listener);
  }

  /** Sends status and headers, and discards the rest of the body so that the connection can be used again. */
  #begin(status: number, headers: Headers): boolean {
    if (this.status !== undefined) throw new Error('the exchange already has an answer');
    this.#failBody('the request was answered before its body had arrived');
    if (this.aborted) return false;
    this.status = status;
    // Node.js writes values as Latin-1; these are UTF-8.
    const bytesOf = (value: string): string => Buffer.from(value).toString('latin1');
    this.response.writeHead(status, headers.flatMap(([name, value]) => [name, bytesOf(value)]));
    let left = DISCARDED_BYTES;
    this.request.on('data', (part: Uint8Array) => {
      left -= part.length;
      if (left < 0) this.request.socket.destroy();
    });
    return true;
  }
}

/** Returns the refusal of a request that must not be passed on. The server relies on these checks in every listener. */
function faultOf(exchange: HttpExchange): Refusal | undefined {
  for (const [name, value] of exchange.headers()) {
    const limit = CREDENTIALS.has(name) ? CREDENTIALS_BYTES : VALUE_BYTES;
    if (Buffer.byteLength(value, 'latin1') > limit)
      return new Refusal('RequestHeaderFieldsTooLarge', \`a value of \${name} must be at most \${limit} bytes\`);
  }
  return undefined;
}

function serve(exchange: HttpExchange, handle: (exchange: Exchange) => void): void {
  const fault = faultOf(exchange);
  if (fault) {
    exchange.response.shouldKeepAlive = false;
    exchange.respond(fault.code, JSON_TYPE, toJson(fault));
    return;
  }
  try {
    handle(exchange);
  } catch {
    if (exchange.status === undefined)
      exchange.respond(500, JSON_TYPE, toJson(new Refusal('InternalError', 'Internal error occurred')));
  }
}

function createFor({ tls }: Binding): Server {
  const options: ServerOptions = { maxHeaderSize: HEADER_BYTES, headersTimeout: 10_000, keepAliveTimeout: 120_000 };
  if (!tls) return createServer(options);
  const [cert, key] = [readFileSync(tls.certFile), readFileSync(tls.keyFile)];
  const clients = tls.clientCaFile && { ca: readFileSync(tls.clientCaFile), requestCert: true };
  return createSecureServer({ ...options, cert, key, ...(clients || {}), rejectUnauthorized: false });
}

class HttpListener implements Listener {
  readonly name = 'http';

  constructor(readonly connections: number) {}

  async listen(binding: Binding, handle: (exchange: Exchange) => void): Promise<Listening> {
    const server = createFor(binding);
    server.maxHeadersCount = 0;
    server.maxConnections = this.connections;
    // Watches have no end.
    server.requestTimeout = 0;
    /** Connections without a request yet, for which closing would wait. */
    const unused = new Set<Socket>();
    const add = (socket: Socket): void => {
      unused.add(socket);
      socket.once('close', () => unused.delete(socket));
    };
    server.on(binding.tls ? 'secureConnection' : 'connection', add);
    let isClosing = false;
    server.on('request', (request, response) => {
      unused.delete(request.socket);
      if (isClosing) response.shouldKeepAlive = false;
      response.once('close', () => isClosing && server.closeIdleConnections());
      serve(new HttpExchange(request, response, binding.tls !== undefined), handle);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', error => reject(new Error(\`cannot listen on \${binding.port}: \${error.message}\`)));
      server.listen({ host: binding.host, port: binding.port }, resolve);
    });
    let closed: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      isClosing = true;
      const ended = new Promise<void>(resolve => server.close(() => resolve()));
      server.closeIdleConnections();
      for (const socket of unused) socket.destroy();
      const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await ended;
      clearTimeout(timer);
    };
    return { port: (server.address() as AddressInfo).port, close: () => (closed ??= close()) };
  }
}

/** Serves HTTP instead of the listeners of the server, without WebSockets. */
export default definePlugin({
  name: '${name}',
  parse,
  contribute: ({ connections }) => [listener.of(() => new HttpListener(connections))],
}) satisfies Plugin<Config>;
`,
  test: `${testHead('listener', 'fakeHost, listenerConformance, partsOf, startTestServer')}
const config = { connections: 1000 };
const make = async () => (await partsOf(plugin, config, listener, fakeHost('front').host))[0]!;

for (const { name, run } of listenerConformance({ make })) test(name, run);
${commonTests('{ connections: 0 }', 'connections: must be at least 1')}
${serverTest(
  'serves requests and watches of a server',
  `const path = '${MAPS}';
await server.request('POST', path, { body: { metadata: { name: 'sample' } } });
const { status, body } = await server.request('GET', \`\${path}/sample\`);
assert.deepEqual([status, body.metadata.name], [200, 'sample']);`,
)}
`,
};
