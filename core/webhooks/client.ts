import { Agent, request } from 'node:https';
import { WEBHOOK_RESPONSE_BYTES, WEBHOOK_SOCKETS } from '../limits.js';

/** How a webhook is reached. */
export interface Endpoint {
  readonly url: string;
  /** CA certificates in PEM; absent: those of the system. */
  readonly ca?: string;
  /** The name that its certificate must have, where it is not the host of the URL. */
  readonly serverName?: string;
  /** The client's certificate and key in PEM, or its bearer token. */
  readonly credentials?: Credentials;
}

/** How the server identifies itself to a webhook. */
export interface Credentials {
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
}

/** An answer of a webhook. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** As it says; JSON if it says nothing. */
  readonly contentType: string;
  /** Whether it says that it is plain text, or nothing. */
  readonly isPlainText: boolean;
}

/** Thrown by `post` where there is no answer, with upstream's text where there is one. */
export class CallFailed extends Error {}

/** Texts of Go for errors of connections. */
function describeError(error: NodeJS.ErrnoException & { address?: string; port?: number }): string {
  const to = error.address ? `dial tcp ${error.address}:${error.port}: ` : '';
  switch (error.code) {
    case 'ECONNREFUSED':
      return `${to}connect: connection refused`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${String((error as { hostname?: string }).hostname)}: no such host`;
    case 'ECONNRESET':
      return 'EOF';
    default:
      return /CERT|ALTNAME|SELF_SIGNED|ISSUER/.test(error.code ?? '')
        ? `tls: failed to verify certificate: x509: ${error.message}`
        : error.message;
  }
}

/** Calls webhooks over HTTPS. Connections are kept and used again. Redirects are not followed. */
export class WebhookClient {
  readonly #agents = new Map<string, Agent>();

  /**
   * Posts JSON and resolves with the answer. Throws CallFailed where there is none within `timeoutMs`, and where it is
   * larger than WEBHOOK_RESPONSE_BYTES.
   */
  post(endpoint: Endpoint, body: string, timeoutMs: number): Promise<HttpAnswer> {
    const { promise, resolve, reject } = withResolvers<HttpAnswer>();
    const shown = `Post ${JSON.stringify(endpoint.url)}: `;
    const fail = (why: string): void => reject(new CallFailed(shown + why));
    const timer = setTimeout(() => {
      fail('context deadline exceeded');
      sent.destroy();
    }, timeoutMs);
    const sent = request(
      endpoint.url,
      {
        method: 'POST',
        agent: this.#agentOf(endpoint),
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, */*',
          'content-length': Buffer.byteLength(body),
          ...authorizationOf(endpoint.credentials),
        },
      },
      answer => {
        const chunks: Buffer[] = [];
        let size = 0;
        answer.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size <= WEBHOOK_RESPONSE_BYTES) return void chunks.push(chunk);
          fail(`the response is larger than ${WEBHOOK_RESPONSE_BYTES} bytes`);
          sent.destroy();
        });
        const { 'content-type': type } = answer.headers;
        const isPlainText = type === undefined || type.startsWith('text/');
        const contentType = type ?? 'application/json';
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: answer.statusCode!, text, contentType, isPlainText });
        });
        answer.on('error', error => fail(describeError(error)));
      },
    );
    sent.on('error', error => fail(describeError(error)));
    sent.end(body);
    return promise.finally(() => clearTimeout(timer));
  }

  /** Closes all connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  /** The connections to webhooks with the same certificates. */
  #agentOf({ ca, serverName, credentials }: Endpoint): Agent {
    const key = JSON.stringify([ca, serverName, credentials?.certificate]);
    let agent = this.#agents.get(key);
    if (!agent) {
      if (this.#agents.size >= WEBHOOK_SOCKETS) this.close();
      agent = new Agent({
        keepAlive: true,
        maxFreeSockets: WEBHOOK_SOCKETS,
        ...(ca ? { ca } : {}),
        ...(serverName ? { servername: serverName } : {}),
        ...(credentials?.certificate ? { cert: credentials.certificate, key: credentials.key } : {}),
      });
      this.#agents.set(key, agent);
    }
    return agent;
  }
}

function authorizationOf({ token, username, password }: Credentials = {}): { authorization?: string } {
  if (token) return { authorization: `Bearer ${token}` };
  if (!username) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` };
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
