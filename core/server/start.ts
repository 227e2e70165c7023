import { type Listener, listener, type Listening } from '../api/listener.js';
import { type Naming, namingOf } from '../naming.js';
import { checkPlugins } from '../plugin/check.js';
import { withClass } from '../plugin/errors.js';
import { FailureCounters } from '../plugin/failures.js';
import { Releases } from '../plugin/releases.js';
import { logOf } from '../plugin/log.js';
import { loadPlugins } from '../plugin/load.js';
import { FUTURE_REVISION_MS } from '../limits.js';
import type { Registry } from '../schema/resource.js';
import type { PluginSpec, ThreadData } from '../threads/data.js';
import { type BuiltinInputs, builtInPlugins, pluginsOf } from './plugins.js';
import { ControlThread } from '../../workers/front/controlThread.js';
import { checkEtcd } from './etcd.js';
import { type FrontEnd, frontEnd, startPool } from '../../workers/front/frontEnd.js';
import { type Home, openHome } from './home.js';
import { controllerUser, internalExchange } from '../../workers/front/internal.js';
import { checkJson, servedRegistry } from '../plugin/registry.js';
import { DEFAULTS, type Settings } from './settings.js';
import { COUNTERS, StoreThread } from '../../workers/front/storeThread.js';

/** A server that answers requests. */
export interface RunningServer {
  readonly url: string;
  readonly httpUrl?: string;
  readonly kubeconfigPath?: string;
  readonly kubeconfig: string;
  /** Bearer token of the administrator (group `system:masters`). */
  readonly token: string;
  readonly storeName: string;
  /** From the call to the first possible request, in ms. */
  readonly readyMs: number;
  /** Drains: no new connections, watches end with their last bookmark, requests under way finish, the store closes. */
  close(): Promise<void>;
  /** Resolves with the reason if the server can no longer work. */
  readonly failed: Promise<Error>;
}

/** Starts a server. Throws ConfigError for bad settings and StoreError for a store that cannot be used. */
export async function startServer(given: Partial<Settings> = {}): Promise<RunningServer> {
  const began = performance.now();
  const checked: Settings = checkEtcd({ ...DEFAULTS, ...given });
  const plugins = await checkPlugins(checked.plugins, () => builtInPlugins(checked));
  const settings = { ...checked, plugins };
  const releases = new Releases();
  try {
    return await start(settings, given.dataDir === undefined && settings.storage === 'memory', began, releases);
  } catch (error) {
    await releases.run(logOf('server', settings.verbosity));
    throw withClass(error);
  }
}

async function start(
  settings: Settings,
  temporary: boolean,
  began: number,
  releases: Releases,
): Promise<RunningServer> {
  const naming = namingOf(settings.naming);
  const log = logOf('server', settings.verbosity);
  checkJson(settings.resources);
  const home = await openHome(settings, naming, temporary, releases);
  const data = threadData(settings, home);
  const store = new StoreThread(data);
  releases.add('the store', () => store.close());
  const pool = startPool(data, store, log);
  releases.add('the pool', () => pool.close());
  const plugins = await loadPlugins(data, 'front', { releases });
  store.begin();
  const opened = await store.ready();
  let draining = false;
  const parts = { settings, naming, home, data, plugins, store, opened, pool, log, releases, draining: () => draining };
  const made = await frontEnd(parts);
  const { control, bootstrapped } = startControl(
    settings,
    home,
    data,
    store,
    opened.shared !== undefined,
    made,
    naming,
  );
  releases.add('the controllers', () => control.close());
  const failed = Promise.race([store.failed, control.failed]);
  // A store that has been used has the default roles of its last start; waiting for the controllers' view of all its
  // objects is not worth it.
  const isNew = opened.revision === 0;
  await orThrow(failed, Promise.all([made.loaded, pool.ready(), isNew ? bootstrapped : undefined]));
  const serve = plugins.at(listener).at(-1);
  if (!serve) throw new Error('no listener could be loaded');
  const listening = await listen(serve, settings, home, made, releases);
  const { pki } = home;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    draining = true;
    if (settings.shutdownDelayDuration > 0) await new Promise(done => setTimeout(done, settings.shutdownDelayDuration));
    made.finishWatches();
    await releases.run(log);
  };
  return {
    ...listening,
    kubeconfigPath: pki.kubeconfigPath(listening.url),
    kubeconfig: pki.kubeconfig(listening.url),
    token: home.admin.token,
    storeName: opened.storeName,
    readyMs: performance.now() - began,
    close: () => (closing ??= close()),
    failed,
  };
}

/** What controllers are told of the kinds that are there from the start. */
const described = (registry: Registry): Pick<BuiltinInputs, 'resources' | 'groups'> => ({
  resources: registry.stored.map(r => ({
    apiVersion: r.apiVersion,
    kind: r.kind,
    plural: r.plural,
    namespaced: r.namespaced,
    storageName: r.storageName,
    verbs: r.verbs,
  })),
  groups: Array.from(registry.groups.values(), ({ name, priority, versions }) => ({
    group: name,
    priority,
    versions: versions.filter(version => version.served).map(version => version.version),
  })),
});

/** Every plugin of the server, for the kinds of a registry. */
const pluginsFor = (settings: Settings, { pki, admin, storePath }: Home, registry: Registry): PluginSpec[] =>
  pluginsOf(settings, { rootCa: pki.caPem, storePath, adminTokens: admin.file, ...described(registry) });

/** What every thread is started with. */
function threadData(settings: Settings, home: Home): ThreadData {
  const plugins = pluginsFor(settings, home, servedRegistry(settings));
  return {
    naming: settings.naming,
    plugins,
    resources: settings.resources,
    failures: FailureCounters.memory(plugins.length),
    counters: new SharedArrayBuffer(COUNTERS * 4),
    verbosity: settings.verbosity,
    // Who is allowed everything is to be known (spec 2, "Anonymous requests").
    anonymous: settings.anonymousAuth && !settings.authorizationMode.includes('AlwaysAllow'),
  };
}

/**
 * Starts the controllers. `bootstrapped` resolves when the default roles and bindings are there: before, permissions
 * that every server has would be missing. Their requests wait until the cache holds all objects.
 */
function startControl(
  settings: Settings,
  home: Home,
  data: ThreadData,
  store: StoreThread,
  shared: boolean,
  { front, live, loaded, hooks }: FrontEnd,
  naming: Naming,
): { control: ControlThread; bootstrapped: Promise<void> } {
  let isBootstrapped: () => void = () => undefined;
  const bootstrapped = new Promise<void>(resolve => {
    isBootstrapped = resolve;
  });
  const control = new ControlThread({
    data: () => ({ ...data, plugins: pluginsFor(settings, home, live.fixed) }),
    store,
    shared,
    handle: (request, reply) =>
      void loaded
        .then(() => front.state.reaches(request.revision, FUTURE_REVISION_MS))
        .then(() =>
          front.handleAs(internalExchange(request, reply, naming), controllerUser(request.controller, naming)),
        ),
    started: controller => {
      if (controller !== 'rbac-bootstrap') return;
      hooks.bootstrapped.done();
      isBootstrapped();
    },
    loaded: () => hooks.controllersStarted.done(),
  });
  return { control, bootstrapped };
}

/** The outcome of `work`, unless the server fails before. */
async function orThrow<T>(failed: Promise<Error>, work: Promise<T>): Promise<T> {
  const failure = failed.then(error => {
    throw error;
  });
  // Later `failed` tells; the race must not leave a rejection that nobody handles.
  failure.catch(() => undefined);
  return await Promise.race([work, failure]);
}

/** Opens the listeners and gives their addresses. */
async function listen(
  serve: Listener,
  settings: Settings,
  { pki }: Home,
  { front }: FrontEnd,
  releases: Releases,
): Promise<Pick<RunningServer, 'url' | 'httpUrl'>> {
  const { bindAddress, port, httpPort } = settings;
  const tls = {
    certFile: settings.tlsCertFile ?? pki.certFile,
    keyFile: settings.tlsPrivateKeyFile ?? pki.keyFile,
    clientCaFile: settings.clientCaFile ?? pki.clientCaFile,
  };
  const all: Listening[] = [];
  // Together: none may take connections while another drains.
  releases.add('the listeners', () => Promise.all(all.map(one => one.close())));
  const open = async (binding: Parameters<Listener['listen']>[0]): Promise<Listening> => {
    const opened = await serve.listen(binding, exchange => front.handle(exchange));
    all.push(opened);
    return opened;
  };
  const https = await open({ host: bindAddress, port, tls });
  const http = httpPort === undefined ? undefined : await open({ host: '127.0.0.1', port: httpPort });
  return {
    url: `https://${reachable(bindAddress)}:${https.port}`,
    ...(http ? { httpUrl: `http://127.0.0.1:${http.port}` } : {}),
  };
}

/** An address of this machine under which `bound` is reached, as it stands in a URL. */
function reachable(bound: string): string {
  if (bound === '0.0.0.0') return '127.0.0.1';
  return bound.includes(':') ? `[${bound}]` : bound;
}
