import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TestAuthority } from './certificates.js';

/** A request that a webhook has received. */
export interface Call {
  readonly url: string;
  readonly text: string;
  readonly client: string | undefined;
  readonly authorization: string | undefined;
}
/** The object or text of an answer, the code of an error, or no answer at all. */
export type Answer = object | string | number | 'hang';

/** A webhook over TLS, whose answer a test sets. */
export class TestWebhook {
  readonly calls: Call[] = [];
  answer: (review: {
    apiVersion: string;
    spec: { token: string; [member: string]: unknown };
  }) => Answer | Promise<Answer> = () => ({});

  private constructor(readonly server: Server) {}

  /** `port`: the port of a webhook that was closed. */
  static async start(ca: TestAuthority, port = 0): Promise<TestWebhook> {
    const { certificate: cert, key } = await ca.issue('localhost', ['localhost']);
    const server = createServer({ cert, key, ca: ca.certificate, requestCert: true, rejectUnauthorized: false });
    const webhook = new TestWebhook(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', async () => {
        const text = Buffer.concat(chunks).toString();
        const { subject } = (request.socket as TLSSocket).getPeerCertificate() ?? {};
        const { authorization } = request.headers;
        webhook.calls.push({ url: request.url!, text, client: subject?.CN as string, authorization });
        const answer = await webhook.answer(JSON.parse(text));
        if (answer === 'hang') return;
        if (typeof answer === 'number') return void response.writeHead(answer).end('x');
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
      });
    });
    await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
    return webhook;
  }

  get url(): string {
    return `https://localhost:${(this.server.address() as AddressInfo).port}/authn`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
