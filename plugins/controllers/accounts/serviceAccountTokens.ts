import type { Secret } from '../../../kinds/v1.js';
import type { Bytes } from '../../../core/model/scalars.js';
import {
  ConfigError,
  controller,
  type Frozen,
  type Host,
  type ObjectKey,
  type Plugin,
  type ReconcileContext,
  reconciler,
  tokenIssuer,
} from '../../../core/api/index.js';
import { unchanged, unlessRefused } from '../requests.js';

const SECRETS = 'core/secrets';
const ACCOUNTS = 'core/serviceaccounts';
const WORKERS = 4;

/** Configuration: the CA bundle that is stored with a token, in PEM. */
export interface ServiceAccountTokensConfig {
  readonly rootCa: string;
}

const encode = (text: string): Bytes => Buffer.from(text).toString('base64') as Bytes;

/** The data of a secret with a token, the CA and the namespace; undefined if it has all of them. */
async function filled(
  secret: Frozen<Secret>,
  rootCa: string,
  account: string,
  uid: string,
  host: Host<'control'>,
): Promise<Readonly<Record<string, Bytes>> | undefined> {
  const { namespace = '', name = '' } = secret.metadata;
  const data = new Map(Object.entries(secret.data ?? {}) as [string, Bytes][]);
  const ca = encode(rootCa);
  const hasToken = (data.get('token') ?? '') !== '';
  if (hasToken && data.get('ca.crt') === ca && (data.get('namespace') ?? '') !== '') return undefined;
  data.set('ca.crt', ca);
  if (!data.get('namespace')) data.set('namespace', encode(namespace));
  if (!hasToken) {
    const issuer = host.at(tokenIssuer);
    if (!issuer) throw new Error('no plugin makes tokens');
    data.set('token', encode(await issuer.issueLegacy({ namespace, secret: name, account, uid })));
  }
  return Object.fromEntries(data);
}

/** Removes a secret that is gone from the accounts that list it. */
async function removeReferences(
  { namespace, name }: ObjectKey,
  { list, client }: ReconcileContext<Secret>,
): Promise<void> {
  for (const account of list(ACCOUNTS, namespace)) {
    const listed = account.secrets ?? [];
    if (!listed.some(one => one.name === name)) continue;
    const secrets = listed.filter(one => one.name !== name);
    await unlessRefused('NotFound', client.resource(ACCOUNTS).replace({ ...account, secrets }));
  }
}

/**
 * Fills secrets of the type for tokens of service accounts with a token, the CA and the namespace, and removes them
 * when that account no longer exists.
 */
function maintainTokens(host: Host<'control'>, rootCa: string) {
  const { label } = host.naming;
  // Type of the secrets, and their annotations.
  const tokenType = label('orchestrator.io/service-account-token');
  const accountLabel = label('orchestrator.io/service-account.name');
  const uidLabel = label('orchestrator.io/service-account.uid');
  return reconciler({
    name: 'tokens-controller',
    for: SECRETS,
    predicate: ({ mentions }) => mentions?.(tokenType) !== false,
    watches: [
      {
        resource: ACCOUNTS,
        keys: ({ type, namespace, name }, { list }) =>
          type === 'DELETED'
            ? list(SECRETS, namespace).flatMap(({ metadata }) =>
                metadata.annotations?.[accountLabel] === name ? [metadata] : [],
              )
            : [],
      },
    ],
    concurrency: WORKERS,
    async reconcile(key, context) {
      const { object: secret, get, client } = context;
      if (!secret) return await removeReferences(key, context);
      if (secret.type !== tokenType || secret.metadata.deletionTimestamp) return;
      const { namespace, annotations = {} } = secret.metadata;
      const name = annotations[accountLabel];
      const account = name ? get(ACCOUNTS, { namespace, name }) : undefined;
      const named = annotations[uidLabel];
      if (!name || !account || (named && named !== account.metadata.uid)) {
        await client.resource(SECRETS).delete(key, unchanged(secret));
        return;
      }
      const uid = account.metadata.uid ?? '';
      const data = await filled(secret, rootCa, name, uid, host);
      if (!data && named) return;
      const metadata = {
        ...secret.metadata,
        annotations: { ...annotations, [accountLabel]: name, [uidLabel]: uid },
      };
      const secrets = client.resource(SECRETS);
      await unlessRefused('NotFound', secrets.replace({ ...secret, metadata, data: data ?? secret.data }));
    },
  })(host);
}

function parse(config: unknown): ServiceAccountTokensConfig {
  const { rootCa } = (config ?? {}) as Partial<ServiceAccountTokensConfig>;
  if (typeof rootCa !== 'string') throw new ConfigError('config.rootCa', 'must be a string of PEM certificates');
  return { rootCa };
}

/** Tokens of service accounts that are kept in secrets. */
export const serviceAccountTokens = {
  name: 'controllers/service-account-tokens',
  parse,
  contribute: ({ rootCa }) => [controller.of(host => maintainTokens(host, rootCa))],
} satisfies Plugin<ServiceAccountTokensConfig>;
