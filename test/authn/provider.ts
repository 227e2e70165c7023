import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { exportJWK, type JWTPayload, SignJWT } from 'jose';
import { authority, type TestAuthority } from './certificates.js';

/** A key that tokens are signed with. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const CURVES: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384' };

/** Makes a key for an algorithm. */
export function signingKey(kid: string, alg = 'RS256', bits = 2048): SigningKey {
  const namedCurve = CURVES[alg];
  const pair =
    namedCurve === undefined
      ? generateKeyPairSync('rsa', { modulusLength: bits })
      : generateKeyPairSync('ec', { namedCurve });
  return { kid, alg, ...pair };
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An identity provider over TLS, with documents that a test sets. Each path below its URL is an issuer. */
export class TestProvider {
  /** Paths that were requested. */
  readonly hits: string[] = [];
  keys: SigningKey[] = [];
  /** Answers instead of documents, by path. */
  readonly handlers = new Map<string, Handler>();

  private constructor(
    readonly server: Server,
    readonly ca: TestAuthority,
  ) {}

  static async start(keys: SigningKey[] = [signingKey('first')], given?: TestAuthority): Promise<TestProvider> {
    const ca = given ?? (await authority('provider-ca'));
    const { certificate, key } = await ca.issue('localhost', ['localhost']);
    const server = createServer({ cert: certificate, key });
    const provider = new TestProvider(server, ca);
    provider.keys = keys;
    server.on('request', (request, response) => void provider.#answer(request, response));
    await provider.listen();
    return provider;
  }

  async listen(port = 0): Promise<void> {
    await new Promise<void>(resolve => this.server.listen(port, '127.0.0.1', resolve));
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://localhost:${this.port}`;
  }

  /** A token of the issuer at a path, valid for ten minutes unless the claims say otherwise. */
  async token(claims: JWTPayload = {}, { key = this.keys[0]!, path = '', header = {} } = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const payload = { iss: this.url + path, aud: 'client', sub: 'alice', exp: now + 600, iat: now, ...claims };
    const header_ = { alg: key.alg, kid: key.kid, ...header };
    return await new SignJWT(payload).setProtectedHeader(header_).sign(key.privateKey);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise(resolve => this.server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    this.hits.push(path);
    const handler = this.handlers.get(path);
    if (handler) return handler(request, response);
    const [, issuer] = /^(.*)\/\.well-known\/openid-configuration$/.exec(path) ?? [];
    if (issuer !== undefined)
      return void response.end(JSON.stringify({ issuer: this.url + issuer, jwks_uri: `${this.url}/jwks` }));
    if (path !== '/jwks') return void response.writeHead(404).end();
    const keys = await Promise.all(
      this.keys.map(async ({ kid, alg, publicKey }) => ({ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' })),
    );
    response.end(JSON.stringify({ keys }));
  }
}
