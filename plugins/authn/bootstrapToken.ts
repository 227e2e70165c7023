import { createHash, timingSafeEqual } from 'node:crypto';
import { type Authenticator, authenticator, definePlugin, type Host, type Plugin } from '../../core/api/index.js';
import { BOOTSTRAP_TOKEN_TYPE, bootstrapTokenOf } from '../../core/model/wellKnown/bootstrapToken.js';
import { bearerToken, unknownToken } from './bearer.js';

/** Id and secret of a bootstrap token. */
const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = 'system:bootstrappers';
/** Further groups of a token must be below the group of all bootstrap tokens. */
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
/** Whether two texts are equal. The time that it takes does not depend on where they differ. */
const isEqual = (a: string, b: string): boolean => {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
};

/** The groups of the token. Throws 401 if one of them is not below the group of bootstrap tokens. */
function groupsOf(text: string): string[] {
  const extra = text === '' ? [] : text.split(',');
  if (!extra.every(group => EXTRA_GROUP.test(group))) throw unknownToken();
  return [...new Set([GROUP, ...extra])].sort();
}

/**
 * Authenticates bootstrap tokens (spec, "Bootstrap token secret"): `<id>.<secret>`, which the secret
 * `bootstrap-token-<id>` of the system namespace holds. A token is no longer valid when its secret is removed.
 */
export function bootstrapTokens({ informer, now, naming }: Pick<Host<'pool'>, 'informer' | 'now' | 'naming'>) {
  const secrets = informer('core/secrets');
  const namespace = naming.component('orchestrator-system');
  const type = naming.label(BOOTSTRAP_TOKEN_TYPE);
  return {
    cacheFor: 'forever',
    authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined) return null;
      const [, id = '', value = ''] = TOKEN.exec(token) ?? [];
      const secret = id === '' ? undefined : secrets.get(namespace, `bootstrap-token-${id}`);
      const held = secret && bootstrapTokenOf(secret, type);
      if (!held || !isEqual(held.value, value) || !held.authenticates || held.expiresAt <= now()) throw unknownToken();
      return {
        user: { name: `system:bootstrap:${id}`, uid: '', groups: groupsOf(held.groups), extra: new Map() },
        objects: [{ storageName: 'core/secrets', object: secret }],
        ...(Number.isFinite(held.expiresAt) ? { cacheFor: held.expiresAt - now() } : {}),
      };
    },
  } satisfies Authenticator;
}

/** `--enable-bootstrap-token-auth`: tokens by which nodes join. */
export default definePlugin({
  name: 'bootstrap-token',
  parse: () => null,
  contribute: () => [authenticator.of(bootstrapTokens)],
}) satisfies Plugin<null>;
