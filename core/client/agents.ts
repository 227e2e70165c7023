import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import type { ClientCredentials, ServerAddress } from './types.js';

/** How long a proxy may take to connect to the server, in milliseconds. */
const PROXY_MS = 30_000;

type Connected = (error: Error | null, socket?: Duplex) => void;
type Target = { readonly host?: string; readonly port?: number | string; readonly servername?: string };

/** Connections over TLS through a proxy (RFC 9110, 9.3.6). */
class ProxyAgent extends https.Agent {
  readonly #proxy: URL;
  /** Requests that the proxy has not answered yet. */
  readonly #pending = new Set<http.ClientRequest>();

  constructor(options: https.AgentOptions, proxy: URL) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: unknown, connected?: unknown): undefined {
    const done = connected as Connected;
    const target = options as Target;
    const { protocol, hostname, port, username, password, origin } = this.#proxy;
    const fail = (why: string): void => done(new Error(`the proxy ${origin} does not connect: ${why}`));
    const host = target.host?.includes(':') ? `[${target.host}]` : target.host;
    const path = `${host}:${target.port}`;
    const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
    const sent = (protocol === 'https:' ? https : http).request({
      host: hostname.replace(/^\[|\]$/g, ''),
      ...(port && { port }),
      method: 'CONNECT',
      path,
      headers: { host: path, ...(username && { 'proxy-authorization': `Basic ${login}` }) },
      agent: false,
      timeout: PROXY_MS,
    });
    this.#pending.add(sent);
    sent.on('close', () => this.#pending.delete(sent));
    sent.on('connect', ({ statusCode = 0 }, socket: Duplex) => {
      if (statusCode === 200) return done(null, connect({ ...(options as object), socket }));
      socket.destroy();
      fail(`it has answered ${statusCode}`);
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.on('error', error => fail(error.message));
    sent.end();
    return undefined;
  }

  /** Closes all connections, and ends the requests to the proxy, which then fail. */
  override destroy(): void {
    for (const sent of this.#pending) sent.destroy(new Error('the connections were closed'));
    super.destroy();
  }
}

function makeAgent(server: ServerAddress, { certificate, key }: ClientCredentials): http.Agent {
  const { url, ca, serverName, skipsVerification, proxy } = server;
  if (url.startsWith('http:')) return new http.Agent({ keepAlive: true });
  const options = {
    keepAlive: true,
    // As in upstream's clients, each certificate is trusted by itself.
    ...(ca && { ca, allowPartialTrustChain: true }),
    ...(serverName && { servername: serverName }),
    ...(certificate && { cert: certificate, key }),
    rejectUnauthorized: !skipsVerification,
  };
  return proxy ? new ProxyAgent(options, proxy) : new https.Agent(options);
}

/** The connections to a server. After a change of the certificate or key, new ones are made, with a new handshake. */
export class Agents {
  #agent: http.Agent | undefined;
  #certificate: string | undefined;
  #key: string | undefined;

  constructor(readonly server: ServerAddress) {}

  /**
   * The connections for some credentials. Connections with another certificate are closed once their requests have
   * ended.
   */
  agentFor(credentials: ClientCredentials): http.Agent {
    const { certificate, key } = credentials;
    if (this.#agent && this.#certificate === certificate && this.#key === key) return this.#agent;
    this.#retire();
    [this.#certificate, this.#key] = [certificate, key];
    this.#agent = makeAgent(this.server, credentials);
    return this.#agent;
  }

  /** Closes all connections at once. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #retire(): void {
    if (!this.#agent) return;
    this.#agent.maxFreeSockets = 0;
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}
