/**
 * The control thread: receives every object and runs the controllers. If several processes share a store, only those of
 * the leader run.
 */
import { parentPort } from 'node:worker_threads';
import { type Controller, controller } from '../../core/api/control.js';
import type { Log } from '../../core/api/host.js';
import { namingOf } from '../../core/naming.js';
import { FollowedResources } from '../../core/plugin/resourceNames.js';
import { ServedResources } from '../../core/plugin/servedResources.js';
import { collectGarbageSoon } from '../../core/threads/collect.js';
import type { FromControlThread, ToControlThread } from '../../core/threads/messages/lifecycle.js';
import { ObjectFeed } from '../../core/threads/objectFeed.js';
import { Observations } from '../../core/threads/observations.js';
import { fail, runThread, type Started } from '../../core/threads/thread.js';
import { Election, LEASES } from './election.js';
import { ControlObjects } from './controlObjects.js';
import { ControllerRequests } from './controllerRequests.js';

/** Storage name of definitions of kinds. */
const DEFINITIONS = 'apiextensions.orchestrator.io/customresourcedefinitions';
/** The controller that makes the default roles. */
const BOOTSTRAP = 'rbac-bootstrap';
/** The controller that makes most other objects of a new store, which no client waits for. */
const LATER = 'system-objects';

type Post = (message: FromControlThread) => void;

/** Reports a post-start hook as done: another process leads and performs the task. */
function follow(post: Post): void {
  post({ is: 'loaded' });
  post({ is: 'started', controller: BOOTSTRAP });
}

/**
 * Starts the controllers. If one fails to start, the error is logged and the others are started. A fresh server waits
 * for the default roles, so that the many writes of LATER come after them.
 */
async function startAll(controllers: readonly Controller[], isFresh: boolean, post: Post, log: Log): Promise<void> {
  const start = async (one: Controller): Promise<void> => {
    try {
      await one.start();
      post({ is: 'started', controller: one.name });
    } catch (error) {
      log.error({ controller: one.name, why: (error as Error).message }, 'starting a controller failed');
    }
  };
  const bootstrap = controllers.find(({ name }) => name === BOOTSTRAP);
  const roles = bootstrap && start(bootstrap);
  await Promise.all(
    controllers.map(async one => {
      if (one === bootstrap) return;
      if (isFresh && one.name === LATER) await roles;
      await start(one);
    }),
  );
  await roles;
  collectGarbageSoon();
}

void runThread<ToControlThread, FromControlThread, Started<ToControlThread, FromControlThread>>({
  kind: 'control',
  name: 'control',
  port: parentPort!,
  async start({ data, log, releases, loadPlugins }, { writer, shared, identity, resources: fixed }, post) {
    const objects = new ControlObjects(
      () => feed.catchUp(),
      key => {
        if (key.startsWith(`${LEASES}/`)) election?.onLeaseChange(key.slice(LEASES.length + 1));
      },
    );
    const feed = new ObjectFeed(writer, data.counters, objects);
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
          now: Date.now,
          log: message => log.info({}, message),
          onLost: () => post({ is: 'demoted' }),
        })
      : undefined;
    releases.add('the election', () => election?.close());
    const run = async (): Promise<void> => {
      await election?.lead();
      const followed = new FollowedResources();
      // Before those of the controllers, which ask for the kinds of definitions.
      objects.listen(({ type, object }) => {
        if (type !== 'DELETED') resources.addDefinition(object());
      }, DEFINITIONS);
      const plugins = await loadPlugins({
        followed,
        informer: name => objects.informer(name),
        onChange: (name, listener) => objects.listen(listener, name),
        request: (name, request) => requests.send(name, request),
        watch: listener => objects.listen(listener),
        resources,
        observe: (metric, labels, value) => observations.add(metric, labels, value),
      });
      const controllers = plugins.at(controller);
      post({ is: 'loaded' });
      objects.start();
      const isServed = (storageName: string): boolean => resources.byStorageName(storageName) !== undefined;
      for (const warning of followed.warnings(isServed)) log.warn({}, warning);
      await startAll(controllers, isFresh, post, log);
    };
    await feed.subscribe(['']);
    const isFresh = objects.revision === 0;
    void election?.decided.then(leads => leads || follow(post));
    run().catch(fail);
    return { ready: { is: 'ready' }, take: response => requests.handleResponse(response) };
  },
});
