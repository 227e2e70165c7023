import { RELEASE } from '../../release.js';
import type { Registry } from '../../schema/resource.js';
import type { ShownGroup } from './otherServers.js';
import { servedVersions } from './plain.js';

/** The document at `/version` (upstream type `version.Info`). Its build fields describe the Node.js process. */
export const versionInfo = (): object => ({
  major: RELEASE.major,
  minor: RELEASE.minor,
  gitVersion: `v${RELEASE.major}.${RELEASE.minor}.${RELEASE.patch}`,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: `node${process.version.slice(1)}`,
  compiler: 'v8',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
});

/** Paths that do not depend on the registry. */
const FIXED_PATHS = [
  '/.well-known/openid-configuration',
  '/healthz',
  '/healthz/etcd',
  '/healthz/log',
  '/healthz/ping',
  '/livez',
  '/livez/etcd',
  '/livez/log',
  '/livez/ping',
  '/metrics',
  '/metrics/slis',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/openid/v1/jwks',
  '/readyz',
  '/readyz/log',
  '/readyz/ping',
  '/readyz/shutdown',
  '/version',
];

/** The paths listed at `/`, sorted. */
export function rootPaths(registry: Registry, groups: readonly ShownGroup[], more: readonly string[]): string[] {
  const paths = new Set([...FIXED_PATHS, ...more, '/api', '/apis', '/apis/']);
  const core = registry.groups.get('');
  for (const version of core ? servedVersions(core) : []) paths.add(`/api/${version.version}`);
  for (const group of groups) {
    paths.add(`/apis/${group.name}`);
    for (const version of servedVersions(group)) paths.add(`/apis/${version.apiVersion}`);
  }
  return [...paths].sort();
}
