import {
  type Host,
  type HttpSite,
  readJson,
  Refusal,
  type SiteAnswer,
  type SiteRequest,
} from '../../core/api/index.js';
import { OWN_PAGE_HEADER } from '../../core/model/wellKnown/ownPage.js';
import type { Assets } from './assets.js';
import { PAGE_HEADERS } from './headers.js';
import type { OpenId } from './openId.js';
import { cookiesOf, SESSION_COOKIE, type Sessions } from './sessions.js';
import type { SignInLink } from './signInLink.js';

/** The path of the console. */
const CONSOLE_PATH = '/console';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';
const NOT_STORED = ['cache-control', 'no-store'] as const;

/** The parts of the console in the main thread. */
export interface SiteParts {
  readonly assets: Assets;
  readonly sessions: Sessions;
  readonly link: SignInLink;
  /** Absent if the server has no OpenID Connect provider. */
  readonly openId?: OpenId | undefined;
  /** The administrator's token, which the one-time link stands for. */
  readonly adminToken: () => string;
  readonly host: Pick<Host<'front'>, 'request' | 'naming' | 'log'>;
}

/** An answer in JSON. */
const json = (status: number, value: object, headers: SiteAnswer['headers'] = []): SiteAnswer => ({
  status,
  headers: [...PAGE_HEADERS, NOT_STORED, ['content-type', 'application/json'], ...headers],
  body: Buffer.from(JSON.stringify(value)),
});

/** A refusal in the form of the API. */
function refused(refusal: Refusal): SiteAnswer {
  const { code, reason, message } = refusal;
  return json(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message });
}

const cookieOf = (request: SiteRequest): string => `${SESSION_COOKIE}${request.port}`;

/** The credentials of a sign-in. Throws Refusal 400. */
function credentialsOf(body: Uint8Array): { readonly token: string } | { readonly link: string } {
  let read: unknown;
  try {
    read = readJson(Buffer.from(body).toString());
  } catch {
    read = undefined;
  }
  const { token, link } = (read ?? {}) as { readonly token?: unknown; readonly link?: unknown };
  if (typeof token === 'string' && token !== '') return { token };
  if (typeof link === 'string' && link !== '') return { link };
  throw new Refusal('BadRequest', 'the body must be JSON with the member token, or with the member link');
}

interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: { readonly username?: string };
}

/** The name of the user of a token. Throws Refusal 401 for a token that no authenticator knows. */
async function userOf({ host }: SiteParts, token: string): Promise<string> {
  const apiVersion = `${host.naming.group('authentication.orchestrator.io')}/v1`;
  const body = { apiVersion, kind: 'TokenReview', metadata: {}, spec: { token } };
  const review = await host.request('console', { method: 'POST', path: `/apis/${apiVersion}/tokenreviews`, body });
  const { status } = review as { readonly status?: TokenReviewStatus };
  if (status?.authenticated !== true) throw new Refusal('Unauthorized', 'the server does not know this token');
  return status.user?.username ?? '';
}

async function signIn(parts: SiteParts, request: SiteRequest): Promise<SiteAnswer> {
  if (!request.secure)
    throw new Refusal('Forbidden', 'sessions are for HTTPS only: open the console at the HTTPS port');
  const given = credentialsOf(request.body);
  if ('link' in given && !parts.link.use(given.link, request.remoteAddress))
    throw new Refusal(
      'Unauthorized',
      'this link was used, is too old, or was opened on another machine; sign in with a token, or restart the server',
    );
  const token = 'token' in given ? given.token : parts.adminToken();
  return json(201, {}, [await begin(parts, request, token)]);
}

/** Begins a session. Resolves with the header with its cookie. Throws Refusal 401 for an unknown token. */
async function begin(parts: SiteParts, request: SiteRequest, token: string): Promise<readonly [string, string]> {
  const secret = parts.sessions.begin(token, await userOf(parts, token));
  return ['set-cookie', `${cookieOf(request)}=${secret}; ${ATTRIBUTES}`];
}

/** Leads the browser to the provider, and back to the console with a session. Failures are logged. */
async function answerOpenId(parts: SiteParts, openId: OpenId, request: SiteRequest): Promise<SiteAnswer> {
  const to = (path: string, ...more: SiteAnswer['headers']): SiteAnswer => ({
    status: 303,
    headers: [...PAGE_HEADERS, NOT_STORED, ['location', `${CONSOLE_PATH}/${path}`], ...more],
    body: new Uint8Array(),
  });
  try {
    if (request.path.endsWith('/begin')) return await openId.begin(request);
    return to('', await begin(parts, request, await openId.end(request)));
  } catch (thrown) {
    parts.host.log.warn({ reason: String((thrown as Error)?.message) }, 'a sign-in by OpenID Connect failed');
    return to('?failure=openid');
  }
}

function signOut({ sessions }: SiteParts, request: SiteRequest): SiteAnswer {
  for (const [, secret] of cookiesOf(request.header('cookie'), `${cookieOf(request)}=`)) sessions.end(secret);
  return json(200, {}, [['set-cookie', `${cookieOf(request)}=; Max-Age=0; ${ATTRIBUTES}`]]);
}

/** Answers requests for the session: who can sign in, signing in and out. Throws Refusal. */
async function answerSession(parts: SiteParts, request: SiteRequest): Promise<SiteAnswer> {
  const { method } = request;
  if (request.header(OWN_PAGE_HEADER) === undefined)
    throw new Refusal('Forbidden', `the header ${OWN_PAGE_HEADER} is missing: only pages of the console are answered`);
  if (method === 'GET') {
    const domain = parts.host.naming.group('meta.orchestrator.io').replace('meta.', '');
    return json(200, { domain, openId: parts.openId !== undefined });
  }
  if (method === 'POST') return await signIn(parts, request);
  if (method === 'DELETE') return signOut(parts, request);
  throw new Refusal('MethodNotAllowed', 'the session has GET, POST and DELETE');
}

async function answer(parts: SiteParts, request: SiteRequest): Promise<SiteAnswer> {
  const { method, path } = request;
  const below = path.slice(CONSOLE_PATH.length + 1);
  // Links of the page are relative to the path with a slash.
  if (path === CONSOLE_PATH)
    return { status: 301, headers: [...PAGE_HEADERS, ['location', `${CONSOLE_PATH}/`]], body: new Uint8Array() };
  if (below === 'session') return await answerSession(parts, request);
  if (parts.openId && method === 'GET' && (below === 'openid/begin' || below === 'openid/callback'))
    return await answerOpenId(parts, parts.openId, request);
  if (method !== 'GET' && method !== 'HEAD') throw new Refusal('MethodNotAllowed', 'pages have GET alone');
  const found = await parts.assets.answer(below, request);
  if (!found) throw new Refusal('NotFound', 'the console has no such file');
  return found;
}

/** The site of the console: its pages, and the sessions. */
export const consoleSite = (parts: SiteParts): HttpSite => ({
  path: CONSOLE_PATH,
  answer: async request => {
    try {
      return await answer(parts, request);
    } catch (thrown) {
      if (thrown instanceof Refusal) return refused(thrown);
      throw thrown;
    }
  },
});
