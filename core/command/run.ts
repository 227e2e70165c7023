import { ConfigError } from '../api/point.js';
import { toOneLine } from '../model/text/trailing.js';
import { setTimeout } from '../runtime/timers.js';
import type { Io } from './serve.js';

/** Exit code for bad flags or settings. */
const USAGE = 2;
/** Milliseconds for which a command that has ended waits for handles that plugins have left open. */
const LEFT_OPEN_MS = 1000;

const io: Io = {
  out: line => void process.stdout.write(`${line}\n`),
  err: line => void process.stderr.write(`${line}\n`),
};

/**
 * Runs a program with the arguments of the process, and sets its exit code: the result of `main`, 2 for bad settings
 * and 1 for other errors, which are written to standard error as one line.
 */
export async function runCommand(
  name: string,
  main: (args: readonly string[], io: Io) => Promise<number>,
): Promise<void> {
  try {
    process.exitCode = await main(process.argv.slice(2), io);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    io.err(`${name}: ${toOneLine(text)}`);
    process.exitCode = error instanceof ConfigError ? USAGE : 1;
  }
  // The other threads have ended. A timer or connection of a plugin in this one must not keep the process alive.
  setTimeout(() => process.exit(), LEFT_OPEN_MS).unref();
}
