import { signal } from '@preact/signals';
import { render } from 'preact';
import { followRules } from './api/access.js';
import { isSignedOut } from './api/http.js';
import { readKinds } from './api/kinds.js';
import { readSession, session, signIn } from './api/session.js';
import { messageOf } from './parts/failure.js';
import { followLinks, hrefOf, navigate, place } from './router.js';
import { Shell } from './shell/shell.js';
import { followTheme } from './shell/theme.js';
import { SignInPage } from './signIn/signInPage.js';

/** Milliseconds between two reads of the kinds: new custom kinds appear in the navigation without a reload. */
const KINDS_MS = 5000;
/** The page that the console begins with. */
const FIRST_PAGE = '/list/core/v1/namespaces';

const failure = signal<string | undefined>(undefined);
const isReady = signal(false);

/**
 * The secret of a one-time link. It is removed from the address, so that it is kept neither there nor in the history.
 */
function takeLink(): string | undefined {
  const [, secret] = /^#link=([\w-]+)$/.exec(window.location.hash) ?? [];
  if (secret !== undefined) window.history.replaceState(window.history.state, '', window.location.pathname);
  return secret;
}

/** Signs in with the link of the address, if there is one, and finds out who the user is. */
async function begin(): Promise<void> {
  const link = takeLink();
  if (place.peek().query.get('failure') === 'openid')
    failure.value = 'The sign-in by OpenID Connect failed; the log of the server says why.';
  try {
    if (link === undefined) await readSession();
    else await signIn({ link });
  } catch (error) {
    failure.value = `${messageOf(error)}.`;
    await readSession().catch(() => undefined);
  }
  isReady.value = true;
}

/** Reads the kinds while a user is signed in. */
async function followKinds(): Promise<void> {
  if (session.value?.user && !document.hidden) await readKinds().catch(() => undefined);
  setTimeout(() => void followKinds(), KINDS_MS);
}

function App() {
  if (!isReady.value) return <main class="sign-in" aria-busy="true" />;
  const user = session.value?.user;
  if (!user || isSignedOut.value) return <SignInPage failure={failure.value} />;
  return <Shell />;
}

followTheme();
followLinks();
followRules();
await begin();
session.subscribe(state => {
  if (state?.user && place.peek().path === '/') navigate(hrefOf(FIRST_PAGE), { replace: true });
  if (state?.user) void readKinds().catch(() => undefined);
});
void followKinds();
render(<App />, document.getElementById('app')!);
