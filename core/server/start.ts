import { readFileSync } from 'node:fs';
import type { Binding, Listening } from '../api/listener.js';
import { namingOf } from '../naming.js';
import { checkPlugins } from '../plugin/load/check.js';
import { withClass } from '../plugin/load/errors.js';
import { CallCounters } from '../plugin/calls/callCounters.js';
import { logOf } from '../plugin/log.js';
import { checkJson } from '../plugin/load/checkTypes.js';
import { Releases } from '../plugin/releases.js';
import { namesIn } from '../schema/registry/live.js';
import type { Registry } from '../schema/resource.js';
import type { DataDirectory } from '../settings/dataDirectory.js';
import type { Settings } from '../settings/settings.js';
import type { PluginSpec, ThreadData } from '../threads/data.js';
import { threadScope } from '../threads/thread.js';
import { createThreads, type RunningFrontEnd, startFrontEnd } from '../../workers/front/main.js';
import { COUNTERS } from '../../workers/front/threads/writerThread.js';
import { urlHost } from '../settings/address.js';
import { checkAudit } from './audit.js';
import { checkSigning } from './certificateSigning.js';
import { checkControllers } from './controllers.js';
import { checkCredentialFiles } from './credentialFiles.js';
import { checkEtcd } from './etcd.js';
import { checkFeatures, featuresOf, featureWarnings } from './features.js';
import { checkServiceAccounts } from './serviceAccounts.js';
import { type DataPaths, fillDataDirectory, makeDataDirectory } from './dataDirectory.js';
import { type BuiltinInputs, builtInPlugins, pluginsOf } from './plugins.js';
import { divideSettings, unreplaceablePlugins } from './reload.js';
import { DEFAULTS } from './settings.js';

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
  /** Accepts no more connections, ends watches with a last bookmark, finishes requests in flight, closes the store. */
  close(): Promise<void>;
  /** Resolves with the reason if the server can no longer work. */
  readonly failed: Promise<Error>;
}

const checkAll = (settings: Settings): Settings =>
  checkControllers(
    checkAudit(checkSigning(checkFeatures(checkServiceAccounts(checkCredentialFiles(checkEtcd(settings)))))),
  );

/** The functions of a server for a program that runs nothing else, such as `capstan serve`. */
export interface OwnServer {
  /** The plugins that run now, and the counters of their calls. */
  readonly called: () => Pick<ThreadData, 'plugins' | 'calls'>;
  /**
   * Applies other settings, and has plugins be read anew, without losing connections or the store; `version` is that of
   * their modules. Resolves with the settings that differ and are applied by the next start alone. Throws as
   * `startServer`, and what a plugin throws when it is made; then nothing has changed, unless a controller has thrown.
   */
  readonly reload: (given: Partial<Settings>, version: number) => Promise<readonly string[]>;
}

const ownServers = new WeakMap<RunningServer, OwnServer>();

/** The functions of a server that `startServer` returned. */
export const ownServerOf = (server: RunningServer): OwnServer | undefined => ownServers.get(server);

/** Starts a server. Throws ConfigError for bad settings and StoreError for a store that cannot be used. */
export const startServer = (given: Partial<Settings> = {}): Promise<RunningServer> => startWith(given);

/**
 * As `startServer`. `version` is that of the modules of plugins, if they are to be read anew later (ModuleVersions).
 */
export async function startWith(given: Partial<Settings>, version?: number): Promise<RunningServer> {
  const began = performance.now();
  const checked = checkAll({ ...DEFAULTS, ...given });
  const plugins = await checkPlugins(checked.plugins, () => builtInPlugins(checked), version);
  const settings = { ...checked, plugins };
  const releases = new Releases();
  try {
    return await start(settings, given.dataDir === undefined && settings.storage === 'memory', began, releases);
  } catch (error) {
    await releases.run(logOf('server', settings));
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
  const log = logOf('server', settings);
  for (const warning of featureWarnings(settings)) log.warn({}, warning);
  checkJson(settings.resources);
  const paths = makeDataDirectory(settings, temporary, releases);
  const data = threadData(settings, paths, new SharedArrayBuffer(COUNTERS * 4));
  let current = { settings, data };
  const scope = threadScope(data, 'front', 'server', releases);
  // Threads load their modules while the files are made that their plugins read.
  const threads = createThreads(scope);
  const home = await fillDataDirectory(paths, settings, naming);
  const clientCa = settings.clientCaFile === undefined ? home.pki.caPem : readFileSync(settings.clientCaFile, 'utf8');
  const certificates = { rootCa: home.pki.caPem, clientCa };
  let closing: Promise<void> | undefined;
  const bindings = bindingsOf(settings, home);
  const frontEnd = await startFrontEnd({
    settings,
    naming,
    home,
    scope,
    threads,
    bindings,
    data: () => current.data,
    controlData: kinds => ({
      ...current.data,
      plugins: pluginsFor(current.settings, paths, { ...certificates, ...describe(kinds) }),
    }),
    isClosing: () => closing !== undefined,
  });
  const listening = await listen(frontEnd, bindings, settings.bindAddress, releases);
  // If it cannot start, it is replaced, and the failure is logged.
  threads.pool.current.complete().catch(() => undefined);
  const { pki } = home;
  const close = async (): Promise<void> => {
    if (settings.shutdownDelayDuration > 0) await new Promise(done => setTimeout(done, settings.shutdownDelayDuration));
    frontEnd.finishWatches();
    await releases.run(scope.log);
  };
  const server: RunningServer = {
    ...listening,
    kubeconfigPath: pki.kubeconfigPath(listening.url),
    kubeconfig: pki.kubeconfig(listening.url),
    token: home.adminToken,
    storeName: frontEnd.storeName,
    readyMs: performance.now() - began,
    close: () => (closing ??= close()),
    failed: frontEnd.failed,
  };
  ownServers.set(server, {
    called: () => current.data,
    async reload(given, version) {
      const { live, kept } = divideSettings(current.settings, checkAll({ ...DEFAULTS, ...given }));
      const plugins = await checkPlugins(live.plugins, () => builtInPlugins(live), version);
      const next = { ...live, plugins };
      const nextData = threadData(next, paths, data.counters);
      const replaced = unreplaceablePlugins(current.settings.plugins, plugins);
      await frontEnd.reload(nextData, () => (current = { settings: next, data: nextData }));
      return [...kept, ...replaced];
    },
  });
  return server;
}

/** The kinds that controllers are configured with: those that are served from the start. */
type Kinds = Pick<BuiltinInputs, 'takenNames' | 'groups'>;

const describe = (registry: Registry): Kinds => ({
  takenNames: [...namesIn(registry)],
  groups: Array.from(registry.groups.values(), ({ name, priority, versions }) => ({
    group: name,
    priority,
    versions: versions.filter(version => version.served).map(version => version.version),
  })),
});

/** Every plugin of the server. */
const pluginsFor = (
  settings: Settings,
  { storePath, ca, adminTokens, serviceAccountKeyFile }: DataPaths,
  inputs: Kinds & Pick<BuiltinInputs, 'rootCa' | 'clientCa'>,
): PluginSpec[] =>
  pluginsOf(settings, {
    caFile: ca.cert,
    caKeyFile: ca.key,
    storePath,
    adminTokens,
    serviceAccountKeyFile,
    ...inputs,
  });

/**
 * The data that every thread is started with. Kinds and certificates are described to the control thread alone, which
 * starts once they are known.
 */
function threadData(settings: Settings, paths: DataPaths, counters: SharedArrayBuffer): ThreadData {
  const plugins = pluginsFor(settings, paths, { rootCa: '', clientCa: '', takenNames: [], groups: [] });
  return {
    naming: settings.naming,
    plugins,
    resources: settings.resources,
    calls: CallCounters.memory(plugins.length),
    counters,
    verbosity: settings.verbosity,
    loggingFormat: settings.loggingFormat,
    // Where all requests are allowed, they must be authenticated (spec, "Anonymous requests").
    anonymous: settings.anonymousAuth && !settings.authorizationMode.includes('AlwaysAllow'),
    ...featuresOf(settings),
  };
}

/** The bindings of a server: HTTPS, and plain HTTP if it has a port for it. */
function bindingsOf({ bindAddress, port, httpPort, ...settings }: Settings, { pki }: DataDirectory): Binding[] {
  const tls = {
    certFile: settings.tlsCertFile ?? pki.certFile,
    keyFile: settings.tlsPrivateKeyFile ?? pki.keyFile,
    clientCaFile: settings.clientCaFile ?? pki.clientCaFile,
  };
  const http = httpPort === undefined ? [] : [{ host: '127.0.0.1', port: httpPort }];
  return [{ host: bindAddress, port, tls }, ...http];
}

/** Opens the listeners. Returns their addresses. */
async function listen(
  { front, listener, listeningThreads, address }: RunningFrontEnd,
  bindings: readonly Binding[],
  bindAddress: string,
  releases: Releases,
): Promise<Pick<RunningServer, 'url' | 'httpUrl'>> {
  const all: Listening[] = [];
  // Together: none may take connections while another drains.
  releases.add('the listeners', () => Promise.all(all.map(one => one.close())));
  for (const binding of bindings) all.push(await listener.listen(binding, exchange => front.handle(exchange)));
  for (const thread of listeningThreads) {
    for (const [i, target] of (await thread.ready()).entries()) all[i]!.share!(target);
    thread.serve();
  }
  const [https, http] = all as [Listening, Listening?];
  address.port = https.port;
  return {
    url: `https://${urlHost(bindAddress === '0.0.0.0' ? '127.0.0.1' : bindAddress)}:${https.port}`,
    ...(http ? { httpUrl: `http://127.0.0.1:${http.port}` } : {}),
  };
}
