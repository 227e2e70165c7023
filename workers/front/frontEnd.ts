import { type HealthCheck, healthCheck } from '../../core/api/control.js';
import { httpDocuments } from '../../core/api/document.js';
import { AccessCache } from './access.js';
import { ContinueTokens } from './continueToken.js';
import { Front } from './front.js';
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
import { RequestMetrics, serverMetrics } from '../../core/metrics/index.js';
import type { Plugins } from '../../core/plugin/load.js';
import type { LiveRegistry } from '../../core/schema/live.js';
import { sendSnapshot } from './snapshot.js';
import type { OpenedStore } from '../../core/threads/lifecycle.js';
import { pathHandler } from './paths.js';
import { WriterClient } from './writerClient.js';
import { buildReadContext } from './buildReadContext.js';
import { checkTypes } from '../../core/plugin/checkTypes.js';
import { liveRegistry, resourceTypes } from '../../core/plugin/registry.js';
import type { StoreThread } from './storeThread.js';

/** What the front end is built of. */
interface FrontEndParts extends FrontEndInputs {
  readonly plugins: Plugins;
  readonly store: StoreThread;
  readonly opened: OpenedStore;
  readonly pool: Pool;
}

/** The parts of the main thread: the cache of all objects, watches, and the front that answers from them. */
export interface FrontEnd {
  readonly front: Front;
  readonly live: LiveRegistry;
  /** Resolves once every stored object is in the cache. */
  readonly loaded: Promise<void>;
  /** Work after the start that health endpoints wait for. */
  readonly hooks: { readonly controllersStarted: PostStartHook; readonly bootstrapped: PostStartHook };
  /** Ends every watch with its last bookmark. */
  finishWatches(): void;
}

/**
 * Builds the front end on an opened store and begins to fill its cache. Throws ConfigError for resource types that
 * cannot be served.
 */
export async function buildFrontEnd(parts: FrontEndParts): Promise<FrontEnd> {
  const { settings, naming, home, scope, plugins, store, opened, pool } = parts;
  const { data, log, releases } = scope;
  const access = new AccessCache(key => state.find(key)?.revision);
  const hub = new WatchHub();
  const writer = new WriterClient();
  const proposals = new Proposals();
  const poolClient = new PoolClient(pool, access, Date.now);
  let isLoaded: () => void = () => undefined;
  const loaded = new Promise<void>(resolve => {
    isLoaded = resolve;
  });
  await checkTypes(resourceTypes(data, plugins).custom, naming);
  const live = liveRegistry(data, plugins, log, (registry, ended) => {
    state.adopt(registry);
    for (const name of ended) hub.end(state.collections.get(name), state.revision);
  });
  const state: State = new State(
    live,
    Date.now,
    change => hub.publish(change),
    () => access.policy++,
    verdicts => proposals.settle(verdicts),
    () => isLoaded(),
    answer => writer.settle(answer),
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
    tokens: new ContinueTokens(opened.shared?.secret ?? home.continueSecret),
    shared: opened.shared !== undefined,
    writer,
    catchUp: () => feed.catchUp(),
    pool: poolClient,
  });
  const hooks = {
    controllersStarted: postStartHook('start-controllers'),
    bootstrapped: postStartHook('rbac/bootstrap-roles'),
  };
  const requests = new RequestMetrics();
  const mostRecent = async (): Promise<number> => {
    await reads.mostRecent();
    return state.revision;
  };
  const paths = pathHandler({
    registry: () => live.current,
    naming,
    checks: checksOf(parts, writer, [hooks.controllersStarted, hooks.bootstrapped]),
    log,
    startedAt: Date.now(),
    livezGraceMs: settings.livezGracePeriod,
    metrics: serverMetrics(requests, data),
    documents: plugins.at(httpDocuments),
    snapshot: exchange =>
      sendSnapshot(exchange, { writer, revision: mostRecent, storeName: settings.storage, now: Date.now }),
  });
  const front = new Front({
    registry: () => live.current,
    state,
    pool: poolClient,
    proposals,
    reads,
    paths,
    log,
    metrics: requests,
  });
  return { front, live, loaded, hooks, finishWatches: () => hub.finish(state.revision) };
}

/** All checks of the health endpoints, in the order in which they show them. */
const checksOf = (
  { plugins, opened, isClosing }: FrontEndParts,
  writer: WriterClient,
  hooks: readonly PostStartHook[],
): HealthCheck[] => [
  ...plugins.at(healthCheck),
  storeCheck(() => writer.check(), opened.shared !== undefined),
  ...hooks.map(hook => hook.check),
  registrationCheck(() => true),
  shutdownCheck(isClosing),
];
