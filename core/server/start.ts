import { readFileSync } from 'node:fs';
import { LONGEST_TIMER_MS } from '../limits.js';
import { namingOf } from '../naming.js';
import { checkPlugins } from '../plugin/load/check.js';
import { withClass } from '../plugin/load/errors.js';
import { CallCounters } from '../plugin/calls/callCounters.js';
import { logOf } from '../plugin/log.js';
import { checkJson } from '../plugin/load/checkTypes.js';
import { Closers } from '../plugin/closers.js';
import { monotonicTime } from '../runtime/clock.js';
import { randomUUID } from '../runtime/random.js';
import { delay } from '../runtime/timers.js';
import { storageVersionsOf } from '../schema/registry/storageVersions.js';
import { namesIn } from '../schema/registry/takenNames.js';
import type { Registry } from '../schema/resource.js';
import { readGivenSettings } from '../settings/given.js';
import type { GivenSettings, Settings } from '../settings/settings.js';
import type { PluginSpec, ThreadData } from '../threads/data.js';
import { Inspection } from '../threads/inspection.js';
import { threadScope } from '../threads/thread.js';
import { createThreads, startFrontEnd } from '../../workers/front/main.js';
import { COUNTERS } from '../../workers/front/threads/writerThread.js';
import { checkAudit } from './audit.js';
import { type Authentication, authenticationWarnings, checkAuthentication } from './access/authentication.js';
import { checkAuthorization } from './access/authorization.js';
import { checkSigning } from './certificateSigning.js';
import { type ConsoleLink, makeConsoleLink } from './access/console.js';
import { checkControllers } from './controllers.js';
import { watchCertificates } from './access/certificates.js';
import { checkCredentialFiles } from './access/credentialFiles.js';
import { checkEtcd } from './etcd.js';
import { checkFeatures, featuresOf, featureWarnings } from './features.js';
import { checkServiceAccounts } from './serviceAccounts.js';
import { firstObjectsFile } from './firstObjects.js';
import { bindingsOf, openListeners } from './listeners.js';
import { type DataPaths, fillDataDirectory, makeDataDirectory } from './dataDirectory.js';
import { type BuiltinInputs, builtInPlugins, pluginsOf } from './plugins.js';
import { ProgramRequests } from './program/requests.js';
import type { ServerUser } from './program/types.js';
import { liveResources, serverUser, userOf } from './program/users.js';
import { divideSettings, unreplaceablePlugins } from './reload.js';
import { DEFAULTS } from './settings.js';

/** A server that answers requests. Its own `client` and `request` are those of the administrator. */
export interface RunningServer extends ServerUser {
  /**
   * Returns another user, for tests. Its requests are authorized like any request of that user. `system:authenticated`
   * is added to the groups. Throws TypeError for values that are not names.
   *
   * @example
   * const { status } = await server.as('alice', ['devs']).request('GET', '/api/v1/namespaces/shop/secrets');
   */
  as(user: string, groups?: readonly string[]): ServerUser;
  readonly url: string;
  readonly httpUrl?: string;
  readonly kubeconfigPath?: string;
  readonly kubeconfig: string;
  /** Bearer token of the administrator (group `system:masters`). */
  readonly token: string;
  /**
   * The URL of the console, with a secret that signs the administrator in once, in a browser on this machine within 10
   * minutes. Absent without a console.
   */
  readonly consoleUrl?: string;
  readonly storeName: string;
  /** Milliseconds from the call to the first possible request. */
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

/** The functions of a server for a program that does nothing but run it, such as `capstan serve`. */
export interface OwnServer {
  /** The plugins that run now, and the counters of their calls. */
  readonly called: () => Pick<ThreadData, 'plugins' | 'calls'>;
  /**
   * Makes the process end if a plugin blocks the event loop of the main thread for longer than allowed. Not for
   * programs that embed a server, whose own code may block it.
   */
  readonly watchMainThread: () => void;
  /**
   * Applies other settings, and loads plugins again, without closing connections or the store; `version` is that of
   * their modules. Resolves with the settings that differ and are applied only by the next start. Throws as
   * `startServer`, and errors of the new plugins; then nothing has changed, unless a controller has thrown.
   */
  readonly reload: (given: Settings, version: number) => Promise<readonly string[]>;
}

const ownServers = new WeakMap<RunningServer, OwnServer>();

/** The functions of a server that `startServer` returned. */
export const ownServerOf = (server: RunningServer): OwnServer | undefined => ownServers.get(server);

/**
 * Starts a server. Settings have their own names, or those of the configuration file. Throws ConfigError for bad or
 * unknown settings, and StoreError for a store that cannot be used.
 */
export const startServer = (given: GivenSettings = {}): Promise<RunningServer> => startWith(given);

/** Like `startServer`, with the version of the plugins' modules if they may be loaded again later (ModuleVersions). */
export async function startWith(given: GivenSettings, version?: number): Promise<RunningServer> {
  const began = monotonicTime();
  const named = readGivenSettings(given);
  const checked = checkAll({ ...DEFAULTS, ...named });
  const { settings, authentication } = await checkParts(checked, version);
  const closers = new Closers();
  try {
    const isTemporary = named.dataDir === undefined && settings.storage === 'memory';
    return await start(settings, authentication, isTemporary, began, closers);
  } catch (error) {
    await closers.closeAll(logOf('server', settings));
    throw withClass(error);
  }
}

/** Checks settings that depend on each other: policies, identity providers and plugins. Throws ConfigError. */
async function checkParts(
  given: Settings,
  version: number | undefined,
): Promise<{ readonly settings: Settings; readonly authentication: Authentication }> {
  const checked = await checkAuthorization(given);
  const authentication = await checkAuthentication(checked);
  const plugins = await checkPlugins(checked.plugins, () => builtInPlugins(checked), version);
  return { settings: { ...checked, plugins }, authentication };
}

async function start(
  settings: Settings,
  authentication: Authentication,
  temporary: boolean,
  began: number,
  closers: Closers,
): Promise<RunningServer> {
  const naming = namingOf(settings.naming);
  const log = logOf('server', settings);
  for (const warning of [...featureWarnings(settings), ...authenticationWarnings(settings, authentication.anonymous)])
    log.warn({}, warning);
  checkJson(settings.resources);
  const paths = makeDataDirectory(settings, temporary, closers);
  const link = makeConsoleLink(settings);
  const memory = { counters: new SharedArrayBuffer(COUNTERS * 4), inspection: Inspection.memory() };
  const data = threadData(settings, paths, authentication, memory, link);
  let current = { settings, data };
  const scope = threadScope(data, 'front', 'server', closers);
  // Threads load their modules while this thread creates the files that their plugins read.
  const threads = createThreads(scope, settings);
  const home = await fillDataDirectory(paths, settings, naming);
  const { pki } = home;
  const clientCa = settings.clientCaFile === undefined ? pki.caPem : readFileSync(settings.clientCaFile, 'utf8');
  const controlInputs = { rootCa: pki.caPem, clientCa, frontProxyCa: '', runId: randomUUID() };
  let closing: Promise<void> | undefined;
  const listenersOpened = watchCertificates({ settings, paths, pki, log }, closers);
  const bindings = bindingsOf(settings, home, paths);
  const frontEnd = await startFrontEnd({
    settings,
    naming,
    home,
    scope,
    threads,
    firstObjects: firstObjectsFile(settings),
    bindings,
    data: () => current.data,
    async beforeControllers() {
      controlInputs.frontProxyCa = await pki.frontProxyCa;
    },
    controlData: kinds => ({
      ...current.data,
      plugins: pluginsFor(current.settings, paths, { ...controlInputs, ...describe(kinds) }),
    }),
    isClosing: () => closing !== undefined,
  });
  const { renew, ...listening } = await openListeners(frontEnd, bindings, settings.bindAddress, closers);
  listenersOpened(renew);
  const requests = new ProgramRequests(frontEnd.front);
  closers.add('requests of the program', () => requests.close());
  const resources = liveResources(frontEnd.registry);
  const as: RunningServer['as'] = (user, groups) => serverUser(userOf(user, groups), requests, resources);
  // If it cannot start, it is replaced, and the failure is logged.
  threads.pool.current.complete().catch(() => undefined);
  const close = async (): Promise<void> => {
    if (settings.shutdownDelayDuration > 0) await delay(Math.min(settings.shutdownDelayDuration, LONGEST_TIMER_MS));
    frontEnd.finishWatches();
    await closers.closeAll(scope.log);
  };
  const server: RunningServer = {
    ...listening,
    ...as(naming.component('orchestrator-admin'), ['system:masters']),
    as,
    kubeconfigPath: pki.kubeconfigPath(listening.url),
    kubeconfig: pki.kubeconfig(listening.url),
    token: home.adminToken,
    ...(link ? { consoleUrl: `${listening.url}/console/#link=${link.secret}` } : {}),
    storeName: frontEnd.storeName,
    readyMs: monotonicTime() - began,
    close: () => (closing ??= close()),
    failed: frontEnd.failed,
  };
  ownServers.set(server, {
    called: () => current.data,
    watchMainThread: () => frontEnd.watchThread(),
    async reload(given, version) {
      const { live, kept } = divideSettings(current.settings, checkAll(given));
      const next = await checkParts(live, version);
      const nextData = threadData(next.settings, paths, next.authentication, data);
      const replaced = unreplaceablePlugins(current.settings.plugins, next.settings.plugins);
      await frontEnd.reload(nextData, () => (current = { settings: next.settings, data: nextData }));
      return [...kept, ...replaced];
    },
  });
  return server;
}

/** The kinds with which controllers are configured: those that are served from the start. */
type Kinds = Pick<BuiltinInputs, 'takenNames' | 'groups' | 'storageVersions'>;

const describe = (registry: Registry): Kinds => ({
  takenNames: [...namesIn(registry)],
  groups: Array.from(registry.groups.values(), ({ name, priority, versions }) => ({
    group: name,
    priority,
    versions: versions.filter(version => version.served).map(version => version.version),
  })),
  storageVersions: storageVersionsOf(registry),
});

/** Every plugin of the server. */
const pluginsFor = (
  settings: Settings,
  { storePath, ca, frontProxy, adminTokens, serviceAccountKeyFile }: DataPaths,
  inputs: Kinds & Pick<BuiltinInputs, 'rootCa' | 'clientCa' | 'frontProxyCa' | 'consoleLink' | 'runId'>,
): PluginSpec[] =>
  pluginsOf(settings, {
    caFile: ca.cert,
    caKeyFile: ca.key,
    frontProxy,
    storePath,
    adminTokens,
    serviceAccountKeyFile,
    ...inputs,
  });

/**
 * The data that every thread is started with. Only the control thread, which starts once they are known, gets the
 * kinds, the certificates and the id of the run.
 */
function threadData(
  settings: Settings,
  paths: DataPaths,
  { anonymous, issuer }: Authentication,
  { counters, inspection }: Pick<ThreadData, 'counters' | 'inspection'>,
  link?: ConsoleLink,
): ThreadData {
  const known = {
    rootCa: '',
    clientCa: '',
    frontProxyCa: '',
    runId: '',
    takenNames: [],
    groups: [],
    storageVersions: [],
    consoleLink: link?.digest,
    issuer,
  };
  const plugins = pluginsFor(settings, paths, known);
  return {
    naming: settings.naming,
    plugins,
    resources: settings.resources,
    calls: CallCounters.memory(plugins.length),
    inspection,
    counters,
    verbosity: settings.verbosity,
    loggingFormat: settings.loggingFormat,
    anonymous,
    ...featuresOf(settings),
  };
}
