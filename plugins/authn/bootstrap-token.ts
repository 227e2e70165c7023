import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type ApiObject,
  type Authenticator,
  authenticator,
  definePlugin,
  type Host,
  type Plugin,
  stringAt,
} from '../../core/api/index.js';
import { bearerToken, unknownToken } from './bearer.js';

/** Id and secret of a bootstrap token. */
const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = 'system:bootstrappers';
/** Further groups of a token must be below the group of all. */
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

const read = (secret: ApiObject, key: string): string =>
  Buffer.from(stringAt(secret, 'data', key), 'base64').toString('utf8');

/** Whether two texts are equal. The time that it takes does not depend on where they differ. */
const isEqual = (a: string, b: string): boolean => {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
};

/** When the token expires, in milliseconds since the epoch. What is no time has expired. */
function expiryOf(secret: ApiObject): number {
  const text = read(secret, 'expiration');
  if (text === '') return Number.POSITIVE_INFINITY;
  return RFC3339.test(text) ? Date.parse(text) || 0 : 0;
}

/** The groups of the token. Throws 401 if one of them is not below the group of bootstrap tokens. */
function groupsOf(secret: ApiObject): string[] {
  const text = read(secret, 'auth-extra-groups');
  const extra = text === '' ? [] : text.split(',');
  if (!extra.every(group => EXTRA_GROUP.test(group))) throw unknownToken();
  return [...new Set([GROUP, ...extra])].sort();
}

/**
 * Authenticates bootstrap tokens (spec, "Bootstrap token secret"): `<id>.<secret>`, which the secret
 * `bootstrap-token-<id>` of the system namespace holds. A token ends with its secret.
 */
export function bootstrapTokens({ informer, now, naming }: Pick<Host<'request'>, 'informer' | 'now' | 'naming'>) {
  const secrets = informer('core/secrets');
  const namespace = naming.component('orchestrator-system');
  const type = naming.label('bootstrap.orchestrator.io/token');
  return {
    cacheFor: 'forever',
    authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined) return null;
      const [, id = '', value = ''] = TOKEN.exec(token) ?? [];
      const secret = id === '' ? undefined : secrets.get(namespace, `bootstrap-token-${id}`);
      if (!secret || secret.metadata.deletionTimestamp || secret['type'] !== type) throw unknownToken();
      if (!isEqual(read(secret, 'token-secret'), value) || read(secret, 'token-id') !== id) throw unknownToken();
      const expiry = expiryOf(secret);
      if (expiry <= now() || read(secret, 'usage-bootstrap-authentication') !== 'true') throw unknownToken();
      return {
        user: { name: `system:bootstrap:${id}`, uid: '', groups: groupsOf(secret), extra: new Map() },
        objects: [{ storageName: 'core/secrets', object: secret }],
        ...(Number.isFinite(expiry) ? { cacheFor: expiry - now() } : {}),
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
