import { ConfigError } from '../api/point.js';
import { RELEASE } from '../release.js';

const FLAG = '--emulated-version';

/** The minor numbers of the releases that can be emulated: upstream's 1.32 allows the one before its own. */
const OLDEST = Number(RELEASE.minor) - 1;
const NEWEST = Number(RELEASE.minor);

/** Upstream ignores text after the numbers, such as `-alpha.1`. */
const VERSION = /^v?(\d{1,9})\.(\d{1,9})((?:\.\d{1,9})*)(?:[-+].*)?$/;

interface Version {
  readonly major: string;
  readonly minor: string;
}

function parseVersion(text: string, component: string): Version {
  const [, major, minor, more = ''] = VERSION.exec(text) ?? [];
  if (major === undefined || minor === undefined)
    throw new ConfigError(FLAG, `illegal version string ${JSON.stringify(text)}: write it as ${component}=1.${OLDEST}`);
  if (more !== '' && more !== '.0') throw new ConfigError(FLAG, `patch version not allowed, got: ${component}=${text}`);
  return { major, minor };
}

/**
 * Reads `--emulated-version`, a list of `[component=]major.minor`: the minor number of the release whose feature gates
 * and served APIs the server has, that of the server itself if the list is empty. Throws ConfigError in upstream's
 * words for other components, for several versions, and for releases that cannot be emulated.
 */
export function emulatedMinor(given: readonly string[], component: string): number {
  const [first, second] = given.map(one => {
    const equals = one.indexOf('=');
    const name = equals < 0 ? component : one.slice(0, equals).trim();
    if (name !== component) throw new ConfigError(FLAG, `component not registered: ${name}`);
    return parseVersion(one.slice(equals + 1).trim(), component);
  });
  if (!first) return NEWEST;
  const text = ({ major, minor }: Version): string => `${major}.${minor}`;
  if (second)
    throw new ConfigError(FLAG, `duplicate version flag, ${component}=${text(first)} and ${component}=${text(second)}`);
  const minor = Number(first.minor);
  if (first.major === RELEASE.major && minor >= OLDEST && minor <= NEWEST) return minor;
  const range = `[${RELEASE.major}.${OLDEST}, ${RELEASE.major}.${NEWEST}.0]`;
  throw new ConfigError(FLAG, `emulation version ${text(first)} is not between ${range}`);
}
