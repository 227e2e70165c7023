import type {
  MigrationCondition,
  StorageVersionMigration,
  StorageVersionMigrationStatus,
} from '../../../kinds/storagemigration/v1alpha1.js';
import type { APIResourceList } from '../../../kinds/meta/v1.js';
import type { Informer } from '../../../core/api/host.js';
import { type Controller, controller, definePlugin, type Host, Refusal } from '../../../core/api/index.js';
import {
  Catalog,
  type ControlledResource,
  DEFINITIONS,
  parseResources,
  pathOf,
  type ResourcesConfig,
} from '../catalog.js';
import { forEachParallel, WorkQueue } from '../queue.js';
import { Requests, timestamp } from '../requests.js';

const NAME = 'storage-version-migrator-controller';
const MIGRATIONS = 'storagemigration.orchestrator.io/storageversionmigrations';
/** Concurrent writes of one migration. */
const MAX_PARALLEL = 8;

const isTrue = (migration: StorageVersionMigration, type: string): boolean =>
  (migration.status?.conditions ?? []).some(one => one.type === type && one.status === 'True');

/** Writes the objects of a resource again, unchanged, so that they are stored in the current storage version. */
class StorageMigration implements Controller {
  readonly name = NAME;
  readonly #host: Host<'control'>;
  readonly #requests: Requests;
  readonly #catalog: Catalog;
  readonly #queue: WorkQueue;

  constructor(host: Host<'control'>, config: ResourcesConfig) {
    this.#host = host;
    this.#requests = new Requests(host, NAME);
    this.#catalog = new Catalog(config);
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: 1, handle: name => this.#process(name) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => {
      if (event.type === 'DELETED') return;
      if (event.storageName === DEFINITIONS) this.#catalog.addDefinition(event.object());
      if (event.storageName === MIGRATIONS) this.#queue.add(event.name);
    });
    await this.#queue.idle();
  }

  async #process(name: string): Promise<void> {
    const migrations = this.#host.informer(MIGRATIONS) as Informer<StorageVersionMigration>;
    let migration = migrations.get('', name);
    if (!migration || isTrue(migration, 'Succeeded') || isTrue(migration, 'Failed')) return;
    const resource = await this.#resourceOf(migration);
    if (!resource) return await this.#end(migration, 'Failed', 'resource does not exist in GC');
    if (!isTrue(migration, 'Running')) migration = (await this.#begin(migration, resource)) ?? migration;
    try {
      await this.#migrate(resource);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return await this.#end(migration, 'Failed', `migration encountered unhandled error: ${error.message}`);
    }
    await this.#end(migration, 'Succeeded', '');
  }

  /** The resource of a migration, in the version that it names; undefined if that is not served. */
  async #resourceOf(migration: StorageVersionMigration): Promise<ControlledResource | undefined> {
    const { group = '', version = '', resource: plural = '' } = migration.spec.resource;
    const apiVersion = group ? `${group}/${version}` : version;
    const list = (await this.#requests.get(`/${group ? 'apis' : 'api'}/${apiVersion}`)) as APIResourceList | undefined;
    const found = list?.resources?.find(one => one.name === plural);
    return found && this.#catalog.byKind(apiVersion, found.kind);
  }

  /** Objects that others have written or removed meanwhile need no further write. */
  async #migrate(resource: ControlledResource): Promise<void> {
    const objects = this.#host.informer(resource.storageName).list();
    await forEachParallel(MAX_PARALLEL, objects, async ({ metadata }) => {
      const { namespace = '', name, uid, resourceVersion } = metadata;
      try {
        await this.#requests.merge(pathOf(resource, namespace, name), { metadata: { uid, resourceVersion } });
      } catch (error) {
        if (!(error instanceof Refusal) || error.reason !== 'Conflict') throw error;
      }
    });
  }

  #begin(
    migration: StorageVersionMigration,
    { storageName }: ControlledResource,
  ): Promise<StorageVersionMigration | undefined> {
    const running = this.#condition('Running', 'StorageVersionMigrationInProgress', '');
    const resourceVersion =
      (migration.status?.resourceVersion ?? '') || String(this.#host.informer(storageName).revision);
    return this.#report(migration, { resourceVersion, conditions: [running] });
  }

  async #end(migration: StorageVersionMigration, type: 'Succeeded' | 'Failed', message: string): Promise<void> {
    const before = (migration.status?.conditions ?? []).map(one =>
      one.type === 'Running' ? { ...one, status: 'False', lastUpdateTime: timestamp(this.#host) } : one,
    );
    const ended = this.#condition(type, `StorageVersionMigration${type}`, message);
    await this.#report(migration, { ...migration.status, conditions: [...before, ended] });
  }

  #condition(type: string, reason: string, message: string): MigrationCondition {
    return { type, status: 'True', lastUpdateTime: timestamp(this.#host), reason, message };
  }

  #report(
    { metadata }: StorageVersionMigration,
    status: StorageVersionMigrationStatus,
  ): Promise<StorageVersionMigration | undefined> {
    const apiVersion = this.#host.naming.apiVersion('storagemigration.orchestrator.io/v1alpha1');
    const path = pathOf({ apiVersion, plural: 'storageversionmigrations' }, '', metadata.name);
    return this.#requests.merge(`${path}/status`, { status }) as Promise<StorageVersionMigration | undefined>;
  }
}

/** Migrations of stored objects, where their feature gate is on. */
export const storageMigration = definePlugin({
  name: 'controllers/storage-migration',
  parse: parseResources,
  contribute: config => [
    controller.of(host =>
      host.isEnabled('StorageVersionMigrator')
        ? new StorageMigration(host, config)
        : { name: NAME, start: async () => undefined },
    ),
  ],
});
