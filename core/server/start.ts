import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { healthCheck, type HealthCheck } from '../api/control.js';
import { listener, type Listening } from '../api/listener.js';
import { resourceType } from '../api/resource.js';
import { AccessCache } from '../front/access.js';
import { ContinueTokens } from '../front/continueToken.js';
import { Front } from '../front/front.js';
import { Pool } from '../front/pool.js';
import { State } from '../front/state.js';
import { WatchHub } from '../front/watch.js';
import { postStartHook, registrationCheck, shutdownCheck, storeCheck, type PostStartHook } from '../health/checks.js';
import { RequestMetrics, scrapeOf } from '../metrics/index.js';
import { namingOf } from '../naming.js';
import { ensurePki, type Pki } from '../pki/index.js';
import { hostOf, logOf } from '../plugin/host.js';
import { loadPlugins } from '../plugin/load.js';
import type { LiveRegistry } from '../schema/live.js';
import type { Registry } from '../schema/resource.js';
import type { PluginSpec, ThreadData } from '../threads/data.js';
import { sendSnapshot } from '../snapshot/serve.js';
import { builtins, type Material } from './builtins.js';
import { Control } from './control.js';
import { checkEtcd } from './etcd.js';
import { controllerUser, internalExchange } from './internal.js';
import { pathHandler } from './paths.js';
import { Questions } from './questions.js';
import { readContext } from './readContext.js';
import { checkJson, checkTypes, liveRegistry, servedRegistry } from './registry.js';
import { type Settings, DEFAULTS } from './settings.js';
import { COUNTERS, PIPELINE, StoreThread } from './threads.js';

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

/** The administrator's token and the file that the token authenticator reads it from; made once. */
function adminToken(directory: string, user: string): { token: string; file: string } {
  const file = join(directory, 'admin-token.csv');
  if (!existsSync(file))
    writeFileSync(file, `${randomBytes(24).toString('base64url')},${user},${user},"system:masters"\n`, { mode: 0o600 });
  return { token: readFileSync(file, 'utf8').split(',')[0]!, file };
}

/** The secret that signs continue tokens: kept with the data, so that they survive a restart. */
function tokenSecret(directory: string): Uint8Array {
  const file = join(directory, 'continue.key');
  if (!existsSync(file)) writeFileSync(file, randomBytes(32), { mode: 0o600 });
  return readFileSync(file);
}

/** Starts a server. Throws ConfigError for bad settings and StoreError for a store that cannot be used. */
export async function startServer(given: Partial<Settings> = {}): Promise<RunningServer> {
  const began = performance.now();
  const settings: Settings = checkEtcd({ ...DEFAULTS, ...given });
  const undo: (() => unknown)[] = [];
  try {
    return await start(settings, given.dataDir === undefined && settings.storageBackend === 'memory', began, undo);
  } catch (error) {
    for (const release of undo.reverse()) await release();
    throw error;
  }
}

function directoryOf(settings: Settings, temporary: boolean, undo: (() => unknown)[]): string {
  if (temporary) {
    const made = mkdtempSync(join(tmpdir(), 'capstan-'));
    undo.push(() => rmSync(made, { recursive: true, force: true }));
    return made;
  }
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
  return resolve(settings.dataDir);
}

/** What controllers are told of the kinds that are there from the start. */
const described = (registry: Registry): Pick<Material, 'resources' | 'groups'> => ({
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

async function start(settings: Settings, temporary: boolean, began: number, undo: (() => unknown)[]): Promise<RunningServer> {
  const naming = namingOf(settings.naming);
  const log = logOf('server', settings.verbosity);
  const dataDir = directoryOf(settings, temporary, undo);
  const pki: Pki = ensurePki({ dataDir, sans: [settings.bindAddress, ...settings.tlsSan], naming, now: Date.now });
  const admin = adminToken(join(dataDir, 'pki'), naming.component('orchestrator-admin'));
  const local: PluginSpec = {
    use: new URL('../../plugins/authn/static-token.js', import.meta.url).href,
    config: { file: admin.file },
    threads: ['request'],
  };
  const specsFor = (registry: Registry): PluginSpec[] => [
    local,
    ...builtins(settings, { rootCa: pki.caPem, storePath: join(dataDir, 'store'), ...described(registry) }),
    ...settings.plugins,
  ];
  checkJson(settings.resources);
  const data: ThreadData = {
    naming: settings.naming,
    plugins: specsFor(servedRegistry(settings)),
    resources: settings.resources,
    counters: new SharedArrayBuffer(COUNTERS * 4),
    verbosity: settings.verbosity,
    anonymous: settings.anonymousAuth,
  };
  const store = new StoreThread(data);
  undo.push(() => store.close());
  const access = new AccessCache();
  const hub = new WatchHub();
  const questions = new Questions();
  let loaded: () => void = () => undefined;
  const isLoaded = new Promise<void>(done => {
    loaded = done;
  });
  const pool = new Pool(
    PIPELINE,
    Math.max(1, availableParallelism() - 1),
    data,
    port => {
      const counter = store.counterFor();
      port.postMessage({ counter });
      store.connect(port, counter);
    },
    log,
  );
  undo.push(() => pool.close());
  const frontPlugins = await loadPlugins(
    data.plugins,
    'front',
    hostOf(data, 'front', { onClose: release => undo.push(release) }),
  );
  const live: LiveRegistry = liveRegistry(data, frontPlugins, (registry, ended) => {
    state.adopt(registry);
    for (const name of ended) hub.end(state.collections.get(name), state.revision);
  });
  await checkTypes([...settings.resources, ...frontPlugins.at(resourceType)]);
  const state: State = new State(
    live,
    Date.now,
    change => hub.publish(change),
    () => access.policy++,
    verdicts => front.onVerdicts(verdicts),
    () => loaded(),
    answer => questions.answered(answer),
    settings.historyRetention,
  );
  const feed = store.feed(message => state.take(message));
  undo.push(() => feed.port.close());
  questions.port = feed.port;
  feed.port.postMessage({ is: 'subscribe', prefixes: [''] });
  let tokens = new ContinueTokens(tokenSecret(join(dataDir, 'pki')));
  let isShared = false;
  const reads = readContext({
    state,
    hub,
    naming,
    tokens: () => tokens,
    shared: () => isShared,
    questions,
    catchUp: () => feed.catchUp(),
    front: () => front,
  });

  let draining = false;
  const hooks = new Map<string, PostStartHook>();
  const hook = (name: string): PostStartHook => {
    const made = postStartHook(name);
    hooks.set(name, made);
    return made;
  };
  const controllersStarted = hook('start-controllers');
  const bootstrapped = hook('rbac/bootstrap-roles');
  const checks: HealthCheck[] = [
    ...frontPlugins.at(healthCheck),
    ...[...hooks.values()].map(h => h.check),
    registrationCheck(() => true),
    shutdownCheck(() => draining),
  ];
  const requests = new RequestMetrics();
  const paths = pathHandler({
    registry: () => live.current,
    naming,
    checks,
    log,
    startedAt: Date.now(),
    livezGraceMs: settings.livezGracePeriod,
    metrics: scrapeOf(requests),
    snapshot: exchange =>
      sendSnapshot(exchange, {
        questions,
        revision: async () => {
          await reads.mostRecent();
          return state.revision;
        },
        storeName: settings.storageBackend,
        now: Date.now,
      }),
  });
  const front: Front = new Front(() => live.current, state, pool, access, reads, paths, log, requests);

  const { storeName, shared } = await store.ready();
  if (shared) tokens = new ContinueTokens(shared.secret);
  isShared = shared !== undefined;
  checks.splice(
    frontPlugins.at(healthCheck).length,
    0,
    storeCheck(() => questions.check(), isShared),
  );
  const unusable = store.failed.then(error => {
    throw error;
  });
  await Promise.race([Promise.all([isLoaded, pool.ready()]), unusable]);
  // From here on `failed` tells; the race must not leave a rejection that nobody handles.
  unusable.catch(() => {
    draining = true;
  });
  const control = new Control({
    data: () => ({ ...data, plugins: specsFor(live.fixed) }),
    store,
    shared: shared !== undefined,
    handle: (ask, reply) => front.handleAs(internalExchange(ask, reply, naming), controllerUser(ask.controller, naming)),
    started: controller => controller === 'rbac-bootstrap' && bootstrapped.done(),
    ready: () => controllersStarted.done(),
  });
  undo.push(() => control.close());

  const [serve] = frontPlugins.at(listener);
  if (!serve) throw new Error('no listener could be loaded');
  const tls = {
    certFile: settings.tlsCertFile ?? pki.certFile,
    keyFile: settings.tlsPrivateKeyFile ?? pki.keyFile,
    clientCaFile: settings.clientCaFile ?? pki.clientCaFile,
  };
  const listening: Listening[] = [
    await serve.listen({ host: settings.bindAddress, port: settings.securePort, tls }, exchange => front.handle(exchange)),
  ];
  undo.push(() => Promise.all(listening.map(l => l.close())));
  if (settings.httpPort !== undefined)
    listening.push(await serve.listen({ host: '127.0.0.1', port: settings.httpPort }, exchange => front.handle(exchange)));
  const host = settings.bindAddress.includes(':')
    ? `[${settings.bindAddress}]`
    : settings.bindAddress === '0.0.0.0'
      ? '127.0.0.1'
      : settings.bindAddress;
  const url = `https://${host}:${listening[0]!.port}`;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    draining = true;
    if (settings.shutdownDelayDuration > 0) await new Promise(done => setTimeout(done, settings.shutdownDelayDuration));
    hub.finish(state.revision);
    for (const release of undo.splice(0).reverse()) await release();
  };
  return {
    url,
    ...(listening[1] ? { httpUrl: `http://127.0.0.1:${listening[1].port}` } : {}),
    kubeconfigPath: pki.kubeconfigPath(url),
    kubeconfig: pki.kubeconfig(url),
    token: admin.token,
    storeName,
    readyMs: performance.now() - began,
    close: () => (closing ??= close()),
    failed: Promise.race([store.failed, control.failed]),
  };
}
