import type { Settings } from '../server/settings.js';
import type { RunningServer } from '../server/start.js';
import { settingsOf } from './config.js';

/** Where a command writes, and what it hears of the world; replaced in tests. */
export interface Io {
  out(line: string): void;
  err(line: string): void;
}

/**
 * Ends the process by SIGINT's default action, which shells report as 130: `process.exit` would run into native code
 * that is still at work.
 */
function die(): void {
  process.removeAllListeners('SIGINT');
  process.kill(process.pid, 'SIGINT');
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
function signalled(io: Io): Promise<'signal'> {
  return new Promise(resolve => {
    let signals = 0;
    const on = (signal: NodeJS.Signals): void => {
      signals++;
      if (signals > 1) die();
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

/** Loads the server only after the flags were found good: a bad flag is answered at once. */
const startReal = async (settings: Settings): Promise<RunningServer> =>
  (await import('../server/start.js')).startServer(settings);

/** Runs a server in the foreground until a signal (0) or a failure (1). Throws ConfigError for bad flags. */
export async function serve(args: readonly string[], io: Io, start = startReal): Promise<number> {
  const settings = settingsOf(args);
  const signal = signalled(io);
  const server = await start(settings);
  announce(server, io);
  const ended = await Promise.race([signal, server.failed]);
  if (ended === 'signal') {
    await server.close();
    return 0;
  }
  await server.close().catch(() => undefined);
  io.err(`the server stopped: ${ended.message}`);
  return 1;
}
