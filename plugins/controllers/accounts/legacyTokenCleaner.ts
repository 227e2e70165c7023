import type { ConfigMap, Pod, ServiceAccount } from '../../../kinds/v1.js';
import {
  type ApiObject,
  ConfigError,
  type Controller,
  controller,
  type Host,
  type Informer,
  type Plugin,
} from '../../../core/api/index.js';
import { pathOf } from '../catalog.js';
import { Requests } from '../requests.js';

const DAY_MS = 24 * 3_600_000;
/** Uses are recorded by day: more often, nothing would change. */
const INTERVAL_MS = DAY_MS;

/** Configuration: how long a token may be unused, in milliseconds. */
export interface LegacyTokenCleanerConfig {
  readonly periodMs: number;
}

/** Names of the secrets that pods of a namespace mount. */
const mountedSecrets = (pods: readonly Pod[]): ReadonlySet<string> =>
  new Set(pods.flatMap(pod => (pod.spec.volumes ?? []).map(({ secret }) => secret?.secretName ?? '')));

/** The time of a date of the form 2006-01-02, in milliseconds since the epoch; undefined for anything else. */
function dateOf(text: string | undefined): number | undefined {
  const time = text && /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/**
 * Ends the tokens that were made automatically for service accounts and have not been used for a long time: their
 * secrets are first marked as invalid, and removed after the same time again. Tokens that pods mount, and those that
 * users made, are kept.
 */
export class LegacyTokenCleaner implements Controller {
  readonly name = 'legacy-service-account-token-cleaner';
  readonly #requests: Requests;

  constructor(
    readonly host: Host<'control'>,
    readonly periodMs: number,
  ) {
    this.#requests = new Requests(host, this.name);
  }

  async start(): Promise<void> {
    const timer = setInterval(() => void this.clean(), INTERVAL_MS);
    timer.unref();
    this.host.onClose(() => clearInterval(timer));
    await this.clean();
  }

  /** Examines all secrets once. Failed writes are logged. */
  async clean(): Promise<void> {
    const { host } = this;
    const before = host.now() - this.periodMs;
    // Uses before this time were not recorded.
    const trackedSince = this.#trackedSince();
    if (trackedSince === undefined || trackedSince >= before) return;
    const type = host.naming.label('orchestrator.io/service-account-token');
    for (const secret of host.informer('core/secrets').list()) {
      if (secret['type'] !== type || !this.#isUnused(secret, before)) continue;
      try {
        await this.#end(secret, before);
      } catch (error) {
        const { namespace, name } = secret.metadata;
        host.log.warn({ namespace, name, error: (error as Error).message }, 'ending an unused token failed');
      }
    }
  }

  /** The end of the day on which the server began to record uses. */
  #trackedSince(): number | undefined {
    const { naming, informer } = this.host;
    const name = naming.component('orchestrator-apiserver-legacy-service-account-token-tracking');
    const configMaps = informer('core/configmaps') as Informer<ConfigMap>;
    const since = configMaps.get(naming.component('orchestrator-system'), name);
    const date = dateOf(since?.data?.['since'] ?? '');
    return date === undefined ? undefined : date + DAY_MS;
  }

  #isUnused(secret: ApiObject, before: number): boolean {
    const { namespace = '', name = '', labels, annotations, creationTimestamp } = secret.metadata;
    const { informer, naming } = this.host;
    if (Date.parse(creationTimestamp ?? '') >= before) return false;
    const accounts = informer('core/serviceaccounts') as Informer<ServiceAccount>;
    const account = accounts.get(namespace, annotations?.[naming.label('orchestrator.io/service-account.name')] ?? '');
    const isAutomatic = (account?.secrets ?? []).some(one => one.name === name);
    if (!isAutomatic || mountedSecrets((informer('core/pods') as Informer<Pod>).list(namespace)).has(name))
      return false;
    const label = labels?.[naming.label('orchestrator.io/legacy-token-last-used')];
    const lastUsed = dateOf(label);
    return label === undefined || (lastUsed !== undefined && lastUsed < before);
  }

  async #end({ metadata }: ApiObject, before: number): Promise<void> {
    const { namespace = '', name = '', labels, uid, resourceVersion } = metadata;
    const label = this.host.naming.label('orchestrator.io/legacy-token-invalid-since');
    const path = pathOf({ apiVersion: 'v1', plural: 'secrets' }, namespace, name);
    const since = dateOf(labels?.[label]);
    if (since === undefined) {
      const today = new Date(this.host.now()).toISOString().slice(0, 10);
      await this.#requests.merge(path, { metadata: { uid, resourceVersion, labels: { [label]: today } } });
    } else if (since < before) await this.#requests.delete(path, { preconditions: { uid, resourceVersion } });
  }
}

function parse(config: unknown): LegacyTokenCleanerConfig {
  const { periodMs } = (config ?? {}) as Partial<LegacyTokenCleanerConfig>;
  if (typeof periodMs !== 'number' || periodMs <= 0) throw new ConfigError('config.periodMs', 'must be longer than 0');
  return { periodMs };
}

/** Ends tokens in secrets that have not been used for a long time. */
export const legacyTokenCleaner = {
  name: 'controllers/legacy-token-cleaner',
  parse,
  contribute: ({ periodMs }) => [controller.of(host => new LegacyTokenCleaner(host, periodMs))],
} satisfies Plugin<LegacyTokenCleanerConfig>;
