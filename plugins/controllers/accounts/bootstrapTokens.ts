import { controller, type CurrentObjects, type Host, type Plugin, reconciler } from '../../../core/api/index.js';
import {
  BOOTSTRAP_TOKEN_TYPE,
  bootstrapTokenExpiry,
  bootstrapTokenOf,
} from '../../../core/model/wellKnown/bootstrapToken.js';
import { unchanged } from '../requests.js';

const SECRETS = 'core/secrets';
const CONFIG_MAPS = 'core/configmaps';
const INFO = 'cluster-info';
const SIGNATURE = 'jws-kubeconfig-';

/** The result of a reconciliation that is to run again at a time; undefined if that time never comes. */
const againAt = (time: number, now: number): { readonly after: number } | undefined =>
  Number.isFinite(time) ? { after: Math.max(0, time - now) } : undefined;

/** Removes the secrets of bootstrap tokens when they expire. */
function cleanTokens({ naming }: Host<'control'>) {
  const system = naming.component('orchestrator-system');
  const type = naming.label(BOOTSTRAP_TOKEN_TYPE);
  return reconciler({
    name: 'token-cleaner',
    for: SECRETS,
    predicate: ({ namespace, mentions }) => namespace === system && mentions?.(type) !== false,
    async reconcile(key, { object: secret, client, now }) {
      if (secret?.type !== type) return;
      const expiry = bootstrapTokenExpiry(secret);
      if (expiry > now()) return againAt(expiry, now());
      await client.resource(SECRETS).delete(key, unchanged(secret));
    },
  });
}

/**
 * A detached JWS of a text (RFC 7515, appendix F; A030 to A032). The key is the full token, which the verifier has been
 * given.
 */
async function signDetached(text: string, id: string, value: string): Promise<string> {
  const { FlattenedSign } = await import('jose');
  const { protected: head, signature } = await new FlattenedSign(Buffer.from(text))
    .setProtectedHeader({ alg: 'HS256', kid: id })
    .sign(Buffer.from(`${id}.${value}`));
  return `${head}..${signature}`;
}

/** Signs the kubeconfig of the ConfigMap `cluster-info` with each bootstrap token that may sign. */
function signInfo({ naming }: Host<'control'>) {
  const system = naming.component('orchestrator-system');
  const info = { namespace: naming.component('orchestrator-public'), name: INFO };
  const type = naming.label(BOOTSTRAP_TOKEN_TYPE);
  /** The tokens that may sign. */
  const signers = (now: number, { list }: CurrentObjects) =>
    list(SECRETS, system).flatMap(secret => {
      const token = bootstrapTokenOf(secret, type);
      return token?.signs && token.expiresAt > now ? [token] : [];
    });
  return reconciler({
    name: 'bootstrap-signer',
    for: CONFIG_MAPS,
    predicate: ({ namespace, name }) => namespace === info.namespace && name === info.name,
    watches: [
      {
        resource: SECRETS,
        keys: ({ namespace, name }) => (namespace === system && name.startsWith('bootstrap-token-') ? [info] : []),
      },
    ],
    async reconcile(_key, { object: found, client, now, ...objects }) {
      if (!found) return;
      const data = new Map(Object.entries(found.data ?? {}));
      const wanted = new Map([...data].filter(([key]) => !key.startsWith(SIGNATURE)));
      const text = data.get('kubeconfig');
      const tokens = typeof text === 'string' ? signers(now(), objects) : [];
      for (const { id, value } of tokens) wanted.set(`${SIGNATURE}${id}`, await signDetached(text!, id, value));
      if (wanted.size !== data.size || [...wanted].some(([key, value]) => data.get(key) !== value))
        await client.resource(CONFIG_MAPS).replace({ ...found, data: Object.fromEntries(wanted) });
      return againAt(Math.min(...tokens.map(({ expiresAt }) => expiresAt)), now());
    },
  });
}

/** Removes expired bootstrap tokens. */
export const tokenCleaner = {
  name: 'controllers/token-cleaner',
  parse: () => ({}),
  contribute: () => [controller.of(host => cleanTokens(host)(host))],
} satisfies Plugin;

/** Signs `cluster-info` with bootstrap tokens. */
export const bootstrapSigner = {
  name: 'controllers/bootstrap-signer',
  parse: () => ({}),
  contribute: () => [controller.of(host => signInfo(host)(host))],
} satisfies Plugin;
