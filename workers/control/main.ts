/**
 * The control thread: receives every object and runs the controllers. If several processes share a store, only the
 * leader runs them, except for those that describe a process: these run in each (`PluginSpec.everyServer`).
 */
import { type Controller, controller, postStartHook } from '../../core/api/control.js';
import { ConfigError } from '../../core/api/point.js';
import type { Log } from '../../core/api/host.js';
import { PluginFailure } from '../../core/api/point.js';
import { namingOf } from '../../core/naming.js';
import type { Plugins } from '../../core/plugin/load/load.js';
import { FollowedResources } from '../../core/plugin/resourceNames.js';
import { ServedResources } from '../../core/plugin/servedResources.js';
import { stackOf } from '../../core/plugin/calls/stack.js';
import { systemTime } from '../../core/runtime/clock.js';
import { collectGarbageSoon } from '../../core/threads/garbage.js';
import type { PluginSpec } from '../../core/threads/data.js';
import type { FromControlThread, ToControlThread } from '../../core/threads/messages/lifecycle.js';
import { ObjectFeed } from '../../core/threads/objectFeed.js';
import { Observations } from '../../core/threads/observations.js';
import { runThreadOrGuests } from '../../core/threads/sharedThread.js';
import type { Started } from '../../core/threads/thread.js';
import { Election, LEASES } from './election.js';
import { ControlObjects } from './controlObjects.js';
import { ControllerRequests } from './controllerRequests.js';

/** Storage name of definitions of kinds. */
const DEFINITIONS = 'apiextensions.orchestrator.io/customresourcedefinitions';

/** Throws ConfigError for a post-start hook whose controllers do not run: the hook would never complete. */
function checkHooks(hooks: ReturnType<typeof postStartHook.combine>, controllers: readonly Controller[]): void {
  const names = new Set(controllers.map(({ name }) => name));
  for (const { plugin, name, controllers: needed } of hooks)
    for (const missing of needed)
      if (!names.has(missing))
        throw new ConfigError(
          `plugins: ${plugin}`,
          `the post-start hook ${name} waits for the controller ${missing}, which does not run: add it, or omit the hook`,
        );
}

/** Whether the controllers of a plugin run before this process leads. Until then, they get no events of objects. */
const isOfEveryServer = ({ everyServer = false }: PluginSpec): boolean => everyServer;

type Post = (message: FromControlThread) => void;

/**
 * Starts the controllers: on a new store in the order that they ask for. If one fails to start, the error is logged and
 * the others are started.
 */
async function startAll(controllers: readonly Controller[], isNew: boolean, post: Post, log: Log): Promise<void> {
  const start = async (one: Controller): Promise<void> => {
    try {
      await one.start();
      post({ is: 'started', controller: one.name });
    } catch (error) {
      // The failure of a plugin has been logged already.
      if (error instanceof PluginFailure) return;
      log.error({ controller: one.name, stack: stackOf(error) }, 'starting a controller failed');
    }
  };
  const starts = new Map<string, Promise<void>>();
  for (const one of controllers) {
    const earlier = (isNew && one.startsAfter?.flatMap(name => starts.get(name) ?? [])) || [];
    const started = earlier.length > 0 ? Promise.all(earlier).then(() => start(one)) : start(one);
    // Several controllers may have the same name.
    starts.set(
      one.name,
      Promise.all([starts.get(one.name), started]).then(() => undefined),
    );
  }
  await Promise.all(starts.values());
  collectGarbageSoon();
}

runThreadOrGuests<ToControlThread, FromControlThread, Started<ToControlThread, FromControlThread>>({
  kind: 'control',
  name: 'control',
  async start({ data, log, closers, loadPlugins, fail }, { writer, shared, isNew, identity, resources: fixed }, post) {
    const objects = new ControlObjects(
      () => feed.catchUp(),
      key => {
        if (key.startsWith(`${LEASES}/`)) election?.onLeaseChange(key.slice(LEASES.length + 1));
      },
    );
    const feed = new ObjectFeed(writer, data.counters, objects);
    closers.add('the channel to the writer', () => feed.close());
    const resources = new ServedResources(fixed);
    const observations = new Observations(observed => post({ is: 'observed', observations: observed }));
    const requests = new ControllerRequests(
      request => post({ is: 'request', ...request }),
      () => objects.revision,
    );
    const election = shared
      ? new Election({
          identity,
          naming: namingOf(data.naming),
          request: request => requests.send('leader-election', request),
          lease: (namespace, name) => objects.informer(LEASES).get(namespace, name),
          now: systemTime,
          log: message => log.info({}, message),
          onLost: () => post({ is: 'demoted' }),
        })
      : undefined;
    closers.add('the election', () => election?.close());
    const followed = new FollowedResources();
    const load = (selects: (spec: PluginSpec) => boolean): Promise<Plugins> =>
      loadPlugins({
        selects,
        followed,
        informer: name => objects.informer(name),
        onChange: (name, listener) => objects.listen(listener, name),
        request: (name, request) => requests.send(name, request),
        watch: listener => objects.listen(listener),
        findByUid: uids => objects.findByUid(uids),
        resources,
        observe: (metric, labels, value) => observations.add(metric, labels, value),
      });
    const run = async (): Promise<void> => {
      if (election) {
        // The election does not wait for the controllers of every server, which may retry for a long time.
        const leads = election.lead();
        const own = await load(isOfEveryServer);
        void startAll(own.at(controller), false, post, log);
        await leads;
      }
      // This listener comes before those of the controllers, which ask for the kinds of definitions.
      objects.listen(({ type, object }) => {
        if (type !== 'DELETED') resources.addDefinition(object());
      }, DEFINITIONS);
      const plugins = await load(spec => !election || !isOfEveryServer(spec));
      const controllers = plugins.at(controller);
      checkHooks(plugins.at(postStartHook), controllers);
      post({ is: 'loaded', elsewhere: false });
      objects.start();
      const isServed = (storageName: string): boolean => resources.byStorageName(storageName) !== undefined;
      for (const warning of followed.warnings(isServed)) log.warn({}, warning);
      await startAll(controllers, isNew, post, log);
    };
    await feed.subscribe(['']);
    void election?.decided.then(leads => leads || post({ is: 'loaded', elsewhere: true }));
    run().catch(fail);
    return { ready: { is: 'ready' }, take: response => requests.handleResponse(response) };
  },
});
