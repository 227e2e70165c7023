import { createRequire, register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { VERSION_PARAMETER } from './moduleVersionHook.js';

/** The folder with the modules of this package. */
const OWN = fileURLToPath(new URL('../../../', import.meta.url));

/** Whether the module of a file can change while the server runs. */
const isWatched = (file: string): boolean => !file.includes('/node_modules/') && !file.startsWith(OWN);

/**
 * The URL with which a module and all its imports are read again in this thread, unless this version was read before.
 */
export const versionedUrl = (url: string, version: number): string => `${url}?${VERSION_PARAMETER}=${version}`;

/**
 * The versions of the modules of plugins in the main thread: Node.js keeps a module as long as the thread, unless it is
 * imported under another URL. Threads that are created later read the files again by themselves. For a program that
 * runs nothing but one server: create one such object.
 */
export class ModuleVersions {
  /** The version of imports from now on. */
  current = 0;
  readonly #files = new Set<string>();
  readonly #common = createRequire(import.meta.url).cache;

  constructor() {
    const { port1, port2: files } = new MessageChannel();
    port1.on('message', (url: string) => this.#files.add(fileURLToPath(url)));
    port1.unref();
    register(new URL('./moduleVersionHook.js', import.meta.url), { data: { files }, transferList: [files] });
  }

  /** The files of all modules that plugins have imported. */
  get files(): readonly string[] {
    return [...new Set([...this.#files, ...this.#commonFiles()])];
  }

  /** Makes the next import read modules again. */
  advance(): void {
    this.current++;
    for (const file of this.#commonFiles()) delete this.#common[file];
  }

  /** The files of CommonJS modules that can change. */
  #commonFiles(): string[] {
    return Object.keys(this.#common).filter(isWatched);
  }
}
