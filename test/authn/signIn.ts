import { createHash, type KeyObject, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { exportJWK } from 'jose';
import Provider from 'oidc-provider';
import { Agent, request } from 'undici';
import type { TestAuthority } from './certificates.js';
import type { SigningKey } from './provider.js';

const CALLBACK = 'https://app.example/callback';

const privateJwk = async ({ privateKey, kid, alg }: SigningKey): Promise<object> => ({
  ...(await exportJWK(privateKey as KeyObject)),
  kid,
  alg,
  use: 'sig',
});

/** An identity provider at which people sign in: `oidc-provider`, over TLS, with one client for each algorithm. */
export class SignInProvider {
  #handle: ReturnType<Provider['callback']> = () => undefined;

  private constructor(
    readonly server: Server,
    readonly agent: Agent,
  ) {}

  static async start(ca: TestAuthority, keys: readonly SigningKey[]): Promise<SignInProvider> {
    const { certificate: cert, key } = await ca.issue('localhost', ['localhost']);
    const agent = new Agent({ connect: { ca: ca.certificate } });
    const made = new SignInProvider(
      createServer({ cert, key }, (...exchange) => made.#handle(...exchange)),
      agent,
    );
    await new Promise<void>(resolve => made.server.listen(0, '127.0.0.1', resolve));
    await made.use(keys);
    return made;
  }

  get url(): string {
    return `https://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  /**
   * Signs with these keys from now on, the first of each algorithm. With `redirect`, there is also the client `public`,
   * which has no secret.
   */
  async use(keys: readonly SigningKey[], redirect?: string): Promise<void> {
    const open = { client_id: 'public', token_endpoint_auth_method: 'none', redirect_uris: [redirect] };
    const provider = new Provider(this.url, {
      clients: [
        ...[...new Set(keys.map(({ alg }) => alg))].map(alg => ({
          client_id: `client-${alg}`,
          client_secret: 'secret',
          redirect_uris: [CALLBACK],
          id_token_signed_response_alg: alg,
        })),
        ...(redirect === undefined ? [] : [open]),
      ],
      jwks: { keys: await Promise.all(keys.map(privateJwk)) },
      cookies: { keys: [randomBytes(16).toString('hex')] },
      conformIdTokenClaims: false,
      claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
      scopes: ['openid', 'email', 'groups'],
      findAccount: (_: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, groups: ['dev', 'qa'] }),
      }),
    });
    this.#handle = provider.callback();
  }

  /** Signs in as a user, by the code flow with PKCE (OpenID Connect Core 1.0, 3.1). Returns the tokens. */
  async signIn(user: string, alg = 'RS256'): Promise<{ id_token: string; access_token: string }> {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      client_id: `client-${alg}`,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid email groups',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const code = (await this.visit(`${this.url}/auth?${query}`, user)).searchParams.get('code') ?? '';
    const answer = await request(`${this.url}/token`, {
      method: 'POST',
      dispatcher: this.agent,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${Buffer.from(`client-${alg}:secret`).toString('base64')}`,
      },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: CALLBACK,
        code_verifier: verifier,
      }).toString(),
    });
    return (await answer.body.json()) as { id_token: string; access_token: string };
  }

  async close(): Promise<void> {
    await this.agent.close();
    this.server.closeAllConnections();
    await new Promise(resolve => this.server.close(resolve));
  }

  /**
   * Follows the pages of a sign-in as a browser, filling in the forms. Returns the URL to which the provider redirects
   * the browser at the end.
   */
  async visit(first: string, user: string): Promise<URL> {
    const cookies = new Map<string, string>();
    let url = first;
    let form: Record<string, string> | undefined;
    for (let step = 0; step < 20; step++) {
      const answer = await request(url, {
        method: form ? 'POST' : 'GET',
        dispatcher: this.agent,
        headers: {
          cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; '),
          ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
        },
        body: form ? new URLSearchParams(form).toString() : null,
      });
      const set = answer.headers['set-cookie'] ?? [];
      for (const cookie of Array.isArray(set) ? set : [set]) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        cookies.set(name, value);
      }
      const page = await answer.body.text();
      const { location } = answer.headers;
      form = undefined;
      if (typeof location === 'string') {
        const next = new URL(location, url);
        if (next.origin !== this.url) return next;
        url = next.href;
        continue;
      }
      const [, prompt] = /name="prompt" value="(\w+)"/.exec(page) ?? [];
      const [, action] = /action="([^"]+)"/.exec(page) ?? [];
      if (!prompt || !action) throw new Error(`the provider answered ${answer.statusCode}: ${page.slice(0, 500)}`);
      url = new URL(action, url).href;
      form = { prompt, login: user, password: 'x' };
    }
    throw new Error('the sign-in does not end');
  }
}
