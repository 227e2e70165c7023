import { digest } from '../../../plugins/console/sessions.js';
import { randomBytes } from '../../runtime/random.js';
import { addressOf, isLoopbackHost } from '../../settings/address.js';
import type { Settings } from '../../settings/settings.js';

/** Whether a server has the console; by default, if it listens on a loopback address. */
export const hasConsole = ({ console, bindAddress }: Settings): boolean =>
  console ?? isLoopbackHost(addressOf(bindAddress) ?? '');

/** The secret of a one-time link to the console, and its digest, which is given to the console. */
export interface ConsoleLink {
  readonly secret: string;
  readonly digest: string;
}

/** Makes a one-time link; undefined for a server without a console. */
export function makeConsoleLink(settings: Settings): ConsoleLink | undefined {
  if (!hasConsole(settings)) return undefined;
  const secret = randomBytes(32).toString('base64url');
  return { secret, digest: digest(secret) };
}
