import type { Log } from '../api/host.js';
import type { Settings } from '../settings/settings.js';
import { collectGarbageWhenIdle } from '../threads/collect.js';
import type { RunningServer } from '../server/start.js';
import { ConfigError } from '../api/point.js';
import { StoreError } from '../api/storage/errors.js';
import { logExits, logOf, logUncaught, logUnhandledRejections } from '../plugin/log.js';
import { messagesOf, stackOf } from '../plugin/calls/stack.js';
import { loadSettings } from './config.js';

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

function announce(server: RunningServer, io: Io): void {
  io.out(`listening on ${server.url}${server.httpUrl ? ` and ${server.httpUrl}` : ''}`);
  if (server.kubeconfigPath) io.out(`kubeconfig ${server.kubeconfigPath}`);
  io.out(`store ${server.storeName}`);
  io.out(`ready in ${Math.round(server.readyMs)} ms`);
}

/** Starts the server. Its modules are loaded only here, so that bad flags are reported without delay. */
const loadAndStart = async (settings: Settings): Promise<RunningServer> =>
  (await import('../server/start.js')).startServer(settings);

/**
 * Whether the message of an error of the start is not enough to find its cause: that of a plugin, or of the server
 * itself, but not of settings, a store or the system.
 */
const isUnexpected = (error: unknown): boolean =>
  (error as Error | null)?.cause !== undefined ||
  !(error instanceof ConfigError || error instanceof StoreError || (error as NodeJS.ErrnoException).code !== undefined);

/** Logs an error with the stack of what has caused it. */
function logStop(log: Log, what: string, error: unknown): void {
  const { cause = error } = (error ?? {}) as Partial<Error>;
  log.error({ stack: stackOf(cause) }, `${what}: ${messagesOf(error)}`);
}

/** Logs what ends this process, or would, with the plugin that it comes from. Returns a function that ends this. */
async function logEnds(server: RunningServer, log: Log): Promise<() => void> {
  const { pluginsIn } = await import('../server/start.js');
  const data = pluginsIn(server);
  if (!data) return () => undefined;
  const ends = [logUnhandledRejections(log, data), logUncaught(log, data), logExits(log, data)];
  return () => {
    for (const end of ends) end();
  };
}

/**
 * Runs a server in the foreground. Returns 0 after a signal and 1 after a failure. Throws ConfigError for bad flags.
 */
export async function serve(args: readonly string[], io: Io, start = loadAndStart): Promise<number> {
  const settings = loadSettings(args, io.err);
  const signal = waitForSignal(io);
  const log = logOf('server', settings);
  const server = await start(settings).catch((error: unknown) => {
    if (isUnexpected(error)) logStop(log, 'the server did not start', error);
    throw error;
  });
  const stopLogging = await logEnds(server, log);
  // Not in `startServer`: the main thread of a program that embeds a server has a heap of its own.
  const stopCollecting = collectGarbageWhenIdle();
  announce(server, io);
  const ended = await Promise.race([signal, server.failed]);
  try {
    if (ended === 'signal') {
      await server.close();
      return 0;
    }
    await server.close().catch(() => undefined);
  } finally {
    stopCollecting();
    stopLogging();
  }
  if (ended.cause !== undefined) logStop(log, 'the server stopped', ended);
  io.err(`the server stopped: ${ended.message}`);
  return 1;
}
