import { signal } from '@preact/signals';
import { isSignedOut, send, sendJson } from './http.js';

/** The user of the session, and how a user can sign in. */
export interface SessionState {
  readonly user: { readonly name: string; readonly groups: readonly string[] } | undefined;
  /** The domain of the server's own API groups, which depends on its naming: see `systemGroup`. */
  readonly domain: string;
  /** Whether an OpenID Connect provider is configured. */
  readonly openId: boolean;
}

/** The session; undefined until it is known. */
export const session = signal<SessionState | undefined>(undefined);

/** The name of an API group of the system: `systemGroup('meta')`. */
export const systemGroup = (name: string, domain = session.peek()?.domain ?? ''): string => `${name}.${domain}`;

const SESSION = '/console/session';
type Known = Omit<SessionState, 'user'>;

interface Review {
  readonly status: { readonly userInfo: { readonly username?: string; readonly groups?: readonly string[] } };
}

/** The sender of requests, as the server sees it; undefined for one without credentials. */
async function whoAmI({ domain }: Known): Promise<SessionState['user']> {
  const version = `${systemGroup('authentication', domain)}/v1`;
  const body = { apiVersion: version, kind: 'SelfSubjectReview' };
  try {
    const { status } = await sendJson<Review>('POST', `/apis/${version}/selfsubjectreviews`, { body });
    const { username = '', groups: of = [] } = status.userInfo;
    return of.includes('system:unauthenticated') ? undefined : { name: username, groups: of };
  } catch {
    return undefined;
  }
}

/** Finds out who the user is: by the session, or by the certificate that the browser sends. */
export async function readSession(): Promise<void> {
  const known = await sendJson<Known>('GET', SESSION);
  const user = await whoAmI(known);
  session.value = { ...known, user };
  isSignedOut.value = user === undefined;
}

/** Signs in with a token, or with the secret of a one-time link. Throws ApiError if it is not accepted. */
export async function signIn(credentials: { readonly token: string } | { readonly link: string }): Promise<void> {
  await send('POST', SESSION, { body: credentials });
  await readSession();
}

/** Ends the session. After that, the user is that of the certificate, if the browser sends one. */
export async function signOut(): Promise<void> {
  await send('DELETE', SESSION);
  await readSession();
}
