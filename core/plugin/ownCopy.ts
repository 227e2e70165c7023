import { register } from 'node:module';
import { resolve } from 'import-meta-resolve';

/** Whether a module finds this package by its name from where it is. */
function findsPackage(url: string): boolean {
  try {
    resolve('capstan/api', url);
    return true;
  } catch {
    return false;
  }
}

let isRegistered = false;

/**
 * Lets a plugin import `capstan/api` where the package cannot be found from the plugin's place: a file beside the
 * configuration of a server that is installed globally, a linked package without dependencies of its own. It then gets
 * the copy that runs. To be called in each thread, before the plugin is imported.
 */
export function provideOwnCopy(url: string): void {
  if (isRegistered || !url.startsWith('file:') || findsPackage(url)) return;
  isRegistered = true;
  register(new URL('./ownCopyHook.js', import.meta.url));
}
