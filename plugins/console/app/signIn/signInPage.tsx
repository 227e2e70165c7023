import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { session, signIn } from '../api/session.js';
import { messageOf } from '../parts/failure.js';
import { BASE } from '../router.js';

/** The ways to sign in. */
export function SignInPage({ failure }: { readonly failure: string | undefined }) {
  const token = useSignal('');
  const error = useSignal(failure);
  const isBusy = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    isBusy.value = true;
    error.value = undefined;
    try {
      await signIn({ token: token.value.trim() });
    } catch (thrown) {
      error.value = `The token was not accepted: ${messageOf(thrown)}.`;
    } finally {
      token.value = '';
      isBusy.value = false;
    }
  };
  return (
    <main class="sign-in">
      <div class="card stack">
        <img src={`${BASE}/icon.svg`} alt="" />
        <h1>Sign in</h1>
        {error.value !== undefined && (
          <p class="notice bad" role="alert">
            {error.value}
          </p>
        )}
        <form onSubmit={event => void submit(event)}>
          <label class="label">
            Bearer token
            <input
              ref={input}
              class="field mono"
              type="password"
              name="token"
              autocomplete="off"
              spellcheck={false}
              required
              value={token.value}
              onInput={event => (token.value = event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="button primary" disabled={isBusy.value}>
            Sign in
          </button>
        </form>
        {session.value?.openId && (
          <a class="button" href={`${BASE}/openid/begin`} target="_self">
            Sign in with OpenID Connect
          </a>
        )}
        <p class="small soft">
          A server on this machine prints a link that signs its administrator in once. With a client certificate in the
          browser, no sign-in is needed.
        </p>
      </div>
    </main>
  );
}
