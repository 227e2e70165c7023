import type { Pod, Secret } from '../../../kinds/v1.js';
import {
  ConfigError,
  controller,
  type CurrentObjects,
  type Frozen,
  type Naming,
  type Plugin,
  type ReconcileContext,
  reconciler,
} from '../../../core/api/index.js';
import { unchanged, unlessRefused } from '../requests.js';

const SECRETS = 'core/secrets';
const DAY_MS = 24 * 3_600_000;
/** Uses are recorded by day: cleaning more often would change nothing. */
const INTERVAL_MS = DAY_MS;

/** Configuration: how long a token may be unused, in milliseconds. */
export interface LegacyTokenCleanerConfig {
  readonly periodMs: number;
}

/** Names of the secrets that pods of a namespace mount. */
const mountedSecrets = (pods: readonly Frozen<Pod>[]): ReadonlySet<string> =>
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
class LegacyTokenCleaner {
  constructor(
    readonly naming: Naming,
    readonly periodMs: number,
  ) {}

  /** Examines all secrets once. Failed writes are logged. */
  async clean(context: ReconcileContext): Promise<void> {
    const { list, now, log } = context;
    const before = now() - this.periodMs;
    // Uses before this time were not recorded.
    const trackedSince = this.#trackedSince(context);
    if (trackedSince === undefined || trackedSince >= before) return;
    const type = this.naming.label('orchestrator.io/service-account-token');
    for (const secret of list(SECRETS)) {
      if (secret.type !== type || !this.#isUnused(secret, before, context)) continue;
      try {
        await this.#end(secret, before, context);
      } catch (error) {
        const { namespace, name } = secret.metadata;
        log.warn({ namespace, name, error: (error as Error).message }, 'ending an unused token failed');
      }
    }
  }

  /** The end of the day on which the server began to record uses. */
  #trackedSince({ get }: CurrentObjects): number | undefined {
    const { naming } = this;
    const name = naming.component('orchestrator-apiserver-legacy-service-account-token-tracking');
    const since = get('core/configmaps', { namespace: naming.component('orchestrator-system'), name });
    const date = dateOf(since?.data?.['since'] ?? '');
    return date === undefined ? undefined : date + DAY_MS;
  }

  #isUnused(secret: Frozen<Secret>, before: number, { get, list }: CurrentObjects): boolean {
    const { namespace = '', name = '', labels, annotations, creationTimestamp } = secret.metadata;
    const { naming } = this;
    if (Date.parse(creationTimestamp ?? '') >= before) return false;
    const accountName = annotations?.[naming.label('orchestrator.io/service-account.name')] ?? '';
    const account = get('core/serviceaccounts', { namespace, name: accountName });
    const isAutomatic = (account?.secrets ?? []).some(one => one.name === name);
    if (!isAutomatic || mountedSecrets(list('core/pods', namespace)).has(name)) return false;
    const label = labels?.[naming.label('orchestrator.io/legacy-token-last-used')];
    const lastUsed = dateOf(label);
    return label === undefined || (lastUsed !== undefined && lastUsed < before);
  }

  async #end(secret: Frozen<Secret>, before: number, { client, now }: ReconcileContext): Promise<void> {
    const { labels, uid, resourceVersion } = secret.metadata;
    const label = this.naming.label('orchestrator.io/legacy-token-invalid-since');
    const secrets = client.resource(SECRETS);
    const since = dateOf(labels?.[label]);
    if (since === undefined) {
      const today = new Date(now()).toISOString().slice(0, 10);
      const patch = { metadata: { uid, resourceVersion, labels: { [label]: today } } };
      await unlessRefused('NotFound', secrets.patch(secret.metadata, patch));
    } else if (since < before) await secrets.delete(secret.metadata, unchanged(secret));
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
  contribute: ({ periodMs }) => [
    controller.of(host => {
      const cleaner = new LegacyTokenCleaner(host.naming, periodMs);
      return reconciler({
        name: 'legacy-service-account-token-cleaner',
        keys: [{ name: 'all' }],
        resync: INTERVAL_MS,
        reconcile: (_key, context) => cleaner.clean(context),
      })(host);
    }),
  ],
} satisfies Plugin<LegacyTokenCleanerConfig>;
