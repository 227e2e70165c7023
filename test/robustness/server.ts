import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { addCertificates } from '../support/certificates.js';
import type { FaultSettings } from './shim.js';

const COMMAND = resolve('dist/core/command/main.js');
const SHIM = pathToFileURL(resolve('dist/test/robustness/shim.js')).href;
const START_MS = 60_000;
/** The number of characters of the output that are kept. */
const OUTPUT_LENGTH = 20_000;

/**
 * A server process that can be stopped, killed and restarted on the same data, and into which faults can be injected.
 */
export class ServerProcess {
  #child: ChildProcess | undefined;
  /** True if the process may end on its own. */
  #isEndExpected = false;
  #clock = 0;
  #output = '';
  port = 0;
  /** Number of syncs that failed because of a fault. */
  failures = 0;

  constructor(
    readonly dataDir: string,
    readonly flags: readonly string[],
    /** Called with the output when the process ends unexpectedly. */
    readonly onCrash: (output: string) => void,
  ) {}

  /** The administrator's token. */
  get token(): string {
    return readFileSync(join(this.dataDir, 'pki', 'admin-token.csv'), 'utf8').split(',')[0]!;
  }

  get output(): string {
    return this.#output;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Starts the process. Resolves when it is ready. */
  async start(): Promise<void> {
    this.#isEndExpected = false;
    this.#output = '';
    await addCertificates(this.dataDir, this.flags.includes('--naming=kubernetes') ? 'kubernetes' : 'neutral');
    const child = spawn(
      process.execPath,
      [COMMAND, 'serve', '--secure-port=0', `--data-dir=${this.dataDir}`, ...this.flags],
      {
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
        env: { ...process.env, NODE_OPTIONS: `--import=${SHIM}`, ROBUSTNESS_CLOCK: String(this.#clock) },
      },
    );
    this.#child = child;
    child.on('message', () => this.failures++);
    child.on('error', () => {});
    this.port = await new Promise<number>((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`not ready in time:\n${this.#output}`)), START_MS);
      const read = (chunk: Buffer): void => {
        this.#output = (this.#output + chunk.toString()).slice(-OUTPUT_LENGTH);
        const port = /listening on https:\/\/[^\s/]+:(\d+)/.exec(this.#output)?.[1];
        if (port === undefined || !this.#output.includes('ready in')) return;
        clearTimeout(timer);
        done(Number(port));
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        fail(new Error(`the server ended with ${code ?? signal} at its start:\n${this.#output}`));
        if (!this.#isEndExpected && this.#child === child)
          this.onCrash(`ended with ${code ?? signal}:\n${this.#output}`);
      });
    });
  }

  /** Changes the faults in the process. */
  steer(settings: FaultSettings): void {
    this.#clock = settings.clock ?? this.#clock;
    if (this.#child?.connected) this.#child.send(settings, () => {});
  }

  /** Allows the process to end on its own. */
  expectEnd(): void {
    this.#isEndExpected = true;
  }

  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Ends the process with a signal. Resolves when it has ended. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.expectEnd();
    if (!child || !this.isRunning) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}
