import { readFileSync } from 'node:fs';
import { createServer, IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Host } from '../../core/api/host.js';
import { type Binding, type Exchange, type Listener, type Listening, listener } from '../../core/api/listener.js';
import { definePlugin } from '../../core/api/plugin.js';
import {
  BACKLOG,
  CONNECTIONS,
  HEADER_BYTES,
  HEADERS,
  HEADERS_MS,
  IDLE_MS,
  REQUEST_MS,
  STALLED_READER_MS,
} from '../../core/limits.js';
import { asksForWebSocket, handshakeFault } from '../../core/model/webSocket.js';
import { clearTimeout, setTimeout } from '../../core/runtime/timers.js';
import { runHandler, statusLine, waitForExchanges } from './common.js';
import { headRefusal, sizeRefusal } from './framing.js';
import { NodeExchange, pairs } from './nodeExchange.js';
import { Handshake } from './nodeWebsocket.js';
import { type ClientVerifier, clientVerifier } from './verify.js';

/**
 * A request that is upgraded only for a valid WebSocket handshake. Other offers of an upgrade are ignored (RFC 9110,
 * 7.8). Node sets `upgrade` if the client offers an upgrade, and reads it after the head to decide whether to emit
 * `upgrade`.
 */
class Request extends IncomingMessage {
  // Without an initial value, because the constructor of the base sets `upgrade`.
  declare private offered: boolean | null;

  get upgrade(): boolean {
    if (!this.offered) return false;
    const headers = pairs(this.rawHeaders);
    if (sizeRefusal(headers, 'latin1')) return false;
    return asksForWebSocket(this.method ?? '', headers) && handshakeFault(headers) === undefined;
  }

  set upgrade(offered: boolean | null) {
    this.offered = offered;
  }
}

const OPTIONS: ServerOptions<typeof Request> = {
  maxHeaderSize: HEADER_BYTES,
  headersTimeout: HEADERS_MS,
  requestTimeout: REQUEST_MS,
  connectionsCheckingInterval: HEADERS_MS / 10,
  keepAliveTimeout: IDLE_MS,
  noDelay: true,
  IncomingMessage: Request,
  // `headRefusal` checks it: Node would answer by itself and serve the next request of the connection.
  requireHostHeader: false,
};

/** The contents of the files of a binding. */
const contentsOf = ({ certFile, keyFile, clientCaFile }: NonNullable<Binding['tls']>) => ({
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
  ...(clientCaFile ? { ca: readFileSync(clientCaFile, 'utf8') } : {}),
});

function make(contents: ReturnType<typeof contentsOf> | undefined): Server {
  if (!contents) return createServer(OPTIONS);
  const asked = contents.ca === undefined ? {} : { requestCert: true, rejectUnauthorized: false };
  return createSecureServer({ ...OPTIONS, handshakeTimeout: HEADERS_MS, ...asked, ...contents });
}

/** `httpVersion` of a request line without a version. Node also accepts 2.0. */
const NO_VERSION = '0.9';
const SERVED_VERSIONS = new Set(['1.0', '1.1']);

/** Status of the refusal of a request that Node has parsed; undefined if the request is served. */
function refusalOf({ httpVersion, rawHeaders }: IncomingMessage): number | undefined {
  if (!SERVED_VERSIONS.has(httpVersion)) return httpVersion === NO_VERSION ? 400 : 505;
  return rawHeaders.length > 2 * HEADERS ? 431 : undefined;
}

/** Statuses by error code of Node; 400 for all other codes. */
const REFUSALS = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

/** Longest wait in milliseconds for a client to close the connection after its request could not be parsed. */
const LINGER_MS = 5_000;

/**
 * Answers bytes that are not a valid request. The socket stays readable for some time: closing it while bytes are
 * unread would reset the connection and lose the answer.
 */
function refuse(status: number, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(`HTTP/1.1 ${statusLine(status)}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  socket.removeAllListeners('data');
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('end', () => socket.destroy());
  socket.once('close', () => clearTimeout(timer));
}

/**
 * A response for a handshake that is not answered with 101, on a connection that Node no longer serves. It closes the
 * connection.
 */
function refusalOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on('finish', () => {
    response.detachSocket(socket);
    socket.destroySoon();
  });
  return response;
}

/** Why a server cannot listen, without the address that Node.js repeats. */
const reasonOf = (error: NodeJS.ErrnoException): string =>
  error.code === 'EADDRINUSE' ? 'the address is in use' : error.message;

function open(server: Server, binding: Binding): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', error =>
      reject(new Error(`cannot listen on ${binding.host}:${binding.port}: ${reasonOf(error)}`)),
    );
    const { host, port } = binding;
    server.listen({ host, port, backlog: BACKLOG }, () => resolve((server.address() as AddressInfo).port));
  });
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/**
 * Connections from which no request has come yet, by the address of their client. Node does not count them as idle, so
 * closing would wait for them.
 */
class UnusedConnections {
  readonly #sockets = new Map<string, Socket>();

  constructor(server: Server) {
    const add = (socket: Socket): void => {
      const peer = peerOf(socket);
      this.#sockets.set(peer, socket);
      socket.once('close', () => this.#sockets.get(peer) === socket && this.#sockets.delete(peer));
    };
    server.on('connection', add);
    // With TLS, this socket replaces that of the TCP connection.
    server.on('secureConnection', add);
  }

  /** Call when a request has come. */
  remove(socket: Socket): void {
    if (this.#sockets.size > 0) this.#sockets.delete(peerOf(socket));
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}

/** The checks of client certificates, by connection. */
class Verifiers {
  /** The CAs that the handshake of a connection was with. */
  readonly #handshakes = new WeakMap<Duplex, string | undefined>();
  #bundle: string | undefined;
  #verified: ClientVerifier | undefined;
  /** For connections whose handshake was with other CAs. */
  #verifiedAfresh: ClientVerifier | undefined;

  constructor(
    server: Server,
    readonly now: () => number,
    bundle: string | undefined,
  ) {
    if (bundle === undefined) return;
    this.use(bundle);
    const begun = new Map<string, string | undefined>();
    server.on('connection', socket => {
      const peer = peerOf(socket);
      begun.set(peer, this.#bundle);
      socket.once('close', () => begun.delete(peer));
    });
    server.on('secureConnection', socket => {
      const peer = peerOf(socket);
      this.#handshakes.set(socket, begun.get(peer));
      begun.delete(peer);
    });
  }

  /** Takes the CAs of handshakes from now on, in PEM. Throws if they cannot be read. */
  use(bundle: string | undefined): void {
    if (bundle === undefined || bundle === this.#bundle) return;
    this.#verified = clientVerifier(bundle, this.now);
    this.#verifiedAfresh = clientVerifier(bundle, this.now, false);
    this.#bundle = bundle;
  }

  of(socket: Duplex): ClientVerifier | undefined {
    return this.#handshakes.get(socket) === this.#bundle ? this.#verified : this.#verifiedAfresh;
  }
}

/** Makes a server use the files of its binding as they are now. Throws if it cannot; then nothing has changed. */
function renew(server: SecureServer, tls: NonNullable<Binding['tls']>, verifiers: Verifiers): void {
  const contents = contentsOf(tls);
  server.setSecureContext(contents);
  verifiers.use(contents.ca);
}

/** The listener on `node:http` and `node:https`, for platforms without a uWS binary. */
export class NodeListener implements Listener {
  readonly name = 'node';

  constructor(private readonly host: Host) {}

  async listen(binding: Binding, handle: (exchange: Exchange) => void): Promise<Listening> {
    const { tls } = binding;
    const contents = tls && contentsOf(tls);
    const server = make(contents);
    const verifiers = new Verifiers(server, this.host.now, contents?.ca);
    const state = { secure: tls !== undefined, closing: false, verifierOf: (socket: Duplex) => verifiers.of(socket) };
    server.maxHeadersCount = 0;
    server.maxConnections = CONNECTIONS;
    server.timeout = STALLED_READER_MS;
    // The last response of each connection, until it is sent and its request is read completely.
    const inProgress = new WeakMap<Duplex, ServerResponse>();
    // Connections whose last answer is a refusal. Node may continue to read, and report errors in their bodies.
    const refused = new WeakSet<Duplex>();
    server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) => {
      const isAnswered = inProgress.get(socket)?.headersSent;
      if (code === 'ECONNRESET' || isAnswered) socket.destroy();
      else if (!refused.has(socket)) refuse(REFUSALS.get(code) ?? 400, socket);
    });
    const answer = (exchange: NodeExchange): void => {
      const { method, httpVersion } = exchange;
      const refusal = headRefusal(method, exchange.headers(), { httpVersion, encoding: 'latin1' });
      if (refusal === undefined)
        runHandler(exchange, handle, error => this.host.log.error({ error }, 'request handler failed'));
      else {
        refused.add(exchange.socket);
        exchange.refuse(refusal);
      }
    };
    const unused = new UnusedConnections(server);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      unused.remove(socket);
      // Bytes after a refused request are not a request.
      if (refused.has(socket)) return;
      const status = refusalOf(request);
      if (status !== undefined) {
        refused.add(socket);
        return refuse(status, socket);
      }
      inProgress.set(socket, response);
      const forget = (): void => {
        if (inProgress.get(socket) === response) inProgress.delete(socket);
      };
      response.once('close', () => {
        if (request.complete) forget();
        else request.once('end', forget);
        if (state.closing) server.closeIdleConnections();
      });
      answer(new NodeExchange(state, request, response));
    });
    server.on('timeout', socket => {
      // A watch may send nothing for a long time.
      if (socket.writableLength > 0 || !inProgress.has(socket)) socket.destroy();
    });
    const upgraded = new Set<Duplex>();
    server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
      const socket = stream as Socket;
      unused.remove(socket);
      upgraded.add(socket);
      socket.once('close', () => upgraded.delete(socket)).on('error', () => undefined);
      const response = refusalOn(socket, request);
      inProgress.set(socket, response);
      answer(new NodeExchange(state, request, response, new Handshake(request, socket, head)));
    });
    const port = await open(server, binding);
    server.on('error', error => this.host.log.error({ error }, 'listener failed'));
    let closed: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      state.closing = true;
      const ended = new Promise<void>(resolve => server.close(() => resolve()));
      server.closeIdleConnections();
      unused.close();
      await waitForExchanges(ended);
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
      await ended;
    };
    return {
      port,
      close: () => (closed ??= close()),
      ...(tls ? { renew: () => renew(server as SecureServer, tls, verifiers) } : {}),
    };
  }
}

/** `listener/node`. */
export const nodePlugin = definePlugin({
  name: 'listener/node',
  parse: () => ({}),
  contribute: () => [listener.of(host => new NodeListener(host))],
});

export default nodePlugin;
