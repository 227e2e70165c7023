import { aggregationRules } from '../../core/settings/aggregation.js';
import { OtherOpenApi } from './aggregation/otherOpenApi.js';
import { OtherDiscovery } from './aggregation/otherDiscovery.js';
import type { Settings } from '../../core/settings/settings.js';
import { type HealthCheck, healthCheck, postStartHook } from '../../core/api/control.js';
import { httpDocuments } from '../../core/api/document.js';
import { httpSite } from '../../core/api/site.js';
import { metrics as pluginMetrics } from '../../core/api/observe/metrics.js';
import type { Awaitable } from '../../core/api/point.js';
import { systemTime } from '../../core/runtime/clock.js';
import { registrationCheck, shutdownCheck, storeCheck } from '../../core/services/health/checks.js';
import { type ObservedMetrics, RequestMetrics, serverMetrics } from '../../core/services/metrics/index.js';
import type { RequestCounts } from '../../core/services/metrics/requests.js';
import type { DecisionRecord } from '../../core/api/observe/decisions.js';
import { Decisions } from '../../core/services/decisions/decisions.js';
import type { CredentialUse } from '../../core/api/access.js';
import type { Plugins } from '../../core/plugin/load/load.js';
import type { Closers } from '../../core/plugin/closers.js';
import { addressOf } from '../../core/settings/address.js';
import type { OpenedStore } from '../../core/threads/messages/lifecycle.js';
import { MAIN_FRONT } from '../../core/threads/proposalIds.js';
import type { ThreadReading } from '../../core/threads/scheduling.js';
import { decisionReader } from './decisions/readDecisions.js';
import { type BuiltFront, buildFront } from './buildFront.js';
import { type PathHandler, pathHandler } from './paths/routes.js';
import type { FrontEndInputs } from './threads/inputs.js';
import { setLabels } from './internal.js';
import { pathHandlers } from './paths/paths.js';
import type { Pools } from './pool/pools.js';
import type { readValues } from '../../core/services/encryption/index.js';
import { sendSnapshot, type SnapshotSource } from './paths/snapshotDownload.js';
import { StoreHealth } from './state/storeHealth.js';
import type { StoreThread } from './threads/writerThread.js';
import { StartHooks } from './startHooks.js';

/** The parts that the front end is built from. */
interface FrontEndParts extends FrontEndInputs {
  readonly plugins: Plugins;
  readonly store: StoreThread;
  readonly opened: OpenedStore;
  readonly pool: Pools;
  /** The counts of the plugins of the pool. */
  readonly observed: ObservedMetrics;
  /** Resolves with the counts of the listening threads. */
  readonly countsElsewhere: () => Promise<readonly RequestCounts[]>;
  /** Reads the times of all threads. */
  readonly readThreads: () => readonly ThreadReading[];
}

/** The front end of the main thread, with the parts that only this thread has: documents, health, metrics. */
export interface FrontEnd extends BuiltFront {
  /** Work after the start that health endpoints wait for. */
  readonly hooks: StartHooks;
  /** Where the server listens; set when it does. */
  readonly address: { readonly host: string; port: number };
  /** The handler of requests outside of the resources. */
  readonly paths: PathHandler;
  /** Takes the record of a request that was refused, or has changed something. */
  readonly decided: (record: DecisionRecord) => void;
  /** Counts a use of credentials, and records it in the objects that the credentials belong to. */
  readonly record: (use: CredentialUse) => void;
}

/**
 * Builds the front end on an opened store and begins to fill its cache. Throws ConfigError for resource types that
 * cannot be served.
 */
export async function buildFrontEnd(parts: FrontEndParts): Promise<FrontEnd> {
  const { settings, naming, home, scope, plugins, store, opened, pool, observed } = parts;
  const { log, closers } = scope;
  const hooks = new StartHooks(plugins.at(postStartHook));
  const metrics = new RequestMetrics();
  const address = { host: addressOf(settings.bindAddress) ?? 'localhost', port: settings.port };
  const record = ({ counters, labels }: CredentialUse): void => {
    if (counters) for (const metric of counters) observed.observe(metric, {}, 1);
    if (labels) setLabels(built.front, labels, naming, log);
  };
  const decisions = new Decisions();
  const decided = (record: DecisionRecord): void => decisions.add(record);
  let paths!: PathHandler;
  const built: BuiltFront = await buildFront({
    scope,
    plugins,
    settings,
    aggregation: aggregationRules(settings, home.pki.frontProxy),
    number: MAIN_FRONT,
    feed: take => store.feed(take),
    pool,
    takeOutcomes: () => pool.takeOutcomes(),
    decided,
    record,
    shared: opened.shared !== undefined,
    continueSecret: opened.shared?.secret ?? home.continueSecret,
    metrics,
    observe: (metric, labels, value) => observed.observe(metric, labels, value),
    paths({ live, state, reads, writer, aggregation }) {
      const mostRecent = async (): Promise<number> => {
        await reads.mostRecent();
        return state.revision;
      };
      const checkStore = opened.shared ? () => writer.check() : rememberedCheck(() => writer.check(), closers);
      const handlers = pathHandlers({
        registry: () => live.current,
        naming,
        checks: () => checksOf(parts, checkStore, hooks),
        log,
        startedAt: systemTime(),
        livezGraceMs: settings.livezGracePeriod,
        metrics: serverMetrics(metrics, observed, plugins.at(pluginMetrics), {
          called: parts.data,
          countsElsewhere: parts.countsElsewhere,
          readThreads: parts.readThreads,
          data: scope.data,
        }),
        documents: () => plugins.at(httpDocuments),
        sites: () => plugins.at(httpSite),
        otherDiscovery: new OtherDiscovery(aggregation),
        otherOpenApi: new OtherOpenApi(aggregation),
        records: decisionReader({ decisions, slices: reads.slices, pool, naming }),
        address,
        snapshot: exchange =>
          sendSnapshot(exchange, {
            writer,
            revision: mostRecent,
            unreadable: () => state.unreadable,
            storeName: settings.storage,
            now: systemTime,
            ...snapshotValues(settings, {
              log,
              naming,
              observe: (metric, labels, value) => observed.observe(metric, labels, value),
            }),
          }),
      });
      paths = pathHandler(handlers);
      return paths;
    },
  });
  return { ...built, hooks, address, paths, decided, record };
}

/** Snapshots are encrypted with the configuration file of the store's encryption, as it is when they are taken. */
function snapshotValues(
  { encryptionProviderConfig: file }: Settings,
  host: Parameters<typeof readValues>[1],
): Pick<SnapshotSource, 'values'> {
  if (file === undefined) return {};
  return { values: async () => (await import('../../core/services/encryption/index.js')).readValues(file, host) };
}

/**
 * A check of an embedded store, answered at once by a recent result. A remote store is asked: it may fail at any time.
 */
function rememberedCheck(check: () => Promise<void>, closers: Closers): () => Awaitable<void> {
  const health = new StoreHealth(check);
  closers.add('checks of the store', () => health.close());
  return () => health.check();
}

/** All checks of the health endpoints, in the order in which they show them. */
const checksOf = (
  { plugins, opened, isClosing }: FrontEndParts,
  checkStore: () => Awaitable<void>,
  hooks: StartHooks,
): HealthCheck[] => [
  ...plugins.at(healthCheck),
  storeCheck(checkStore, opened.shared !== undefined),
  ...hooks.checks,
  registrationCheck(() => true),
  shutdownCheck(isClosing),
];
