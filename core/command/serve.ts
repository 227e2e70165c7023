import type { Log } from '../api/host.js';
import type { Settings } from '../settings/settings.js';
import { collectGarbageWhenIdle } from '../threads/garbage.js';
import { keepOptimized } from '../threads/optimization.js';
import { setTimeout } from '../runtime/timers.js';
import type { OwnServer, RunningServer } from '../server/start.js';
import { ConfigError } from '../api/point.js';
import { logExits, logOf, logUncaught, logUnhandledRejections } from '../plugin/log.js';
import { PLUGIN_ERROR } from '../plugin/load/errors.js';
import { messagesOf, stackOf } from '../plugin/calls/stack.js';
import { loadSettings, type SettingsRules } from './config.js';
import { type Flags, parseFlags } from './flags.js';
import { closeInspector, openInspector } from './inspect.js';
import { announce } from './terminal/announce.js';
import { withProgress } from './terminal/progress.js';

/** Starts a server; `version` is that of the modules of its plugins (ModuleVersions). */
type StartServer = (settings: Settings, version?: number) => Promise<RunningServer>;

/** The output streams of a command, line by line; replaced in tests. */
export interface Io {
  out(line: string): void;
  err(line: string): void;
}

/**
 * Ends the process by the default action of SIGINT (exit status 130 in shells). `process.exit` is not safe while native
 * code is running in other threads.
 */
function endBySignal(): void {
  process.removeAllListeners('SIGINT');
  process.kill(process.pid, 'SIGINT');
}

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once. */
function waitForSignal(io: Io): Promise<'signal'> {
  return new Promise(resolve => {
    let signals = 0;
    const on = (signal: NodeJS.Signals): void => {
      signals++;
      if (signals > 1) endBySignal();
      io.err(`${signal}: draining; a second signal exits at once`);
      resolve('signal');
    };
    process.on('SIGINT', on);
    process.on('SIGTERM', on);
  });
}

/**
 * Some threads start after the server answers requests. By the end of this time, in milliseconds, they have loaded
 * their modules.
 */
const LOADED_MS = 10_000;

/**
 * Starts the server as the only one in this process. Its modules are loaded only here, so that bad flags are reported
 * without delay.
 */
const loadAndStart: StartServer = async (settings, version) => {
  const server = await (await import('../server/start.js')).startWith(settings, version);
  setTimeout(keepOptimized, LOADED_MS).unref();
  return server;
};

/** Errors of a thread or a plugin that ended, or did not start. */
const ENDS: readonly string[] = ['ThreadError', PLUGIN_ERROR];
/** Errors that are usually mistakes in code. */
const MISTAKES = [TypeError, RangeError, ReferenceError];

/** Whether the message of an error is not enough to find its cause: it was caused by code, not by settings or files. */
function isUnexpected(error: unknown): boolean {
  if (error instanceof ConfigError) return error.cause !== undefined;
  return ENDS.includes((error as Error | null)?.name ?? '') || MISTAKES.some(mistake => error instanceof mistake);
}

/** Logs an error with the stack of its cause. */
function logStop(log: Log, what: string, error: unknown): void {
  const { cause = error } = (error ?? {}) as Partial<Error>;
  log.error({ stack: stackOf(cause) }, `${what}: ${messagesOf(error)}`);
}

/**
 * Logs errors that end this process, or would, with the plugin that caused them. Returns a function that stops this.
 */
function logEnds({ called }: OwnServer, log: Log): () => void {
  const ends = [logUnhandledRejections(log, called), logUncaught(log, called), logExits(log, called)];
  return () => {
    for (const end of ends) end();
  };
}

/** Prepares, before the server starts, the watcher that reloads its plugins when they change. */
async function prepareWatch({ config, watch }: Flags, settings: Settings) {
  if (!watch) return undefined;
  const [{ checkWatch, watchServer }, { ModuleVersions }] = await Promise.all([
    import('./watch.js'),
    import('../plugin/load/moduleVersions.js'),
  ]);
  return { settings, config: checkWatch(config, settings), versions: new ModuleVersions(), watchServer };
}

/** The differences between a command that runs a server and `capstan serve`. */
export interface ServeOptions extends SettingsRules {
  /** Starts the server; replaced in tests. */
  readonly start?: StartServer;
  /** Called when the server has started, before it is announced. */
  readonly started?: (settings: Settings) => void;
}

/**
 * Runs a server in the foreground. Returns 0 after a signal and 1 after a failure. Throws ConfigError for bad flags.
 */
export async function serve(
  args: readonly string[],
  io: Io,
  { start = loadAndStart, started, ...rules }: ServeOptions = {},
): Promise<number> {
  const settings = loadSettings(args, io.err, rules);
  const flags = parseFlags(args, rules.flags);
  const { inspect } = flags;
  const watch = await prepareWatch(flags, settings);
  if (inspect) openInspector(inspect, io.err);
  const signal = waitForSignal(io);
  const log = logOf('server', settings);
  const starting = start(settings, watch?.versions.current).catch((error: unknown) => {
    if (isUnexpected(error)) logStop(log, 'the server did not start', error);
    throw error;
  });
  const server = await withProgress('starting the server', starting);
  const { ownServerOf } = await import('../server/start.js');
  const own = ownServerOf(server);
  const stopLogging = own && logEnds(own, log);
  own?.watchMainThread();
  // Not in `startServer`: the main thread of a program that embeds a server has a heap of its own.
  const stopCollecting = collectGarbageWhenIdle();
  started?.(settings);
  announce(server, settings.naming, io.out.bind(io));
  const stopWatching =
    watch &&
    own &&
    watch.watchServer({
      ...watch,
      server: own,
      load: () => loadSettings(args, undefined, rules),
      out: io.out,
      failed(line, error) {
        if (error !== undefined && isUnexpected(error)) logStop(log, 'the plugins were not reloaded', error);
        io.err(line);
      },
    });
  const ended = await Promise.race([signal, server.failed]);
  stopWatching?.();
  try {
    if (ended === 'signal') {
      await server.close();
      if (inspect) closeInspector();
      return 0;
    }
    await server.close().catch(() => undefined);
  } finally {
    stopCollecting();
    stopLogging?.();
  }
  if (isUnexpected(ended)) logStop(log, 'the server stopped', ended);
  io.err(`the server stopped: ${ended.message}`);
  return 1;
}
