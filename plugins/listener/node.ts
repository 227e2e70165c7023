import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Host } from '../../core/api/host.js';
import { type Binding, type Exchange, type Listener, type Listening, listener } from '../../core/api/listener.js';
import { definePlugin } from '../../core/api/point.js';
import { HEADER_BYTES } from '../../core/limits.js';
import { drained, guarded, statusLine } from './common.js';
import { NodeExchange } from './node-exchange.js';

/** How long an idle connection stays open; longer than the idle time of common proxies, so that they close first. */
const KEEP_ALIVE_MS = 65_000;

const BOUNDS: ServerOptions = { maxHeaderSize: HEADER_BYTES, keepAliveTimeout: KEEP_ALIVE_MS, noDelay: true };

function make(binding: Binding): Server {
  const { tls } = binding;
  if (!tls) return createServer(BOUNDS);
  return createSecureServer({
    ...BOUNDS,
    cert: readFileSync(tls.certFile),
    key: readFileSync(tls.keyFile),
    ...(tls.clientCaFile ? { ca: readFileSync(tls.clientCaFile), requestCert: true, rejectUnauthorized: false } : {}),
  });
}

/** Longest wait for a client to hang up after its request could not be read. */
const LINGER_MS = 5_000;

/**
 * Answers what is not a request. The socket stays readable for a moment, because closing it over unread bytes would
 * destroy the answer too.
 */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  socket.end(`HTTP/1.1 ${statusLine(status)}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  socket.removeAllListeners('data');
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('end', () => socket.destroy());
  socket.once('close', () => clearTimeout(timer));
}

function opened(server: Server, binding: Binding): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', error =>
      reject(new Error(`cannot listen on ${binding.host}:${binding.port}: ${error.message}`)),
    );
    server.listen(binding.port, binding.host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** The listener on `node:http` and `node:https`, for platforms without a uWS binary. */
export class NodeListener implements Listener {
  readonly name = 'node';

  constructor(private readonly host: Host) {}

  async listen(binding: Binding, handle: (exchange: Exchange) => void): Promise<Listening> {
    const server = make(binding);
    const state = { secure: binding.tls !== undefined, closing: false };
    server.maxHeadersCount = 0;
    server.on('clientError', refuse);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const exchange = new NodeExchange(state, request, response);
      response.once('close', () => state.closing && server.closeIdleConnections());
      guarded(exchange, handle, error => this.host.log.error({ error }, 'request handler failed'));
    });
    const port = await opened(server, binding);
    server.on('error', error => this.host.log.error({ error }, 'listener failed'));
    let closed: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      state.closing = true;
      const ended = new Promise<void>(resolve => server.close(() => resolve()));
      server.closeIdleConnections();
      await drained(ended);
      server.closeAllConnections();
      await ended;
    };
    return { port, close: () => (closed ??= close()) };
  }
}

/** `listener/node`. */
export const nodePlugin = definePlugin({
  name: 'listener/node',
  parse: () => ({}),
  contribute: () => [listener.of(host => new NodeListener(host))],
});

export default nodePlugin;
