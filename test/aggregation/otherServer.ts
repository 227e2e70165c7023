import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { WebSocketServer } from 'ws';
import { authority, type TestAuthority } from '../authn/certificates.js';

/** A request as the server has received it. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Values of headers that were sent several times, by name. */
  readonly all: Readonly<Record<string, readonly string[]>>;
  /** Common name of the client's certificate. */
  readonly peer: string | undefined;
  readonly body: string;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server of an APIService: it answers with the request, unless a path has its own answer. */
export class OtherServer {
  /** Answers by the last segment of the path. */
  readonly answers = new Map<string, Answer>();
  /** Requests that were received, in order. */
  readonly received: Received[] = [];
  /** The status of its answer to availability checks. */
  checks = 200;
  #requests = 0;

  private constructor(
    readonly server: Server,
    readonly ca: TestAuthority,
  ) {}

  static async start(): Promise<OtherServer> {
    const ca = await authority('aggregated-ca');
    const { certificate: cert, key } = await ca.issue('echo.default.svc', ['echo.default.svc']);
    const server = createServer({ cert, key, requestCert: true, rejectUnauthorized: false });
    const other = new OtherServer(server, ca);
    server.on('request', (request, response) => void other.#answer(request, response));
    const sockets = new WebSocketServer({ noServer: true, handleProtocols: offered => [...offered][0] ?? false });
    server.on('upgrade', (request, socket, head) =>
      sockets.handleUpgrade(request, socket, head, client => {
        client.on('message', (message, binary) =>
          String(message) === 'leave' ? client.close(4001, 'asked to') : client.send(message, { binary }),
        );
      }),
    );
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return other;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Requests that have arrived, whether or not they are answered. */
  get requests(): number {
    return this.#requests;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Availability checks may arrive at any time.
    if (request.headers['x-remote-user'] === 'system:kube-aggregator')
      return void response.writeHead(this.checks).end('{}');
    this.#requests++;
    const path = request.url!.replace(/\?.*/, '');
    const own = this.answers.get(path.slice(path.lastIndexOf('/') + 1));
    if (own) return own(request, response);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const all: Record<string, string[]> = {};
    for (let i = 0; i < request.rawHeaders.length; i += 2)
      (all[request.rawHeaders[i]!.toLowerCase()] ??= []).push(request.rawHeaders[i + 1]!);
    const received: Received = {
      method: request.method!,
      url: request.url!,
      headers: request.headers,
      all,
      peer: (request.socket as TLSSocket).getPeerCertificate()?.subject?.CN as string | undefined,
      body: Buffer.concat(chunks).toString(),
    };
    this.received.push(received);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(received));
  }
}
