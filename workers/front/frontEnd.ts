import { CBOR_GATE } from '../../core/features/gates.js';
import { type HealthCheck, healthCheck } from '../../core/api/control.js';
import type { Awaitable } from '../../core/api/point.js';
import { httpDocuments } from '../../core/api/document.js';
import { AuditLog } from '../../core/audit/log.js';
import { addressOf } from '../../core/server/address.js';
import { auditPolicyOf } from '../../core/server/audit.js';
import { AccessCache } from './access.js';
import { Audit } from './audit.js';
import { ContinueTokens } from './continueToken.js';
import { Encodings } from './encodings.js';
import { Front } from './front.js';
import { HealthAccess } from './healthAccess.js';
import type { FrontEndInputs } from './main.js';
import type { Pool } from './pool.js';
import { PoolClient } from './poolClient.js';
import { Proposals } from './proposals.js';
import { State } from './state.js';
import { WatchHub } from './watch.js';
import {
  type PostStartHook,
  postStartHook,
  registrationCheck,
  shutdownCheck,
  storeCheck,
} from '../../core/health/checks.js';
import { CredentialMetrics, type ObservedMetrics, RequestMetrics, serverMetrics } from '../../core/metrics/index.js';
import type { Plugins } from '../../core/plugin/load.js';
import type { Releases } from '../../core/plugin/releases.js';
import type { LiveRegistry } from '../../core/schema/live.js';
import { setLabels } from './internal.js';
import { sendSnapshot } from './snapshot.js';
import type { OpenedStore } from '../../core/threads/lifecycle.js';
import { pathHandler } from './paths.js';
import { WriterClient } from './writerClient.js';
import { buildReadContext } from './buildReadContext.js';
import { checkTypes } from '../../core/plugin/checkTypes.js';
import { liveRegistry, resourceTypes } from '../../core/plugin/registry.js';
import { StoreHealth } from './storeHealth.js';
import type { StoreThread } from './storeThread.js';

/** What the front end is built of. */
interface FrontEndParts extends FrontEndInputs {
  readonly plugins: Plugins;
  readonly store: StoreThread;
  readonly opened: OpenedStore;
  readonly pool: Pool;
  /** What the plugins of the pool have counted. */
  readonly observed: ObservedMetrics;
}

/** The parts of the main thread: the cache of all objects, watches, and the front that answers from them. */
export interface FrontEnd {
  readonly front: Front;
  readonly live: LiveRegistry;
  /** Work after the start that health endpoints wait for. */
  readonly hooks: { readonly controllersStarted: PostStartHook; readonly bootstrapped: PostStartHook };
  readonly healthAccess: HealthAccess;
  /** Where the server listens; set when it does. */
  readonly address: { readonly host: string; port: number };
  /** Ends every watch with its last bookmark. */
  finishWatches(): void;
}

/**
 * Builds the front end on an opened store and begins to fill its cache. Throws ConfigError for resource types that
 * cannot be served.
 */
export async function buildFrontEnd(parts: FrontEndParts): Promise<FrontEnd> {
  const { settings, naming, home, scope, plugins, store, opened, pool, observed } = parts;
  const { data, log, releases } = scope;
  const access = new AccessCache(key => state.find(key)?.revision);
  const hub = new WatchHub();
  const writer = new WriterClient();
  const proposals = new Proposals();
  const encodings = new Encodings();
  const credentials = new CredentialMetrics();
  const poolClient = new PoolClient(pool, access, Date.now, ({ counters, labels }) => {
    if (counters) credentials.count(counters);
    if (labels) setLabels(front, labels, naming, log);
  });
  await checkTypes(resourceTypes(data, plugins).custom, naming);
  const live = liveRegistry(data, plugins, log, (registry, ended) => {
    state.adopt(registry);
    for (const name of ended) hub.end(state.collections.get(name), state.revision);
  });
  const healthAccess: HealthAccess = new HealthAccess(exchange => front.learnAccess(exchange));
  releases.add('the permissions for health endpoints', () => healthAccess.close());
  const state: State = new State(
    live,
    Date.now,
    change => {
      if (change.before) encodings.remove(change.before);
      hub.publish(change);
    },
    () => {
      access.policy++;
      healthAccess.policyChanged();
    },
    verdicts => proposals.settle(verdicts),
    answer => writer.settle(answer),
    moved => feed.port.postMessage(moved),
    settings.historyRetention,
  );
  const feed = store.feed(message => state.take(message));
  releases.add("the front end's feed", () => feed.port.close());
  writer.attach(feed.port);
  feed.port.once('close', () => proposals.writerEnded());
  feed.port.postMessage({ is: 'subscribe', prefixes: [''] });
  const reads = buildReadContext({
    state,
    hub,
    naming,
    cbor: data.features.includes(CBOR_GATE),
    tokens: new ContinueTokens(opened.shared?.secret ?? home.continueSecret),
    shared: opened.shared !== undefined,
    writer,
    catchUp: () => feed.catchUp(),
    pool: poolClient,
    encodings,
  });
  const hooks = {
    controllersStarted: postStartHook('start-controllers'),
    bootstrapped: postStartHook('rbac/bootstrap-roles'),
  };
  const checkStore = opened.shared ? () => writer.check() : rememberedCheck(() => writer.check(), releases);
  const requests = new RequestMetrics();
  const address = { host: addressOf(settings.bindAddress) ?? 'localhost', port: settings.port };
  const mostRecent = async (): Promise<number> => {
    await reads.mostRecent();
    return state.revision;
  };
  const paths = pathHandler({
    registry: () => live.current,
    naming,
    checks: checksOf(parts, checkStore, [hooks.controllersStarted, hooks.bootstrapped]),
    log,
    startedAt: Date.now(),
    livezGraceMs: settings.livezGracePeriod,
    metrics: serverMetrics(requests, credentials, observed, data),
    documents: plugins.at(httpDocuments),
    address,
    snapshot: exchange =>
      sendSnapshot(exchange, { writer, revision: mostRecent, storeName: settings.storage, now: Date.now }),
  });
  const front: Front = new Front({
    registry: () => live.current,
    state,
    pool: poolClient,
    proposals,
    reads,
    paths,
    log,
    metrics: requests,
    audit: openAudit(parts),
  });
  return { front, live, hooks, address, healthAccess, finishWatches: () => hub.finish(state.revision) };
}

/** A check of an embedded store that is answered at once. One of a remote store is not: it may fail at any time. */
function rememberedCheck(check: () => Promise<void>, releases: Releases): () => Awaitable<void> {
  const health = new StoreHealth(check);
  releases.add('checks of the store', () => health.close());
  return () => health.check();
}

/** What records requests; undefined without a log or a policy. Throws ConfigError. */
function openAudit({ settings, naming, scope: { log, releases } }: FrontEndParts): Audit | undefined {
  const policy = auditPolicyOf(settings);
  if (settings.auditLogPath === undefined || !policy) return undefined;
  const events = new AuditLog(settings.auditLogPath, log);
  releases.add('the audit log', () => events.close());
  return new Audit(policy, events, naming, Date.now);
}

/** All checks of the health endpoints, in the order in which they show them. */
const checksOf = (
  { plugins, opened, isClosing }: FrontEndParts,
  checkStore: () => Awaitable<void>,
  hooks: readonly PostStartHook[],
): HealthCheck[] => [
  ...plugins.at(healthCheck),
  storeCheck(checkStore, opened.shared !== undefined),
  ...hooks.map(hook => hook.check),
  registrationCheck(() => true),
  shutdownCheck(isClosing),
];
