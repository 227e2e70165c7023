#!/usr/bin/env node
import { ConfigError } from '../api/point.js';
import { toOneLine } from '../model/trailing.js';
import { helpText } from './options.js';
import { type Io, serve } from './serve.js';
import { ownVersion } from './version.js';

/** Exit code for bad flags or settings. */
const USAGE = 2;
/** Milliseconds after which a command that has ended does not wait for what plugins have left open. */
const LEFT_OPEN_MS = 1000;

const io: Io = {
  out: line => void process.stdout.write(`${line}\n`),
  err: line => void process.stderr.write(`${line}\n`),
};

async function cel(args: readonly string[]): Promise<number> {
  const { runCelTool } = await import('../cel/tool.js');
  return await runCelTool([...args], process);
}

async function run(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  if (args.includes('--help') || args.includes('-h') || command === 'help') {
    if (command !== 'cel') {
      io.out(helpText());
      return 0;
    }
  }
  if (command === 'version' || command === '--version') {
    io.out(`capstan ${ownVersion()}`);
    return 0;
  }
  if (command === 'cel') return await cel(rest);
  if (command === 'store') return await (await import('./store.js')).storeCommand(rest, io);
  if (command === 'auth') return await (await import('./auth.js')).authCommand(rest, io);
  if (command === 'snapshot') return await (await import('./snapshot.js')).snapshotCommand(rest, io);
  if (command === 'plugins' || command === 'plugin')
    return await (await import('./plugins.js')).pluginsCommand(rest, io);
  if (command === 'serve') return await serve(rest, io);
  if (command === undefined || command.startsWith('-')) return await serve(args, io);
  throw new ConfigError(
    command,
    'unknown command; the commands are serve, auth, plugins, plugin, store, snapshot, cel and version',
  );
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  io.err(`capstan: ${toOneLine(text)}`);
  process.exitCode = error instanceof ConfigError ? USAGE : 1;
}
// The other threads have ended. A timer or connection of a plugin in this one must not keep the process.
setTimeout(() => process.exit(), LEFT_OPEN_MS).unref();
