/**
 * Finds the binary of uWebSockets.js for the running version of Node.js. There are two releases, side by side: the
 * older one needs glibc 2.27 and has binaries up to Node.js 22, the newer one needs glibc 2.38.
 */
import { HEADER_BYTES } from '../../core/limits.js';
import { describePlatform, usesMusl } from '../../core/runtime/platform.js';

/** The module, with the types of the newer release. */
export type Uws = typeof import('@uwsjs/core');

const older = (): Promise<unknown> => import('uws-node22');
const newer = (): Promise<unknown> => import('@uwsjs/core');
/** The release for each major version of Node.js: its binaries depend on the version. */
const RELEASES: ReadonlyMap<string, () => Promise<unknown>> = new Map([
  ['20', older],
  ['22', older],
  ['24', newer],
  ['26', newer],
]);

/** Describes, as a part of a sentence, an error of loading the binary. Exported for its test. */
export function faultOf(error: unknown): string {
  const text = String(error);
  const glibc = /version `GLIBC_([\d.]+)' not found/.exec(text)?.[1];
  if (glibc !== undefined) return `needs glibc ${glibc} or newer`;
  if (text.includes('Cannot find'))
    return 'is not installed: install with the version of Node.js that runs, and with optional dependencies';
  return `cannot be loaded: ${text.trim().split('\n').at(-1)}`;
}

/**
 * Loads uWebSockets.js, which reads the limit of header bytes from the environment while it loads. Throws an Error
 * whose message names the platform and the reason if there is no binary, or if it cannot be loaded.
 */
export async function loadUws(): Promise<Uws> {
  const importRelease = RELEASES.get(process.versions.node.split('.')[0]!);
  const fail = (reason: string, cause?: unknown): never => {
    throw new Error(`uWebSockets.js ${reason} (${describePlatform()})`, { cause });
  };
  // Checked before the library is loaded: on musl, loading it could end the process.
  if (!importRelease || usesMusl()) return fail('has no binary for this platform');
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEADER_BYTES);
  return (await importRelease().catch(error => fail(faultOf(error), error))) as Uws;
}
