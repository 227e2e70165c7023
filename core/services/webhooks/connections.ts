import * as http from 'node:http';
import * as https from 'node:https';
import { WEBHOOK_SOCKETS } from '../../limits.js';

/** The address of another server, and how to verify and authenticate the connection. */
export interface Endpoint {
  readonly url: string;
  /** CA certificates in PEM; absent: those of the system. */
  readonly ca?: string;
  /** The name that its certificate must have, if it is not the host of the URL. */
  readonly serverName?: string;
  /** The client's certificate and key in PEM, or its bearer token. */
  readonly credentials?: Credentials;
  /** Whether its certificate is not verified. */
  readonly skipsVerification?: boolean;
}

/** The credentials with which this server identifies itself to another one. */
export interface Credentials {
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
}

/** Whether an endpoint is used without TLS. */
export const isHttp = ({ url }: Pick<Endpoint, 'url'>): boolean => url.startsWith('http:');

/** Whether no request uses a connection of an agent, or waits for one. */
const isIdle = ({ sockets, requests }: http.Agent): boolean =>
  Object.keys(sockets).length === 0 && Object.keys(requests).length === 0;

/** Connections to other servers, which are kept and reused for endpoints with the same certificates. */
export class ConnectionAgents {
  /** The oldest one first. */
  readonly #agents = new Map<string, http.Agent>();

  /** `maxSockets`: the maximum number of connections to one host; further requests wait for one. */
  constructor(readonly maxSockets = Number.POSITIVE_INFINITY) {}

  /** The agent for the requests to an endpoint. */
  of(endpoint: Endpoint): http.Agent {
    const { ca, serverName, credentials, skipsVerification } = endpoint;
    const key = JSON.stringify([isHttp(endpoint), ca, serverName, credentials?.certificate, skipsVerification]);
    let agent = this.#agents.get(key);
    if (!agent) {
      this.#closeIdle(WEBHOOK_SOCKETS - 1);
      const common = { keepAlive: true, maxFreeSockets: WEBHOOK_SOCKETS, maxSockets: this.maxSockets };
      agent = isHttp(endpoint) ? new http.Agent(common) : new https.Agent({ ...common, ...tlsOptionsOf(endpoint) });
      this.#agents.set(key, agent);
    }
    return agent;
  }

  /** Closes agents until there are at most `most`. Those with requests in flight stay. */
  #closeIdle(most: number): void {
    for (const [key, agent] of this.#agents) {
      if (this.#agents.size <= most) return;
      if (!isIdle(agent)) continue;
      agent.destroy();
      this.#agents.delete(key);
    }
  }

  /** Closes all connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }
}

/** The certificates of a connection to an endpoint, and how its server is verified. */
export const tlsOptionsOf = ({ ca, serverName, credentials, skipsVerification }: Endpoint): https.AgentOptions => ({
  ...(skipsVerification ? { rejectUnauthorized: false } : {}),
  // As in upstream, each certificate of a bundle is trusted by itself: it may be that of the server.
  ...(ca ? { ca, allowPartialTrustChain: true } : {}),
  ...(serverName ? { servername: serverName } : {}),
  ...(credentials?.certificate ? { cert: credentials.certificate, key: credentials.key } : {}),
});
