import { readFileSync } from 'node:fs';
import type { HttpRequest, HttpResponse, us_listen_socket, us_socket_context_t } from '@uwsjs/core';
import type { Host } from '../../core/api/host.js';
import {
  type Binding,
  type Exchange,
  type Joined,
  type Listener,
  type Listening,
  listener,
} from '../../core/api/listener.js';
import { definePlugin } from '../../core/api/plugin.js';
import { ConfigError } from '../../core/api/point.js';
import { CONNECTIONS, WEBSOCKET_IDLE_SECONDS, WEBSOCKET_MESSAGE_BYTES } from '../../core/limits.js';
import { nextTurn } from '../../core/runtime/timers.js';
import { type Headers, runHandler, waitForExchanges } from './common.js';
import { headRefusal } from './framing.js';
import { UwsExchange, type UwsServer } from './uwsExchange.js';
import type { App, Response } from './uwsTypes.js';
import type { UserData } from './uwsWebsocket.js';
import { loadUws, type Uws } from './uwsBinary.js';
import { type ClientVerifier, clientVerifier } from './verify.js';

/** Without this option, a second process could listen on the same port and would get some of the connections. */
const EXCLUSIVE_PORT = 1;

/** Counts open connections of an app, and exchanges in progress, which `close` waits for. */
class Server implements UwsServer {
  closing = false;
  connections = 0;
  private active = 0;
  private wake: (() => void) | undefined;

  constructor(
    readonly secure: boolean,
    public verified: ClientVerifier | undefined,
  ) {}

  begin(): void {
    this.active++;
  }

  finish(): void {
    this.active--;
    if (this.active === 0) this.wake?.();
  }

  /** Resolves when no exchange is in progress. Answers from now on close their connections. */
  async idle(): Promise<void> {
    this.closing = true;
    while (this.active > 0) {
      await new Promise<void>(resolve => {
        this.wake = resolve;
      });
      await nextTurn();
    }
  }
}

/**
 * Returns why a request must not be served because of the user that it impersonates, as a message for the client;
 * undefined if it may. uWS removes bytes above 0x7f from both ends of a value. A name of such bytes becomes empty, and
 * the request would be served as a request of the sender itself, who may have more permissions.
 */
function impersonationFault(headers: Headers): string | undefined {
  const empty = headers.find(([name, value]) => value === '' && name.startsWith('impersonate-'));
  return empty && `${empty[0]}: must have at least one ASCII character`;
}

/** The protocol version and encoding of every head that uWS parses. */
const HEAD = { httpVersion: '1.1', encoding: 'utf8' } as const;

/** The parts of an app that its handlers use. */
interface Served {
  readonly server: Server;
  /** Open connections of this app, and of others with the same binding. */
  readonly connections: () => number;
  readonly handle: (exchange: Exchange) => void;
  readonly host: Host;
}

/**
 * Everything that the handlers of an app keep a reference to. uWS never releases the handlers of an app, so the served
 * content, which is a whole server, must be taken from them when the app is closed.
 */
interface Link {
  served: Served | undefined;
}

/** Installs the handlers of an app. They must capture nothing but the link. */
function serve(app: App, link: Link): void {
  const answer = (res: HttpResponse, request: HttpRequest, context?: us_socket_context_t): void => {
    if (!link.served) return void res.close();
    const { server, handle, host } = link.served;
    const exchange = new UwsExchange(server, res as Response, request, context);
    const headers = exchange.headers();
    const refusal = headRefusal(exchange.method, headers, HEAD, impersonationFault(headers));
    if (refusal) exchange.refuse(refusal);
    else runHandler(exchange, handle, error => host.log.error({ error }, 'request handler failed'));
    exchange.leave();
  };
  const countConnection = (res: HttpResponse, change: number): void => {
    if (!link.served) return;
    const { server, connections } = link.served;
    server.connections += change > 0 ? 1 : -1;
    if (connections() > CONNECTIONS) res.close();
  };
  app.filter(countConnection);
  app.any('/*', (res, request) => answer(res, request));
  // uWS checks this route first, for every GET with a key of the right length.
  app.ws<UserData>('/*', {
    maxPayloadLength: WEBSOCKET_MESSAGE_BYTES,
    idleTimeout: WEBSOCKET_IDLE_SECONDS,
    sendPingsAutomatically: true,
    // uWS drops no messages. The writer closes the connections of slow clients.
    maxBackpressure: 0,
    upgrade: answer,
    open: socket => socket.getUserData().stream.open(socket),
    message: (socket, message, isBinary) => socket.getUserData().stream.take(message, isBinary),
    drain: socket => socket.getUserData().stream.drain(),
    close: socket => {
      // uWS does not call the filter for connections that have become WebSockets.
      if (link.served) link.served.server.connections--;
      socket.getUserData().stream.lose();
    },
  });
}

function open(app: App, binding: Binding): Promise<us_listen_socket> {
  return new Promise((resolve, reject) => {
    app.listen(binding.host, binding.port, EXCLUSIVE_PORT, socket => {
      if (socket) resolve(socket);
      else
        reject(
          new Error(`cannot listen on ${binding.host}:${binding.port}: the address is in use or not of this machine`),
        );
    });
  });
}

/** Makes an app with the files of a binding. Throws if it cannot use them. */
function make(uws: Uws, tls: Binding['tls']): App {
  const { certFile, keyFile, clientCaFile: ca } = tls ?? {};
  const files = { cert_file_name: certFile, key_file_name: keyFile, ...(ca ? { ca_file_name: ca } : {}) };
  return (tls ? uws.SSLApp(files) : uws.App()) as unknown as App;
}

/** An app with its handlers, and what they use. */
interface OpenedApp {
  readonly app: App;
  readonly link: Link;
  readonly server: Server;
}

/** Closes the connections of an app, and releases the server that its handlers refer to. */
function close({ app, link }: OpenedApp): void {
  app.close();
  link.served = undefined;
}

/**
 * The apps of a binding: the first one, and one for each time that its files were read again. A connection remains with
 * the app that it began with.
 */
class Apps {
  readonly #opened: OpenedApp[] = [];
  /** The CAs of clients, in PEM, of the last app. */
  #bundle: string | undefined;

  constructor(
    readonly uws: Uws,
    readonly binding: Binding,
    readonly handle: (exchange: Exchange) => void,
    readonly host: Host,
  ) {}

  /** Adds an app with the files as they are now. Throws if it cannot use them; then nothing has changed. */
  open(): App {
    this.#release();
    const { uws, handle, host } = this;
    const { tls } = this.binding;
    const bundle = tls?.clientCaFile ? readFileSync(tls.clientCaFile, 'utf8') : undefined;
    const verified = bundle === undefined ? undefined : clientVerifier(bundle, host.now);
    const app = make(uws, tls);
    if (bundle !== undefined && bundle !== this.#bundle)
      for (const { server } of this.#opened) server.verified = clientVerifier(bundle, host.now, false);
    this.#bundle = bundle;
    const server = new Server(tls !== undefined, verified);
    const link: Link = { served: { server, handle, host, connections: () => this.#connections() } };
    serve(app, link);
    this.#opened.push({ app, link, server });
    return app;
  }

  /** Waits for requests in flight for a limited time, then closes all connections. */
  async close(): Promise<void> {
    await waitForExchanges(Promise.all(this.#opened.map(({ server }) => server.idle())));
    this.end();
  }

  /** Closes all connections. */
  end(): void {
    for (const one of this.#opened) close(one);
  }

  /** Closes former apps without connections, but not the first one, which may accept connections for the others. */
  #release(): void {
    for (const one of this.#opened.slice(1, -1)) {
      if (one.server.connections > 0) continue;
      close(one);
      this.#opened.splice(this.#opened.indexOf(one), 1);
    }
  }

  #connections(): number {
    let sum = 0;
    for (const { server } of this.#opened) sum += server.connections;
    return sum;
  }
}

/**
 * The uWebSockets.js listener, for HTTP/1.1 only. Differences from `node`: a request that is pipelined after one in
 * progress closes the connection (clients that pipeline must expect this: RFC 9112, 9.3.2); some invalid framing is not
 * detected (docs/guides/connections.md); the handshake fails for a client certificate that is not valid, instead of its
 * requests being answered with 401, because uWS leaves this to OpenSSL and has no option for it; idle connections are
 * closed after ten seconds.
 */
export class UwsListener implements Listener {
  readonly name = 'uws';

  constructor(private readonly host: Host) {}

  async listen(binding: Binding, handle: (exchange: Exchange) => void): Promise<Listening> {
    const uws = await loadUws();
    const apps = new Apps(uws, binding, handle, this.host);
    const app = apps.open();
    const socket = await open(app, binding).catch(error => {
      apps.end();
      throw error;
    });
    const share = (target: number, former?: number): void => {
      app.addChildAppDescriptor(target);
      if (former !== undefined) app.removeChildAppDescriptor(former);
    };
    let renewed: number | undefined;
    // uWS cannot replace the certificate of an app, but an app can pass connections on before their handshake.
    const renew = (): void => {
      const target = apps.open().getDescriptor();
      share(target, renewed);
      renewed = target;
    };
    let closed: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      uws.us_listen_socket_close(socket);
      await apps.close();
    };
    return {
      port: uws.us_socket_local_port(socket as never),
      close: () => (closed ??= close()),
      share,
      ...(binding.tls ? { renew } : {}),
    };
  }

  async join(binding: Binding, handle: (exchange: Exchange) => void): Promise<Joined> {
    const apps = new Apps(await loadUws(), binding, handle, this.host);
    const open = (): number => apps.open().getDescriptor();
    let closed: Promise<void> | undefined;
    return { target: open(), ...(binding.tls ? { renew: open } : {}), close: () => (closed ??= apps.close()) };
  }
}

/**
 * The listener that serves if no flag names one: `node` if uWebSockets.js cannot be loaded, with a warning in the log.
 */
async function listenerThatLoads(host: Host): Promise<Listener> {
  try {
    await loadUws();
    return new UwsListener(host);
  } catch (error) {
    host.log.warn({ reason: (error as Error).message }, 'the listener node serves, because uws cannot');
    const { NodeListener } = await import('./node.js');
    return new NodeListener(host);
  }
}

/** The listener for `--listener=uws`. Throws ConfigError if it cannot be loaded. */
async function requiredListener(host: Host): Promise<Listener> {
  await loadUws().catch(({ message }: Error) => {
    throw new ConfigError('--listener', `${message}. Without this flag, or with --listener=node, the server works`);
  });
  return new UwsListener(host);
}

/** `listener/uws`: the default. With `required`, no other listener serves if its binary cannot be loaded. */
export const uwsPlugin = definePlugin<{ readonly required: boolean }>({
  name: 'listener/uws',
  parse: config => ({ required: (config as { required?: boolean } | undefined)?.required === true }),
  contribute: ({ required }) => [listener.of(required ? requiredListener : listenerThatLoads)],
});

export default uwsPlugin;
