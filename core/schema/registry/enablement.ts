import { ConfigError } from '../../api/point.js';
import { parseGoBool } from '../../model/text/goBool.js';
import type { Naming } from '../../naming.js';
import { RELEASE } from '../../release.js';
import { REMOVED_VERSIONS } from '../table/removed.js';
import { type GroupRow, groupRows, type ResourceRow, type VersionRow } from '../table/resources.js';

const FLAG = '--runtime-config';

/**
 * The versions and resources of built-in kinds that are switched on or off, other than in the release. It is JSON,
 * because it is sent to every thread.
 */
export interface Enablement {
  /** By neutral apiVersion. */
  readonly versions: Readonly<Record<string, boolean>>;
  /** By neutral apiVersion and plural name, `apps/v1/deployments`. */
  readonly resources: Readonly<Record<string, boolean>>;
  /** The minor number of the emulated release. */
  readonly minor: number;
}

/** The default: all versions that the release serves are enabled. */
export const AS_RELEASED: Enablement = { versions: {}, resources: {}, minor: Number(RELEASE.minor) };

/** The minor number of a release of the table: 32 of `1.32`. */
export const minorOf = (release: string): number => Number(release.split('.')[1]);

/**
 * Whether a release has a resource. One that a later release introduces, or that this or an earlier release removes, is
 * not served even if it is enabled.
 */
export const isInRelease = ({ introduced, removed }: ResourceRow, minor: number): boolean =>
  (introduced === undefined || minorOf(introduced) <= minor) && (removed === undefined || minorOf(removed) > minor);

/** Keys for all versions of a stability, in the order in which they apply. */
const CLASSES = new Map<string, (version: VersionRow) => boolean>([
  ['api/all', () => true],
  ['api/ga', ({ stability }) => stability === 'ga'],
  ['api/beta', ({ stability }) => stability === 'beta'],
  ['api/alpha', ({ stability }) => stability === 'alpha'],
  ['api/legacy', () => false],
]);

/** A group whose kinds have all moved to other groups. */
const GONE_GROUP = 'extensions';
/** Versions that earlier releases served. They can be named, which has no effect. */
const GONE: ReadonlySet<string> = new Set([
  ...REMOVED_VERSIONS.map(({ apiVersion }) => apiVersion),
  'batch/v2alpha1',
  'node.orchestrator.io/v1alpha1',
  'rbac.authorization.orchestrator.io/v1alpha1',
  'scheduling.orchestrator.io/v1alpha1',
]);

const join = (group: string, version: string): string => (group ? `${group}/${version}` : version);

/** A key of one version or resource. */
interface Key {
  readonly text: string;
  readonly value: string;
  /** The group in the naming of the server; empty for the core group, whose keys are `v1` and `v1/…`. */
  readonly group: string;
  readonly version: string;
  readonly resource?: string;
}

function parseKey(text: string, value: string): Key {
  const parts = text.split('/');
  const [group = '', version = '', resource, ...more] = parts[0] === 'v1' ? ['', ...parts] : parts;
  const invalid = more.length > 0 || version === '' || (group === '' && parts[0] !== 'v1');
  if (invalid) throw new ConfigError(FLAG, `runtime-config invalid key ${text}`);
  return { text, value, group, version, ...(resource === undefined ? {} : { resource }) };
}

function isOn({ text, value }: Key): boolean {
  const parsed = parseGoBool(value);
  if (parsed !== undefined) return parsed;
  const why = `err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`;
  throw new ConfigError(FLAG, `invalid value of ${text}: ${value}, ${why}`);
}

/** Keys and values; the last value of a key counts. A key without a value is on. */
function parsePairs(given: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    given.map(pair => {
      const equals = pair.indexOf('=');
      return equals < 0 ? [pair.trim(), 'true'] : [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
    }),
  );
}

/** Throws ConfigError for groups that do not exist. */
function checkGroups(keys: readonly Key[], known: ReadonlyMap<string, GroupRow>): void {
  const unknown = keys.map(({ group }) => group).filter(group => !known.has(group) && group !== GONE_GROUP);
  if (unknown.length > 0) throw new ConfigError(FLAG, `unknown api groups ${[...new Set(unknown)].sort().join(',')}`);
}

/** Sets versions by their stability. */
function applyClasses(pairs: ReadonlyMap<string, string>, versions: Map<string, boolean>): void {
  for (const [name, includes] of CLASSES) {
    const value = pairs.get(name);
    if (value === undefined) continue;
    if (value !== 'true' && value !== 'false') throw new ConfigError(FLAG, `invalid value ${name}=${value}`);
    for (const group of groupRows())
      for (const version of group.versions)
        if (includes(version)) versions.set(join(group.name, version.version), value === 'true');
  }
}

/**
 * Reads `--runtime-config` (spec, "Stability levels"), a list of `key[=value]`: `<group>/<version>`,
 * `<group>/<version>/<resource>`, `v1` for the core group, `api/all`, `api/ga`, `api/beta` and `api/alpha`. `minor` is
 * that of the emulated release. Throws ConfigError in upstream's words for keys that name nothing and for values that
 * are not true or false.
 */
export function enablement(given: readonly string[], naming: Naming, minor: number): Enablement {
  const pairs = parsePairs(given);
  if (pairs.size === 1 && pairs.get('api/all') === 'false')
    throw new ConfigError(FLAG, 'invalid key with only api/all=false');
  const keys = [...pairs].filter(([key]) => !CLASSES.has(key)).map(([key, value]) => parseKey(key, value));
  const known = new Map(groupRows().map(row => [naming.group(row.name), row]));
  checkGroups(keys, known);
  const versions = new Map<string, boolean>();
  const resources = new Map<string, boolean>();
  applyClasses(pairs, versions);
  for (const key of keys) {
    const row = known.get(key.group);
    const apiVersion = join(row?.name ?? key.group, key.version);
    if (!row?.versions.some(({ version }) => version === key.version)) {
      if (GONE.has(apiVersion)) continue;
      throw new ConfigError(FLAG, `group version ${join(key.group, key.version)} that has not been registered`);
    }
    if (key.resource === undefined) versions.set(apiVersion, isOn(key));
    else resources.set(`${apiVersion}/${key.resource}`, isOn(key));
  }
  return { versions: Object.fromEntries(versions), resources: Object.fromEntries(resources), minor };
}
