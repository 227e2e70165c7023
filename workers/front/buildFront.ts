import type { CredentialUse } from '../../core/api/access.js';
import type { DecisionRecord } from '../../core/api/observe/decisions.js';
import type { Host, Log } from '../../core/api/host.js';
import { CBOR_GATE, COMPRESSION_GATE } from '../../core/features/gates.js';
import { systemTime } from '../../core/runtime/clock.js';
import type { RequestMetrics } from '../../core/services/metrics/index.js';
import { namingOf } from '../../core/naming.js';
import { checkTypes } from '../../core/plugin/load/checkTypes.js';
import type { Plugins } from '../../core/plugin/load/load.js';
import { httpSite } from '../../core/api/site.js';
import { resourceSource } from '../../core/api/resource.js';
import { liveRegistry, resourceTypes } from '../../core/plugin/registry.js';
import type { LiveRegistry } from '../../core/schema/registry/live.js';
import type { AggregationRules } from '../../core/settings/aggregation.js';
import type { Settings } from '../../core/settings/settings.js';
import type { StoreFeed } from '../../core/threads/feed.js';
import type { FedMessage } from '../../core/threads/messages/messages.js';
import { MAIN_FRONT } from '../../core/threads/proposalIds.js';
import type { ThreadScope } from '../../core/threads/thread.js';
import { Aggregation } from './aggregation/aggregation.js';
import { AccessCache, type KnownObjects } from './access/access.js';
import { openAudit } from './audit/openAudit.js';
import { buildReadContext } from './reads/buildReadContext.js';
import { ContinueTokens } from './reads/continueToken.js';
import { EncodingCache } from './forms/encodingCache.js';
import { Front } from './front.js';
import type { PathHandler } from './paths/routes.js';
import { HealthAccess } from './access/healthAccess.js';
import type { JobRunner } from './pool/pool.js';
import { PoolClient } from './pool/poolClient.js';
import { Proposals } from './write/proposals.js';
import type { ReadContext } from './reads/readContext.js';
import { State } from './state/state.js';
import { WatchHub } from './watch/watchHub.js';
import { lostDeletion } from './answers/refusals.js';
import { WriterClient } from './state/writerClient.js';

/** Largest number of resources that are named in the log because authorizers depend on them and they are not stored. */
const WARNED_RESOURCES = 100;

/** The parts that a front end is built from, in the main thread and in each listening thread. */
export interface FrontSources {
  readonly scope: ThreadScope;
  readonly plugins: Plugins;
  readonly settings: Pick<Settings, 'naming' | 'historyRetention' | 'auditPolicyFile'>;
  readonly aggregation: AggregationRules;
  /** Number of the front end; that of the main thread moves values in memory for all. */
  readonly number: number;
  /** Connects to the writer. */
  readonly feed: (take: (message: FedMessage) => void) => StoreFeed;
  readonly pool: JobRunner;
  /** Takes outcomes of jobs that threads of the pool have written. Called before verdicts are taken. */
  readonly takeOutcomes?: () => void;
  /** Takes the record of a request that was refused, or has changed something. */
  readonly decided: (record: DecisionRecord) => void;
  /** Called with the record about credentials. */
  readonly record: (use: CredentialUse) => void;
  /** Whether other processes write to the store. */
  readonly shared: boolean;
  readonly continueSecret: Uint8Array;
  readonly metrics: RequestMetrics;
  /** Adds to the metrics that plugins define. */
  readonly observe: Host<'front'>['observe'];
  /** Makes the handler of requests outside of the resources. */
  readonly paths: (front: Omit<BuiltFront, 'front'>) => PathHandler;
}

/** A front end: the cache of all objects, the watches, and the handlers of requests. */
export interface BuiltFront {
  readonly front: Front;
  readonly live: LiveRegistry;
  readonly state: State;
  readonly reads: ReadContext;
  readonly writer: WriterClient;
  readonly aggregation: Aggregation;
  readonly healthAccess: HealthAccess;
  /** Ends every watch with its last bookmark. */
  finishWatches(): void;
  /**
   * Serves the kinds of other plugins, and drops identities and permissions that the previous plugins have returned.
   */
  reload(plugins: Plugins): void;
}

/** Largest number of unreadable objects that are logged one by one. */
const LOGGED_UNREADABLE = 100;

/**
 * Logs objects that cannot be read. Only the first ones are: if a key is missing, it may be all objects of a resource.
 */
function unreadableLog(log: Pick<Log, 'error'>): State['onUnreadable'] {
  let left = LOGGED_UNREADABLE;
  return ({ key, reason }) => {
    if (left-- > 0) log.error({ key }, `the object cannot be read, and lists of its resource fail: ${reason}`);
    if (left === 0) log.error({}, 'more objects cannot be read, which are not logged');
  };
}

/**
 * Builds a front end, and begins to fill its cache. Throws ConfigError for resource types that cannot be served. Its
 * resources are released with the scope.
 */
export async function buildFront(sources: FrontSources): Promise<BuiltFront> {
  const { scope, plugins, settings, number, shared, metrics } = sources;
  const { data, log } = scope;
  const naming = namingOf(settings.naming);
  const access = accessCache(() => state, log);
  const hub = new WatchHub();
  metrics.countWatches(() => hub.size);
  const writer = new WriterClient();
  const proposals = new Proposals(number);
  const encodings = new EncodingCache();
  const pool = new PoolClient(sources.pool, access, systemTime, sources.record);
  await checkTypes(resourceTypes(data, plugins).custom, naming);
  const live = liveRegistry(data, plugins, log, (registry, ended) => {
    state.adopt(registry);
    for (const name of ended) hub.end(state.collections.get(name), state.revision);
  });
  const healthAccess = openHealthAccess(scope, exchange => front.learnAccess(exchange));
  const state: State = new State(
    live,
    systemTime,
    change => {
      if (change.before) encodings.remove(change.before);
      if (access.decisive.has(change.collection)) healthAccess.policyChanged();
      hub.publish(change);
    },
    verdicts => {
      if (verdicts.length > 0) sources.takeOutcomes?.();
      proposals.settle(verdicts);
    },
    answer => writer.settle(answer),
    number === MAIN_FRONT ? moved => feed.port.postMessage(moved) : undefined,
    settings.historyRetention,
    number === MAIN_FRONT ? unreadableLog(log) : undefined,
    (collection, key) => hub.fail(collection, key, lostDeletion()),
  );
  const feed = openFeed(sources, state);
  writer.attach(feed.port);
  feed.port.once('close', () => proposals.writerEnded());
  feed.port.postMessage({ is: 'subscribe', prefixes: [''] });
  const reads = buildReadContext({
    state,
    hub,
    naming,
    cbor: data.features.includes(CBOR_GATE),
    tokens: new ContinueTokens(sources.continueSecret),
    shared,
    writer,
    catchUp: () => feed.catchUp(),
    pool,
    encodings,
  });
  const finishWatches = (): void => hub.finish(state.revision);
  const reload = (next: Plugins): void => {
    feed.catchUp();
    const entriesOf = (name: string) => state.collections.get(name)?.entries.values() ?? [];
    live.replace(resourceTypes(data, next).custom, next.at(resourceSource), entriesOf, state.revision);
    access.reset();
    healthAccess.policyChanged();
  };
  const aggregation = openAggregation(sources, () => state);
  const built = { live, state, reads, writer, aggregation, healthAccess, finishWatches, reload };
  const front: Front = new Front({
    registry: () => live.current,
    state,
    pool,
    proposals,
    reads,
    paths: sources.paths(built),
    sites: () => plugins.at(httpSite),
    aggregation,
    log,
    metrics,
    audit: openAudit(sources),
    compression: data.features.includes(COMPRESSION_GATE),
    decided: sources.decided,
  });
  return { ...built, front };
}

/** Follows the writer until the scope is released. */
function openFeed({ feed, scope }: FrontSources, state: State): ReturnType<FrontSources['feed']> {
  const opened = feed(message => state.take(message));
  scope.closers.add("the front end's feed", () => opened.port.close());
  return opened;
}

/** Asks for the permissions for health endpoints until the scope is released. */
function openHealthAccess(
  { closers }: ThreadScope,
  ...learn: ConstructorParameters<typeof HealthAccess>
): HealthAccess {
  const opened = new HealthAccess(...learn);
  closers.add('the permissions for health endpoints', () => opened.close());
  return opened;
}

/** Passes requests on to other servers until the scope is released. */
function openAggregation({ aggregation, scope }: FrontSources, state: () => State): Aggregation {
  const opened = new Aggregation(state, aggregation, scope.log);
  scope.closers.add('the connections to other servers', () => opened.close());
  return opened;
}

/** The cache of identities and permissions, which depend on the objects of the front end. */
function accessCache(state: () => State, log: Log): AccessCache {
  const warned = new Set<string>();
  const objects: KnownObjects = {
    revision: () => state().revision,
    revisionOf: key => state().find(key)?.revision,
    resource: name => state().collections.get(name),
  };
  return new AccessCache(objects, name => {
    if (warned.has(name) || warned.size >= WARNED_RESOURCES) return;
    warned.add(name);
    log.warn(
      { resource: name },
      'an authorizer depends on a resource that is not stored: its decisions are not cached; dependsOn takes storage names',
    );
  });
}
