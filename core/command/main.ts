#!/usr/bin/env node
import { checkCommand } from './commands.js';
import { runCommand } from './run.js';
import { type Io, serve } from './serve.js';
import { ownVersion } from './version.js';

async function cel(args: readonly string[]): Promise<number> {
  const { runCelTool } = await import('../cel/tool.js');
  return await runCelTool([...args], process);
}

/** Prints the help that the arguments ask for. The library that lays it out is loaded only now. */
async function printHelp(args: readonly string[], io: Io): Promise<number> {
  const { helpText } = await import('./help.js');
  const words = args.slice(args[0] === 'help' ? 1 : 0);
  const end = words.findIndex(word => word.startsWith('-'));
  io.out(helpText(end < 0 ? words : words.slice(0, end)).trimEnd());
  return 0;
}

/** Exit code of a command whose output was closed: that of a program that SIGPIPE ends. */
const BROKEN_PIPE = 141;

/** Ends the process without an error when the reader of its output has closed it, as in `capstan get | head`. */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(BROKEN_PIPE);
  });
}

/** The commands that are loaded only when they are run, by their first words. */
const FAMILIES: { readonly [word: string]: (args: readonly string[], io: Io) => Promise<number> } = {
  cel,
  demo: async (args, io) => await (await import('./subcommands/demo.js')).demoCommand(args, io),
  status: async (args, io) => await (await import('./subcommands/status.js')).statusCommand(args, io),
  top: async (args, io) => await (await import('./subcommands/top.js')).topCommand(args, io),
  why: async (args, io) => await (await import('./subcommands/why.js')).whyCommand(args, io),
  get: async (args, io) => await (await import('./subcommands/get.js')).getCommand(args, io),
  apply: async (args, io) => await (await import('./subcommands/apply.js')).applyCommand(args, io),
  watch: async (args, io) => await (await import('./subcommands/watch.js')).watchCommand(args, io),
  convert: async (args, io) => await (await import('./manifests/convert.js')).convertCommand(args, io),
  'lint-api': async (args, io) => await (await import('./manifests/lintApi.js')).lintApiCommand(args, io),
  store: async (args, io) => await (await import('./store/store.js')).storeCommand(args, io),
  auth: async (args, io) => await (await import('./subcommands/auth.js')).authCommand(args, io),
  snapshot: async (args, io) => await (await import('./subcommands/snapshot.js')).snapshotCommand(args, io),
  plugins: async (args, io) => await (await import('./subcommands/plugins.js')).pluginsCommand(args, io),
  plugin: async (args, io) => await (await import('./subcommands/plugins.js')).pluginsCommand(args, io),
  kubeconfig: async (args, io) => await (await import('./subcommands/kubeconfig.js')).kubeconfigCommand(args, io),
  'exec-credential': async (args, io) =>
    await (await import('./subcommands/execCredential.js')).execCredentialCommand(args, io),
  completion: async args => {
    process.stdout.write((await import('./completion.js')).completionScript(args));
    return 0;
  },
};

async function run(args: readonly string[], io: Io): Promise<number> {
  const [command, ...rest] = args;
  if (args.includes('--help') || command === 'help' || (args.includes('-h') && command !== 'cel'))
    return await printHelp(args, io);
  if (command === 'version' || command === '--version') {
    io.out(`capstan ${ownVersion()}`);
    return 0;
  }
  if (command === 'serve') return await serve(rest, io);
  if (command === undefined || command.startsWith('-')) return await serve(args, io);
  checkCommand(args);
  endWithReader();
  return await FAMILIES[command]!(rest, io);
}

await runCommand('capstan', run);
