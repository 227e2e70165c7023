import { request as httpsRequest } from 'node:https';
import type { AuthorizationServer, Client } from 'oauth4webapi';
import { type SiteAnswer, type SiteRequest, Refusal } from '../../core/api/index.js';
import { CONSOLE_SESSIONS, PROVIDER_DOCUMENT_BYTES, PROVIDER_MS } from '../../core/limits.js';
import { randomBytes } from '../../core/runtime/random.js';
import { timeoutSignal } from '../../core/runtime/timers.js';
import { hostRoots } from '../../core/services/webhooks/hostRoots.js';
import { FairMap } from './fairMap.js';
import { PAGE_HEADERS } from './headers.js';
import { cookiesOf, digest } from './sessions.js';

/** An identity provider whose id tokens the server accepts. */
export interface SignInIssuer {
  readonly url: string;
  /** The address of its discovery document, where that is not below `url`. */
  readonly discoveryUrl?: string;
  /** CA certificates in PEM for its addresses; absent: those of the host. */
  readonly certificateAuthority?: string;
  /** The first one is the client as which people sign in. */
  readonly audiences: readonly string[];
}

/** A sign-in that has begun. */
interface Pending {
  readonly server: AuthorizationServer;
  readonly verifier: string;
  readonly nonce: string;
  readonly redirect: string;
  /** Digest of the cookie of the browser that has begun it. */
  readonly browser: string;
  readonly until: number;
}

/** The beginning of the name of the cookie; the port follows. It must differ from that of the cookies of sessions. */
const COOKIE = '__Host-sign-in-';
/** How long a person may take at the provider. */
const SIGN_IN_MS = 10 * 60_000;
/** How long the discovery document of the provider is used: anybody may begin sign-ins, as often as they like. */
const DISCOVERY_MS = 5 * 60_000;
const SCOPE = 'openid email profile';

const library = () => import('oauth4webapi');

/** `fetch` with the CAs of the provider, for answers that are not too large, within a time limit. */
const fetchWith =
  (authority: string | undefined) =>
  (
    url: string,
    options: { readonly method: string; readonly headers: Record<string, string>; readonly body?: unknown },
  ) =>
    new Promise<Response>((resolve, reject) => {
      const { method, headers, body } = options;
      const ca = authority ?? [...hostRoots()];
      const sent = httpsRequest(
        url,
        { method, headers, ca, allowPartialTrustChain: true, agent: false, signal: timeoutSignal(PROVIDER_MS) },
        answer => {
          const parts: Buffer[] = [];
          let size = 0;
          answer.on('data', (part: Buffer) => {
            size += part.length;
            if (size > PROVIDER_DOCUMENT_BYTES) sent.destroy(new Error('the answer of the provider is too large'));
            else parts.push(part);
          });
          answer.on('error', reject);
          answer.on('end', () => {
            const type = answer.headers['content-type'] ?? '';
            resolve(
              new Response(Buffer.concat(parts), {
                status: answer.statusCode ?? 500,
                headers: { 'content-type': type },
              }),
            );
          });
        },
      );
      sent.on('error', reject);
      sent.end(body === undefined || body === null ? undefined : String(body));
    });

const redirectTo = (location: string, cookie: string): SiteAnswer => ({
  status: 303,
  headers: [...PAGE_HEADERS, ['cache-control', 'no-store'], ['location', location], ['set-cookie', cookie]],
  body: new Uint8Array(),
});

/**
 * Sign-in at the OpenID Connect provider by the code flow with PKCE (RFC 9700, 2.1.1), as a client without a secret.
 * The browser that has begun a sign-in must end it, and each state works once.
 */
export class OpenId {
  /** By state; the owner is the address that has begun it. */
  readonly #pending = new FairMap<Pending>(CONSOLE_SESSIONS.most);
  #discovered: { readonly server: Promise<AuthorizationServer>; readonly until: number } | undefined;

  constructor(
    readonly issuer: SignInIssuer,
    readonly now: () => number,
  ) {}

  get #client(): Client {
    return { client_id: this.issuer.audiences[0]! };
  }

  /** Sends the browser to the provider. Rejects if that cannot be reached. */
  async begin(request: SiteRequest): Promise<SiteAnswer> {
    const oauth = await library();
    const server = await this.#discover();
    if (!server.authorization_endpoint) throw new Error('the provider has no authorization endpoint');
    const [verifier, state, nonce] = [
      oauth.generateRandomCodeVerifier(),
      oauth.generateRandomState(),
      oauth.generateRandomNonce(),
    ];
    const browser = randomBytes(32).toString('base64url');
    const redirect = `https://${request.header('host') ?? ''}/console/openid/callback`;
    const pending = { server, verifier, nonce, redirect, browser: digest(browser), until: this.now() + SIGN_IN_MS };
    this.#pending.add(state, request.remoteAddress, pending, ({ until }) => this.now() >= until);
    const to = new URL(server.authorization_endpoint);
    const query = {
      client_id: this.#client.client_id,
      response_type: 'code',
      redirect_uri: redirect,
      scope: SCOPE,
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(query)) to.searchParams.set(name, value);
    // Lax: the browser comes back from a page of the provider.
    return redirectTo(
      to.href,
      `${COOKIE}${request.port}=${browser}; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax`,
    );
  }

  /** Ends a sign-in. Resolves with the id token. Throws Refusal 401 unless this browser has begun it. */
  async end(request: SiteRequest): Promise<string> {
    const oauth = await library();
    const url = new URL(`https://localhost${request.path}?${request.query}`);
    const state = url.searchParams.get('state') ?? '';
    const pending = this.#pending.get(state);
    this.#pending.delete(state);
    const browsers = cookiesOf(request.header('cookie'), `${COOKIE}${request.port}=`).map(([, value]) => digest(value));
    if (!pending || this.now() >= pending.until || !browsers.includes(pending.browser))
      throw new Refusal('Unauthorized', 'this browser has not begun this sign-in');
    const { server, verifier, redirect, nonce } = pending;
    const parameters = oauth.validateAuthResponse(server, this.#client, url, state);
    const options = { [oauth.customFetch]: fetchWith(this.issuer.certificateAuthority) };
    const answer = await oauth.authorizationCodeGrantRequest(
      server,
      this.#client,
      oauth.None(),
      parameters,
      redirect,
      verifier,
      options as never,
    );
    const expected = { expectedNonce: nonce, requireIdToken: true };
    const { id_token: token } = await oauth.processAuthorizationCodeResponse(server, this.#client, answer, expected);
    return token!;
  }

  /** The provider, by its discovery document. Requests meanwhile wait for the same answer. */
  #discover(): Promise<AuthorizationServer> {
    if (this.#discovered && this.now() < this.#discovered.until) return this.#discovered.server;
    const server = this.#readDiscovery();
    this.#discovered = { server, until: this.now() + DISCOVERY_MS };
    server.catch(() => (this.#discovered = undefined));
    return server;
  }

  async #readDiscovery(): Promise<AuthorizationServer> {
    const oauth = await library();
    const { url, discoveryUrl, certificateAuthority } = this.issuer;
    const issuer = new URL(url);
    const send = fetchWith(certificateAuthority);
    const options = {
      algorithm: 'oidc',
      [oauth.customFetch]: (known: string, sent: Parameters<typeof send>[1]) => send(discoveryUrl ?? known, sent),
    } as const;
    return await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options as never));
  }
}
