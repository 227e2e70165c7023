import type {
  MigrationCondition,
  StorageVersionMigration,
  StorageVersionMigrationStatus,
} from '../../../kinds/storagemigration/v1alpha1.js';
import type { APIResourceList } from '../../../kinds/meta/v1.js';
import {
  type Client,
  type Controller,
  controller,
  definePlugin,
  type Frozen,
  type Host,
  type Input,
  type ReconcileContext,
  reconciler,
  Refusal,
  type Resources,
  type ServedResource,
  timestamp,
} from '../../../core/api/index.js';
import { forEachParallel } from '../parallel.js';
import { unlessRefused, versionPath } from '../requests.js';

type Migration = Frozen<StorageVersionMigration>;

const NAME = 'storage-version-migrator-controller';
const MIGRATIONS = 'storagemigration.orchestrator.io/storageversionmigrations';
/** Concurrent writes of one migration. */
const MAX_PARALLEL = 8;

const isTrue = (migration: Migration, type: string): boolean =>
  (migration.status?.conditions ?? []).some(one => one.type === type && one.status === 'True');

/** The resource of a migration, in the version that it names; undefined if that is not served. */
async function resourceOf(
  migration: Migration,
  resources: Resources,
  client: Client,
): Promise<ServedResource | undefined> {
  const { group = '', version = '', resource: plural = '' } = migration.spec.resource;
  const apiVersion = group ? `${group}/${version}` : version;
  const path = versionPath(group, version);
  if (path === undefined) return undefined;
  const list = await unlessRefused('NotFound', client.request({ method: 'GET', path }));
  const found = (list as unknown as APIResourceList | undefined)?.resources?.find(one => one.name === plural);
  return found && resources.byKind(apiVersion, found.kind);
}

/** Writes all objects of a resource again. Those that others have written or removed meanwhile are skipped. */
async function migrate(
  { storageName }: ServedResource,
  { list, client }: Pick<ReconcileContext, 'list' | 'client'>,
): Promise<void> {
  const objects = client.resource(storageName);
  await forEachParallel(MAX_PARALLEL, list(storageName), async ({ metadata }) => {
    const { uid, resourceVersion } = metadata;
    const write = objects.patch(metadata, { metadata: { uid, resourceVersion } });
    await unlessRefused('Conflict', unlessRefused('NotFound', write));
  });
}

function conditionOf(type: string, reason: string, message: string, now: number): MigrationCondition {
  return { type, status: 'True', lastUpdateTime: timestamp(now), reason, message };
}

/** Writes the objects of a resource again, unchanged, so that they are stored in the current storage version. */
function migrations(host: Host<'control'>): Controller {
  const report = async (
    { metadata }: Migration,
    status: Input<StorageVersionMigrationStatus>,
    client: Client,
  ): Promise<StorageVersionMigration | undefined> =>
    await unlessRefused('NotFound', client.resource(MIGRATIONS).patch(metadata, { status }, { subresource: 'status' }));
  const end = async (
    migration: Migration,
    type: 'Succeeded' | 'Failed',
    message: string,
    client: Client,
  ): Promise<void> => {
    const before = (migration.status?.conditions ?? []).map(one =>
      one.type === 'Running' ? { ...one, status: 'False', lastUpdateTime: timestamp(host.now()) } : one,
    );
    const ended = conditionOf(type, `StorageVersionMigration${type}`, message, host.now());
    await report(migration, { ...migration.status, conditions: [...before, ended] }, client);
  };
  return reconciler({
    name: NAME,
    for: MIGRATIONS,
    async reconcile(_key, context) {
      const { client } = context;
      let migration: Migration | undefined = context.object;
      if (!migration || isTrue(migration, 'Succeeded') || isTrue(migration, 'Failed')) return;
      const resource = await resourceOf(migration, host.resources, client);
      if (!resource) return await end(migration, 'Failed', 'resource does not exist in GC', client);
      if (!isTrue(migration, 'Running')) {
        const running = conditionOf('Running', 'StorageVersionMigrationInProgress', '', host.now());
        const resourceVersion =
          (migration.status?.resourceVersion ?? '') || String(host.informer(resource.storageName).revision);
        migration = (await report(migration, { resourceVersion, conditions: [running] }, client)) ?? migration;
      }
      try {
        await migrate(resource, context);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return await end(migration, 'Failed', `migration encountered unhandled error: ${error.message}`, client);
      }
      await end(migration, 'Succeeded', '', client);
    },
  })(host);
}

/** Migrations of stored objects, where their feature gate is on. */
export const storageMigration = definePlugin({
  name: 'controllers/storage-migration',
  parse: () => null,
  contribute: () => [
    controller.of(host =>
      host.isEnabled('StorageVersionMigrator') ? migrations(host) : { name: NAME, start: async () => undefined },
    ),
  ],
});
