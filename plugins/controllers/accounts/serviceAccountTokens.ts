import type { Secret, ServiceAccount } from '../../../kinds/v1.js';
import type { Bytes } from '../../../core/model/scalars.js';
import {
  type ApiObject,
  ConfigError,
  type Controller,
  controller,
  type Host,
  type Informer,
  type Plugin,
  type ResourceEvent,
  tokenIssuer,
} from '../../../core/api/index.js';
import { pathOf } from '../catalog.js';
import { WorkQueue } from '../queue.js';
import { Requests } from '../requests.js';

const SECRETS = 'core/secrets';
const ACCOUNTS = 'core/serviceaccounts';
const WORKERS = 4;

/** Configuration: the CA bundle that is stored beside a token, in PEM. */
export interface ServiceAccountTokensConfig {
  readonly rootCa: string;
}

const secretPath = (namespace: string, name: string): string =>
  pathOf({ apiVersion: 'v1', plural: 'secrets' }, namespace, name);

const encode = (text: string): Bytes => Buffer.from(text).toString('base64') as Bytes;

/**
 * Fills secrets of the type for tokens of service accounts with a token, the CA and the namespace, and removes them
 * when there is no such account any more.
 */
class ServiceAccountTokens implements Controller {
  readonly name = 'tokens-controller';
  readonly #requests: Requests;
  readonly #queue: WorkQueue;
  /** Type of the secrets, and their annotations. */
  readonly #type: string;
  readonly #account: string;
  readonly #uid: string;

  constructor(
    readonly host: Host<'control'>,
    readonly rootCa: string,
  ) {
    const { label } = host.naming;
    this.#type = label('orchestrator.io/service-account-token');
    this.#account = label('orchestrator.io/service-account.name');
    this.#uid = label('orchestrator.io/service-account.uid');
    this.#requests = new Requests(host, this.name);
    this.#queue = new WorkQueue({ name: this.name, log: host.log, workers: WORKERS, handle: key => this.#sync(key) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.host.watch(event => this.#observe(event));
    await this.#queue.idle();
  }

  #observe({ storageName, type, namespace, name, mentions, object }: ResourceEvent): void {
    if (storageName === SECRETS) {
      if (type !== 'DELETED' && mentions?.(this.#type) !== false) this.#queue.add(`${namespace}|${name}`);
      else if (type === 'DELETED' && mentions?.(this.#type) !== false) this.#forget(object());
    } else if (storageName === ACCOUNTS && type === 'DELETED') {
      for (const secret of this.host.informer(SECRETS).list(namespace))
        if (secret.metadata.annotations?.[this.#account] === name)
          this.#queue.add(`${namespace}|${secret.metadata.name}`);
    }
  }

  /** An account that lists a removed secret no longer does. */
  #forget({ metadata: { namespace = '', name, annotations } }: ApiObject): void {
    const accounts = this.host.informer(ACCOUNTS) as Informer<ServiceAccount>;
    const account = accounts.get(namespace, annotations?.[this.#account] ?? '');
    const listed = account?.secrets ?? [];
    if (account && listed.some(one => one.name === name)) this.#queue.add(`${namespace}|${name}`);
  }

  async #sync(key: string): Promise<void> {
    const [namespace = '', name = ''] = key.split('|');
    const secret = this.host.informer(SECRETS).get(namespace, name) as Secret | undefined;
    if (!secret) return this.#removeReferences(namespace, name);
    if (secret.type !== this.#type || secret.metadata.deletionTimestamp) return;
    const { annotations = {}, uid, resourceVersion } = secret.metadata;
    const account = this.host.informer(ACCOUNTS).get(namespace, annotations[this.#account] ?? '');
    const named = annotations[this.#uid];
    if (!account || (named && named !== account.metadata.uid)) {
      await this.#requests.delete(secretPath(namespace, name), { preconditions: { uid, resourceVersion } });
      return;
    }
    await this.#fill(secret, account);
  }

  async #fill(secret: Secret, account: ApiObject): Promise<void> {
    const { namespace = '', name = '', annotations } = secret.metadata;
    const ca = encode(this.rootCa);
    const hasToken = (secret.data?.['token'] ?? '') !== '';
    const hasRest = (secret.data?.['ca.crt'] ?? '') === ca && (secret.data?.['namespace'] ?? '') !== '';
    if (hasToken && hasRest && annotations?.[this.#uid]) return;
    const { name: accountName = '', uid: accountUid = '' } = account.metadata;
    const data = new Map(Object.entries(secret.data ?? {}));
    data.set('ca.crt', ca);
    if (!data.get('namespace')) data.set('namespace', encode(namespace));
    if (!hasToken) {
      const issuer = this.host.at(tokenIssuer);
      if (!issuer) throw new Error('no plugin makes tokens');
      const about = { namespace, secret: name, account: accountName, uid: accountUid };
      data.set('token', encode(await issuer.issueLegacy(about)));
    }
    await this.#requests.replace(secretPath(namespace, name), {
      ...secret,
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...secret.metadata,
        annotations: { ...annotations, [this.#account]: accountName, [this.#uid]: accountUid },
      },
      data: Object.fromEntries(data),
    });
  }

  async #removeReferences(namespace: string, name: string): Promise<void> {
    const accounts = this.host.informer(ACCOUNTS) as Informer<ServiceAccount>;
    for (const account of accounts.list(namespace)) {
      const listed = account.secrets ?? [];
      if (!listed.some(one => one.name === name)) continue;
      const path = pathOf({ apiVersion: 'v1', plural: 'serviceaccounts' }, namespace, account.metadata.name);
      await this.#requests.replace(path, {
        ...account,
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        secrets: listed.filter(one => one.name !== name),
      });
    }
  }
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
  contribute: ({ rootCa }) => [controller.of(host => new ServiceAccountTokens(host, rootCa))],
} satisfies Plugin<ServiceAccountTokensConfig>;
