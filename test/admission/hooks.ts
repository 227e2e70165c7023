import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { issue, type IssuedCertificate } from '../../core/services/pki/certificate.js';
import type { Api, Loose } from '../api/support.js';

/** The answer of a hook: members of the response, a whole HTTP answer, or nothing, which closes the connection. */
export type HookAnswer = object & {
  readonly hangsUp?: boolean;
  readonly raw?: string | Buffer;
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A call that a hook received. */
export interface Call {
  readonly path: string;
  readonly query: string;
  readonly request: Loose;
  /** Common name of the client's certificate. */
  readonly client: string | undefined;
  readonly authorization: string | undefined;
  /** The headers `traceparent` and `tracestate`. */
  readonly trace: readonly (string | undefined)[];
  readonly userAgent: string | undefined;
}

const DAY = 24 * 3600 * 1000;
const GROUP = '/apis/admissionregistration.k8s.io/v1';

/** An HTTPS server with webhooks, each at its own path. */
export class Hooks {
  readonly calls: Call[] = [];
  /** Connections that were opened. */
  connections = 0;
  readonly #answers = new Map<string, (request: Loose) => HookAnswer | Promise<HookAnswer>>();

  private constructor(
    readonly server: Server,
    readonly ca: IssuedCertificate,
    readonly own: IssuedCertificate,
  ) {
    server.on('secureConnection', () => this.connections++);
    server.on('request', (incoming, outgoing) => {
      let text = '';
      incoming.on('data', chunk => (text += chunk));
      incoming.on('end', async () => {
        const review = JSON.parse(text) as Loose & { request: Loose };
        const { pathname, search } = new URL(incoming.url ?? '', 'https://hook');
        const client = (incoming.socket as TLSSocket).getPeerCertificate()?.subject?.CN as string | undefined;
        const {
          authorization,
          traceparent,
          tracestate,
          'user-agent': userAgent,
        } = incoming.headers as Readonly<Record<string, string | undefined>>;
        const trace = [traceparent, tracestate];
        const { request } = review;
        this.calls.push({ path: pathname, query: search, request, client, authorization, trace, userAgent });
        const answer = (await this.#answers.get(pathname)?.(review.request)) ?? {};
        const { hangsUp, raw, code = 200, headers, ...response } = answer as HookAnswer;
        if (hangsUp) return void incoming.socket.destroy();
        outgoing.writeHead(code, { 'content-type': 'application/json', ...headers });
        const uid = review.request['uid'];
        const { apiVersion, kind } = review;
        outgoing.end(raw ?? JSON.stringify({ apiVersion, kind, response: { uid, allowed: true, ...response } }));
      });
    });
  }

  static async start(): Promise<Hooks> {
    const span = { notBefore: Date.now() - DAY, notAfter: Date.now() + DAY };
    const ca = await issue({ subject: { commonName: 'hook-ca' }, ...span, use: 'ca' });
    const sans = ['127.0.0.1', 'hook.default.svc'];
    const own = await issue({ subject: { commonName: 'hook' }, ...span, use: 'server', sans }, ca);
    const server = createServer({
      key: own.key,
      cert: own.certificate,
      ca: ca.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return new Hooks(server, ca, own);
  }

  /** A certificate of a client, signed by the CA of the hooks. */
  client(commonName: string): Promise<IssuedCertificate> {
    const span = { notBefore: Date.now() - DAY, notAfter: Date.now() + DAY };
    return issue({ subject: { commonName }, ...span, use: 'client' }, this.ca);
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get caBundle(): string {
    return Buffer.from(this.ca.certificate).toString('base64');
  }

  /** A CA bundle with the certificate of the hooks itself, without its CA. */
  get ownBundle(): string {
    return Buffer.from(this.own.certificate).toString('base64');
  }

  /** Sets the answer of the hook at a path. */
  on(path: string, answer: (request: Loose) => HookAnswer | Promise<HookAnswer>): void {
    this.#answers.set(path, answer);
  }

  /** The calls at a path since the previous call of this method. */
  take(path: string): readonly Call[] {
    const taken = this.calls.filter(call => call.path === path);
    this.calls.splice(0, this.calls.length, ...this.calls.filter(call => call.path !== path));
    return taken;
  }

  /** A webhook for config maps at a path. */
  webhook(path: string, more: object = {}): object {
    return {
      name: `${path.slice(1)}.example.com`,
      clientConfig: { url: this.url + path, caBundle: this.caBundle },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
      objectSelector: { matchLabels: { hook: path.slice(1) } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 5,
      ...more,
    };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise(resolve => this.server.close(resolve));
  }
}

/** Installs webhooks as one configuration. */
export const install = (
  api: Api,
  kind: 'Mutating' | 'Validating',
  name: string,
  ...webhooks: object[]
): Promise<Loose> => api.made(`${GROUP}/${kind.toLowerCase()}webhookconfigurations`, { metadata: { name }, webhooks });

/** The members of a review's response that have these operations of a JSON patch. */
export const patchOf = (...operations: object[]): object => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
/** An operation of a JSON patch. */
export const add = (path: string, value: unknown): object => ({ op: 'add', path, value });
