import { register } from 'node:module';
import { resolve } from 'import-meta-resolve';

/** Whether a module can import this package by its name. */
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
 * Allows a plugin to import `capstan/api` if the package cannot be found from the plugin's location, as for a file next
 * to the configuration of a globally installed server, or for a linked package without its own dependencies. The plugin
 * then uses the copy that is running. Call it in each thread before the plugin is imported.
 */
export function provideOwnCopy(url: string): void {
  if (isRegistered || !url.startsWith('file:') || findsPackage(url)) return;
  isRegistered = true;
  register(new URL('./ownCopyHook.js', import.meta.url));
}
