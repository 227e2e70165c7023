import { register } from 'node:module';

/** The folder with the modules of this package. */
const OWN = new URL('../../../', import.meta.url).href;

/** Whether a module can import this package by its name. */
async function findsPackage(url: string): Promise<boolean> {
  if (url.startsWith(OWN)) return true;
  // Few servers have external plugins, so the library is loaded only for them.
  const { resolve } = await import('import-meta-resolve');
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
export async function provideOwnCopy(url: string): Promise<void> {
  if (isRegistered || !url.startsWith('file:') || (await findsPackage(url)) || isRegistered) return;
  isRegistered = true;
  register(new URL('./ownCopyHook.js', import.meta.url));
}
