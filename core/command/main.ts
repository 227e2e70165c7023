#!/usr/bin/env node
import { ConfigError } from '../api/point.js';
import { toOneLine } from '../model/text/trailing.js';
import { setTimeout } from '../runtime/timers.js';
import { checkCommand } from './commands.js';
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

/** Prints the help that the arguments ask for. Loads the library that lays it out only now. */
async function printHelp(args: readonly string[]): Promise<number> {
  const { helpText } = await import('./help.js');
  const words = args.slice(args[0] === 'help' ? 1 : 0);
  const end = words.findIndex(word => word.startsWith('-'));
  io.out(helpText(end < 0 ? words : words.slice(0, end)).trimEnd());
  return 0;
}

/** The commands that are loaded when they are run, by their first words. */
const FAMILIES: { readonly [word: string]: (args: readonly string[]) => Promise<number> } = {
  cel,
  store: async args => await (await import('./subcommands/store.js')).storeCommand(args, io),
  auth: async args => await (await import('./subcommands/auth.js')).authCommand(args, io),
  snapshot: async args => await (await import('./subcommands/snapshot.js')).snapshotCommand(args, io),
  plugins: async args => await (await import('./subcommands/plugins.js')).pluginsCommand(args, io),
  plugin: async args => await (await import('./subcommands/plugins.js')).pluginsCommand(args, io),
  completion: async args => {
    process.stdout.write((await import('./completion.js')).completionScript(args));
    return 0;
  },
};

async function run(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  if (args.includes('--help') || command === 'help' || (args.includes('-h') && command !== 'cel'))
    return await printHelp(args);
  if (command === 'version' || command === '--version') {
    io.out(`capstan ${ownVersion()}`);
    return 0;
  }
  if (command === 'serve') return await serve(rest, io);
  if (command === undefined || command.startsWith('-')) return await serve(args, io);
  checkCommand(args);
  return await FAMILIES[command]!(rest);
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
