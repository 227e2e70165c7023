import * as http from 'node:http';
import * as https from 'node:https';
import { WEBHOOK_SOCKETS } from '../../limits.js';
import type { Endpoint } from './client.js';

/** Whether an endpoint is spoken to without TLS. */
export const isHttp = ({ url }: Pick<Endpoint, 'url'>): boolean => url.startsWith('http:');

/** Connections to other servers, which are kept and used again for endpoints with the same certificates. */
export class ConnectionAgents {
  readonly #agents = new Map<string, http.Agent>();

  /** `maxSockets`: connections to one host at once; further requests wait for one. */
  constructor(readonly maxSockets = Number.POSITIVE_INFINITY) {}

  /** The agent for the requests to an endpoint. */
  of(endpoint: Endpoint): http.Agent {
    const { ca, serverName, credentials, skipsVerification } = endpoint;
    const key = JSON.stringify([isHttp(endpoint), ca, serverName, credentials?.certificate, skipsVerification]);
    let agent = this.#agents.get(key);
    if (!agent) {
      if (this.#agents.size >= WEBHOOK_SOCKETS) this.close();
      const common = { keepAlive: true, maxFreeSockets: WEBHOOK_SOCKETS, maxSockets: this.maxSockets };
      agent = isHttp(endpoint) ? new http.Agent(common) : new https.Agent({ ...common, ...tlsOptionsOf(endpoint) });
      this.#agents.set(key, agent);
    }
    return agent;
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
  // Each certificate of a bundle is trusted, as upstream has it: it may be that of the server itself.
  ...(ca ? { ca, allowPartialTrustChain: true } : {}),
  ...(serverName ? { servername: serverName } : {}),
  ...(credentials?.certificate ? { cert: credentials.certificate, key: credentials.key } : {}),
});
