import {
  ConfigError,
  type Controller,
  controller,
  type Host,
  type ObjectKey,
  type Plugin,
  reconciler,
} from '../../../../../core/api/index.js';
import { identityLease, isIdentity, LEASES, leaseNamespace, serverId } from './identity.js';
import { statusOf } from './status.js';

const UPDATER = 'storage-version-updater';
const COLLECTOR = 'storage-version-garbage-collector';
const VERSIONS = 'internal.apiserver.orchestrator.io/storageversions';
/** After this time, the Lease of this server is looked for again. */
const WITHOUT_LEASE_MS = 200;
/** Objects that others have changed or removed are corrected after this time. */
const CORRECT_MS = 10 * 60_000;
/** Objects written concurrently. */
const WORKERS = 8;

/** The versions of a resource in this server. */
export interface ResourceVersions {
  /** The group, or `core`, and the resource: `apps.deployments`. */
  readonly name: string;
  readonly encodingVersion: string;
  readonly decodableVersions: readonly string[];
  readonly servedVersions: readonly string[];
}

/** Writes the versions of this server into the StorageVersions of its resources, once it has a Lease. */
function updater(host: Host<'control'>, resources: readonly ResourceVersions[]): Controller {
  const { naming } = host;
  const id = serverId(naming);
  const lease = { namespace: leaseNamespace(naming), name: id };
  const entries = new Map(resources.map(({ name, ...versions }) => [name, { apiServerID: id, ...versions }]));
  return reconciler({
    name: UPDATER,
    keys: resources.map(({ name }) => ({ resource: VERSIONS, name })),
    concurrency: WORKERS,
    resync: CORRECT_MS,
    async reconcile({ name }, { client, get, now }) {
      if (!isIdentity(get(LEASES, lease), naming)) return { after: WITHOUT_LEASE_MS };
      const objects = client.resource(VERSIONS);
      const object = get(VERSIONS, { name }) ?? (await objects.create({ metadata: { name }, spec: {} }));
      const entry = entries.get(name)!;
      const servers = object.status?.storageVersions ?? [];
      const before = servers.findIndex(({ apiServerID }) => apiServerID === id);
      const all = before < 0 ? [...servers, entry] : servers.with(before, entry);
      await objects.setStatus(object, statusOf(all, object.status, now()));
      return undefined;
    },
  })(host);
}

/** Removes servers without a Lease from StorageVersions, and StorageVersions that no longer have a server. */
function collector(host: Host<'control'>): Controller {
  const { naming } = host;
  const namespace = leaseNamespace(naming);
  return reconciler({
    name: COLLECTOR,
    for: VERSIONS,
    watches: [
      {
        resource: LEASES,
        keys: ({ type, namespace: of, name }, { list }): Partial<ObjectKey>[] =>
          type === 'DELETED' && of === namespace
            ? list(VERSIONS)
                .filter(one => one.status?.storageVersions?.some(({ apiServerID }) => apiServerID === name))
                .map(({ metadata }) => ({ name: metadata.name ?? '' }))
            : [],
      },
    ],
    async reconcile(_key, { object, client, get, now }) {
      const servers = object?.status?.storageVersions ?? [];
      const living = servers.filter(({ apiServerID: name = '' }) =>
        isIdentity(get(LEASES, { namespace, name }), naming),
      );
      if (!object || living.length === servers.length) return;
      const objects = client.resource(VERSIONS);
      if (living.length > 0) {
        await objects.setStatus(object, statusOf(living, object.status, now()));
        return;
      }
      const { name, uid, resourceVersion } = object.metadata;
      await objects.delete({ name }, { preconditions: { uid, resourceVersion } });
    },
  })(host);
}

/** A controller of StorageVersions, which does nothing where they are not served. */
const whereServed =
  (name: string, make: (host: Host<'control'>) => Controller) =>
  (host: Host<'control'>): Controller =>
    host.resources.byStorageName(VERSIONS) ? make(host) : { name, start: async () => undefined };

/** Parses `{ resources: [{ name, encodingVersion, … }] }`, which the server generates from its registry. */
function parse(config: unknown): { resources: readonly ResourceVersions[] } {
  const resources = (config as { resources?: unknown } | undefined)?.resources;
  if (!Array.isArray(resources)) throw new ConfigError('config.resources', 'must be a list of resources');
  return { resources };
}

/** Parses `{ runId }`, which the server generates. */
function parseRun(config: unknown): { runId: string } {
  const runId = (config as { runId?: unknown } | undefined)?.runId;
  if (typeof runId !== 'string') throw new ConfigError('config.runId', 'must be a string');
  return { runId };
}

/** Keeps the Lease of this server, and removes those of servers that are gone. */
export const serverIdentity = {
  name: 'controllers/server-identity',
  parse: parseRun,
  contribute: ({ runId }) => [controller.of(host => identityLease(host, runId))],
} satisfies Plugin<{ runId: string }>;

/** Keeps the versions of this server in StorageVersions. */
export const storageVersions = {
  name: 'controllers/storage-versions',
  parse,
  contribute: ({ resources }) => [controller.of(whereServed(UPDATER, host => updater(host, resources)))],
} satisfies Plugin<{ resources: readonly ResourceVersions[] }>;

/** Removes servers that are gone from StorageVersions. */
export const storageVersionCollection = {
  name: 'controllers/storage-version-collection',
  parse: () => ({}),
  contribute: () => [controller.of(whereServed(COLLECTOR, collector))],
} satisfies Plugin;
