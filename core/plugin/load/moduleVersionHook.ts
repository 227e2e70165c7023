/**
 * A module hook (node:module, "Customization hooks"): the modules that a module with a version imports get the same
 * version, so that they are read again with it. `moduleVersions.ts` registers it; Node.js runs it in a separate thread.
 */
import type { MessagePort } from 'node:worker_threads';

interface Context {
  readonly conditions?: readonly string[];
  readonly parentURL?: string | undefined;
}

interface Resolved {
  readonly url: string;
}

/** The parameter in the URL of a module that makes Node.js read the module again. */
export const VERSION_PARAMETER = 'capstan-version';

const VERSION = /\?capstan-version=\d+/;
const PACKAGES = '/node_modules/';

/** The folder of the installed package that a file is in; '' for files outside of packages. */
function packageOf(url: string): string {
  const start = url.lastIndexOf(PACKAGES);
  if (start < 0) return '';
  const [scope = '', name = ''] = url.slice(start + PACKAGES.length).split('/');
  return `${url.slice(0, start)}${PACKAGES}${scope.startsWith('@') ? `${scope}/${name}` : scope}/`;
}

const isOwn = (specifier: string): boolean => specifier === 'capstan' || specifier.startsWith('capstan/');

let port: MessagePort | undefined;

/** Called once by Node.js, with the port that receives the URLs of modules with a version. */
export function initialize({ files }: { readonly files: MessagePort }): void {
  port = files;
}

/**
 * Resolves an import. Modules of other packages than the importing one have no version: they rarely change, and some,
 * such as this package, must not be loaded twice.
 */
export async function resolve<R extends Resolved>(
  specifier: string,
  context: Context,
  next: (specifier: string, context: Context) => R | Promise<R>,
): Promise<R> {
  const found = await next(specifier, context);
  const version = VERSION.exec(specifier)?.[0] ?? VERSION.exec(context.parentURL ?? '')?.[0];
  if (version === undefined || !found.url.startsWith('file:') || isOwn(specifier)) return found;
  const url = found.url.replace(VERSION, '');
  const owner = packageOf(url);
  if (owner !== '' && owner !== packageOf(context.parentURL ?? '') && !VERSION.test(specifier)) return found;
  port?.postMessage(url);
  return context.conditions?.includes('require') ? found : { ...found, url: url + version };
}
