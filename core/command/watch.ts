import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../api/point.js';
import { toOneLine } from '../model/text/trailing.js';
import type { ModuleVersions } from '../plugin/load/moduleVersions.js';
import { messagesOf } from '../plugin/calls/stack.js';
import { monotonicTime } from '../runtime/clock.js';
import { clearTimeout, setTimeout } from '../runtime/timers.js';
import type { OwnServer } from '../server/start.js';
import { fileKeyOf } from '../settings/given.js';
import type { Settings } from '../settings/settings.js';
import { OPTIONS } from './options.js';

/** Milliseconds between two checks of the files. A change is complete when the next check finds no further one. */
const LOOK_MS = 100;

/** A text that changes with the file; '' if there is no file. */
function signatureOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : '';
}

/**
 * Checks files at short intervals, and calls `changed` with those that have changed; calls do not overlap. Files are
 * polled because events of the system depend on the file system, and on how editors replace files.
 */
export class FileWatch {
  #known = new Map<string, string>();
  #last = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    readonly files: () => readonly string[],
    readonly changed: (files: readonly string[]) => Promise<void>,
  ) {
    this.#known = this.#last = this.#look();
    this.#schedule();
  }

  /** Stops the checks; `changed` is not called any more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #look(): Map<string, string> {
    return new Map(this.files().map(file => [file, signatureOf(file)]));
  }

  #schedule(): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#compare(), LOOK_MS).unref();
  }

  async #compare(): Promise<void> {
    const now = this.#look();
    for (const [file, signature] of now) if (!this.#known.has(file)) this.#known.set(file, signature);
    const changed = [...now].filter(([file, signature]) => this.#known.get(file) !== signature);
    const isComplete = changed.every(([file, signature]) => this.#last.get(file) === signature);
    this.#last = now;
    if (changed.length > 0 && isComplete) {
      this.#known = now;
      await this.changed(changed.map(([file]) => file));
    }
    this.#schedule();
  }
}

/** The inputs of `watchServer`. */
export interface WatchedServer {
  readonly server: OwnServer;
  readonly versions: ModuleVersions;
  /** The settings that the server was started with. */
  readonly settings: Settings;
  /** The configuration file. */
  readonly config: string;
  /** Reads the settings again. Throws ConfigError. */
  readonly load: () => Settings;
  /** Takes a line that names the reloaded parts. */
  readonly out: (line: string) => void;
  /** Takes a line that names the parts that were not reloaded, and the error if its stack can help. */
  readonly failed: (line: string, error?: unknown) => void;
}

/** Throws ConfigError for settings with which `--watch` cannot be used. */
export function checkWatch(config: string | undefined, { listeningThreads }: Settings): string {
  if (config === undefined) throw new ConfigError('--watch', 'needs --config: it watches that file and its plugins');
  if (listeningThreads > 1)
    throw new ConfigError('--watch', 'cannot reload the plugins of listening threads: omit --listening-threads');
  return config;
}

/** The name of a setting as it is written in a file; other texts unchanged. */
function nameInFile(setting: string): string {
  const option = [...OPTIONS.values()].find(one => one.setting === setting);
  return option ? fileKeyOf(option) : setting;
}

/** Reloads plugins and settings of a server when their files change. Returns a function that stops this. */
export function watchServer({
  server,
  versions,
  settings: started,
  config,
  load,
  out,
  failed,
}: WatchedServer): () => void {
  let uses = started.plugins.map(({ use }) => use);
  const files = (): readonly string[] => [
    config,
    ...uses.flatMap(use => (use.startsWith('file:') ? fileURLToPath(use.replace(/#.*/, '')) : [])),
    ...versions.files,
  ];
  const reload = async (changed: readonly string[]): Promise<void> => {
    const began = monotonicTime();
    try {
      const settings = load();
      uses = settings.plugins.map(({ use }) => use);
      versions.advance();
      const kept = await server.reload(settings, versions.current);
      const names = changed.map(file => relative(process.cwd(), file));
      out(`reloaded in ${Math.round(monotonicTime() - began)} ms: ${names.join(', ')}`);
      if (kept.length > 0) failed(`restart the server to apply changes of ${kept.map(nameInFile).join(', ')}`);
    } catch (error) {
      failed(`not reloaded: ${toOneLine(messagesOf(error))}`, error);
    }
  };
  const watch = new FileWatch(files, reload);
  return () => watch.close();
}
