/** The front end's thread, which is the main one: creates the other threads, and handles their messages. */
import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';
import { threadId } from 'node:worker_threads';
import { type Listener, listener } from '../../core/api/listener.js';
import { ConfigError } from '../../core/api/point.js';
import { service } from '../../core/api/plugin/pluginService.js';
import { FUTURE_REVISION_MS } from '../../core/limits.js';
import { delay } from '../../core/runtime/timers.js';
import { ObservedMetrics } from '../../core/services/metrics/index.js';
import { metrics } from '../../core/api/observe/metrics.js';
import { checkTypes } from '../../core/plugin/load/checkTypes.js';
import type { Plugins } from '../../core/plugin/load/load.js';
import { resourceTypes } from '../../core/plugin/registry.js';
import type { Closers } from '../../core/plugin/closers.js';
import { fixedResourcesOf } from '../../core/plugin/servedResources.js';
import { hasOwnRole } from '../../core/settings/controllerAccounts.js';
import { aggregationRules } from '../../core/settings/aggregation.js';
import type { Settings } from '../../core/settings/settings.js';
import type { OpenedStore } from '../../core/threads/messages/lifecycle.js';
import type { Registry } from '../../core/schema/resource.js';
import { MAIN_FRONT } from '../../core/threads/proposalIds.js';
import { hasOnlyBuiltIns, type ThreadData } from '../../core/threads/data.js';
import { ownNativeId, readThread, type ThreadReading } from '../../core/threads/scheduling.js';
import type { ThreadScope } from '../../core/threads/thread.js';
import { ControlThread } from './threads/controlThread.js';
import type { Front } from './front.js';
import { buildFrontEnd, type FrontEnd } from './frontEnd.js';
import type { FrontEndInputs, Threads } from './threads/inputs.js';
import { controllerUser, internalExchange, requestAsServer } from './internal.js';
import { ListeningThread } from './listening/listeningThread.js';
import { FrontPlugins } from './frontPlugins.js';
import { Pool } from './pool/pool.js';
import { Pools } from './pool/pools.js';
import { countServer } from './threads/serverThread.js';
import { StoreThread } from './threads/writerThread.js';

/**
 * How long the start of a server on a used store waits for the post-start hooks, if the last start seems to have ended
 * before them: something may keep their controllers from starting.
 */
const HOOKS_MS = 5000;

/** Threads of the pool: one per core besides the front end's own, and one for jobs that may take long. */
const POOL_THREADS = Math.max(1, availableParallelism() - 1) + 1;

/** A front end that can answer requests. */
export interface RunningFrontEnd {
  readonly front: Front;
  /** The kinds that are served now. */
  readonly registry: () => Registry;
  readonly listener: Listener;
  /** Threads that serve connections instead of this one; empty if this one does. */
  readonly listeningThreads: readonly ListeningThread[];
  readonly storeName: string;
  /** Resolves with the reason when the server can no longer work. */
  readonly failed: Promise<Error>;
  /** Where the server listens; set when it does. */
  readonly address: { port: number };
  /** Ends every watch with its last bookmark. */
  finishWatches(): void;
  /**
   * Has the writer end the process when this thread no longer returns to its event loop, if it runs plugins of the
   * configuration.
   */
  watchThread(): void;
  /**
   * Runs other plugins from now on: those of `data`, which must be the data of new threads once `use` has been called.
   * Requests in flight continue with the previous ones. Throws ConfigError, and the error of a plugin when it is made;
   * then nothing has changed, except if only controllers could not be made.
   */
  reload(data: ThreadData, use: () => void): Promise<void>;
}

/**
 * Creates the writer's thread and the pool; both are released with the scope. A further server of the process begins
 * with one thread in its pool. Its writer shares a thread with other writers if its store has no files: waiting for
 * files would delay them.
 */
export function createThreads(
  { data, log, closers }: ThreadScope,
  { storage, showHiddenMetricsForVersion }: Pick<Settings, 'storage' | 'showHiddenMetricsForVersion'>,
): Threads {
  const { isFurther, end } = countServer();
  closers.add('the count of servers', end);
  const observed = new ObservedMetrics(log, showHiddenMetricsForVersion);
  const isGuest = isFurther && storage === 'memory' && hasOnlyBuiltIns(data);
  const store = new StoreThread(data, isGuest, observations => observed.take(observations), log);
  closers.add('the store', () => store.close());
  const pool = new Pools(
    poolData =>
      new Pool({
        threads: POOL_THREADS,
        first: isFurther ? 1 : POOL_THREADS,
        module: new URL('../pool/main.js', import.meta.url),
        data: poolData,
        connect: () => store.channel({ reacts: false }),
        observed: observations => observed.take(observations),
        log,
      }),
    data,
  );
  closers.add('the pool', () => pool.close());
  return { store, pool, observed, isFurther };
}

/**
 * Has the threads begin, and builds the front end. Resolves when requests can be answered: the threads that answer them
 * are ready, and the cache has the objects of all resources but large ones, for which requests wait. Throws
 * ConfigError, and StoreError for a store that cannot be used; everything made until then is released with the scope.
 */
export async function startFrontEnd(inputs: FrontEndInputs): Promise<RunningFrontEnd> {
  const { scope, threads } = inputs;
  const { store, pool, observed } = threads;
  const { closers } = scope;
  pool.current.begin();
  let serving: Front | undefined;
  const plugins = await loadPlugins(inputs, () => serving);
  await pool.current.startServices(plugins.at(service));
  store.begin(inputs.firstObjects);
  const opened = await store.ready();
  const serve = listenerOf(plugins, inputs.settings);
  const listeningThreads: ListeningThread[] = [];
  const countsElsewhere = () => Promise.all(listeningThreads.map(thread => thread.counts()));
  let control: ControlThread | undefined;
  const readThreads = (): ThreadReading[] => [
    readThread('front', { threadId, performance }, ownNativeId()),
    ...[...listeningThreads, store, ...(control ? [control] : [])].map(({ reading }) => reading),
    ...pool.readings,
  ];
  const parts = { plugins, store, opened, pool, observed, countsElsewhere, readThreads };
  const frontEnd = await buildFrontEnd({ ...inputs, ...parts });
  listeningThreads.push(...startListening(inputs, frontEnd, opened));
  const { loading } = frontEnd.state;
  const ready = Promise.all([loading.first, pool.current.ready(), ...listeningThreads.map(thread => thread.ready())]);
  const begin = () => startControl(inputs, frontEnd, store, opened);
  const { front, healthAccess, hooks, finishWatches, address } = frontEnd;
  serving = front;
  let isWatched = false;
  const watchThread = (): void => {
    isWatched = true;
    if (!hasOnlyBuiltIns(plugins.calls)) store.watchMain({ ...plugins.calls, nativeId: ownNativeId() });
  };
  await unlessFailed(store.failed, inputs.beforeControllers());
  let failed: Promise<Error>;
  if (opened.isNew) {
    const first = (control = begin());
    closers.add('the controllers', () => first.close());
    failed = Promise.race([store.failed, first.failed]);
    await unlessFailed(failed, Promise.all([ready, hooks.done]));
    await healthAccess.refresh();
  } else {
    // A store that has been used has the objects that the hooks of its last start made. Controllers, which read all
    // objects as well, begin after the parts that answer requests.
    await unlessFailed(store.failed, ready);
    failed = Promise.race([store.failed, beginLater(loading.all, closers, () => (control = begin()))]);
    await healthAccess.refresh();
    if (!healthAccess.isAllowed && inputs.scope.data.anonymous) {
      // The last start may have ended before it had written the default roles, which allow it.
      await unlessFailed(failed, Promise.race([hooks.done, delay(HOOKS_MS, { ref: false })]));
      await healthAccess.refresh();
    }
  }
  return {
    address,
    front,
    registry: () => frontEnd.live.current,
    listener: serve,
    listeningThreads,
    storeName: opened.storeName,
    failed: Promise.race([failed, ...listeningThreads.map(thread => thread.failed)]),
    finishWatches,
    watchThread,
    async reload(data, use) {
      const next = await plugins.prepare(data);
      const usePool = await orElse(next.discard, async () => {
        await checkTypes(resourceTypes(data, next.plugins).custom, inputs.naming);
        observed.check(next.plugins.at(metrics));
        return await pool.prepare(data, next.plugins.at(service));
      });
      use();
      const completed = usePool(next.use());
      frontEnd.reload(next.plugins);
      if (isWatched) watchThread();
      observed.replace(next.plugins.at(metrics));
      await Promise.all([completed, control?.restart()]);
    },
  };
}

/** Loads the plugins of the front end. `serving` returns the front end once it answers requests. */
function loadPlugins({ scope, threads, naming }: FrontEndInputs, serving: () => Front | undefined) {
  return FrontPlugins.load(scope, {
    observe: (metric, labels, value) => threads.observed.observe(metric, labels, value),
    async request(name, request) {
      const front = serving();
      if (!front) throw new Error('request is available once the server answers requests, not before');
      return await requestAsServer(front, name, request, naming);
    },
  });
}

/** Resolves with the result of `work`. If it fails, calls `undo` and then rejects. */
async function orElse<T>(undo: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await undo();
    throw error;
  }
}

/** The listener that serves. Throws ConfigError if several threads are to listen, and it does not support that. */
function listenerOf(plugins: Plugins, { listeningThreads }: Settings): Listener {
  const found = plugins.at(listener).at(-1);
  if (!found) throw new Error('no listener could be loaded');
  if (listeningThreads > 1 && !found.join)
    throw new ConfigError(
      '--listening-threads',
      `the listener ${found.name} serves in one thread; use --listener=uws, or leave this flag out`,
    );
  return found;
}

/** Starts the listening threads, if more than one is configured. */
function startListening(
  { settings, scope: { data, log, closers }, threads: { store, pool, observed }, home, bindings }: FrontEndInputs,
  { live, paths, decided, record }: FrontEnd,
  opened: OpenedStore,
): ListeningThread[] {
  const count = settings.listeningThreads > 1 ? settings.listeningThreads : 0;
  const { naming, historyRetention, auditPolicyFile } = settings;
  const threads = Array.from({ length: count }, (_, i) => {
    const front = MAIN_FRONT + 1 + i;
    return new ListeningThread(
      { data, log, pool, registry: () => live.current, paths, decided, record, observed: all => observed.take(all) },
      {
        writer: store.channel({ reacts: true, front }),
        front,
        shared: opened.shared !== undefined,
        continueSecret: opened.shared?.secret ?? home.continueSecret,
        settings: { naming, historyRetention, auditPolicyFile },
        aggregation: aggregationRules(settings, home.pki.frontProxy),
        bindings,
      },
    );
  });
  closers.add('the listening threads', () => Promise.all(threads.map(thread => thread.close())));
  return threads;
}

/**
 * Begins the controllers when `time` resolves, unless the server is closed before. Resolves with the reason if they
 * fail.
 */
async function beginLater(time: Promise<void>, closers: Closers, begin: () => ControlThread): Promise<Error> {
  let control: ControlThread | undefined;
  let isClosed = false;
  closers.add('the controllers', async () => {
    isClosed = true;
    await control?.close();
  });
  await time;
  // Controllers that have not begun cannot fail.
  if (isClosed) return await new Promise<never>(() => undefined);
  control = begin();
  return await control.failed;
}

/**
 * Starts the controllers. Requests of controllers wait until the cache holds all objects, and those of controllers with
 * a role of their own until the post-start hooks are done, one of which makes that role.
 */
function startControl(
  { naming, settings, scope, controlData, threads }: FrontEndInputs,
  { front, state, live, hooks }: FrontEnd,
  store: StoreThread,
  { shared, isNew }: OpenedStore,
): ControlThread {
  return new ControlThread({
    data: () => controlData(live.fixed),
    store,
    log: scope.log,
    shared: shared !== undefined,
    isNew,
    isFurther: threads.isFurther,
    resources: () => fixedResourcesOf(live.fixed),
    observed: observations => threads.observed.take(observations),
    async handle(request, reply) {
      await state.loading.all;
      await state.reaches(request.revision, FUTURE_REVISION_MS);
      const ownRole = settings.useServiceAccountCredentials && hasOwnRole(request.controller);
      if (ownRole) await hooks.done;
      const user = controllerUser(request.controller, naming, ownRole);
      front.handleAs(internalExchange(request, reply, naming), user);
    },
    started: controller => hooks.started(controller),
    loaded: elsewhere => hooks.loaded(elsewhere),
  });
}

/** Resolves with the result of `work`. Rejects if the server fails before. */
async function unlessFailed<T>(failed: Promise<Error>, work: Promise<T>): Promise<T> {
  const failure = failed.then(error => Promise.reject(error));
  // After the race, its rejection would be unhandled.
  failure.catch(() => undefined);
  return await Promise.race([work, failure]);
}
