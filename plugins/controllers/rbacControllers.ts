import type { ApiObject, Controller, Host } from '../../core/api/index.js';
import { aggregateAll, reconcileBootstrap } from '../authz/bootstrap/index.js';
import { pathOf } from './catalog.js';
import { forEachParallel, WorkQueue } from './queue.js';
import { RBAC_BOOTSTRAP } from './rbac.js';
import { Requests } from './requests.js';

const GROUP = 'rbac.authorization.orchestrator.io';
const KINDS = [
  { kind: 'ClusterRole', plural: 'clusterroles' },
  { kind: 'ClusterRoleBinding', plural: 'clusterrolebindings' },
  { kind: 'Role', plural: 'roles' },
  { kind: 'RoleBinding', plural: 'rolebindings' },
] as const;
const CLUSTER_ROLES = `${GROUP}/clusterroles`;
/** Concurrent writes. There are about two hundred default objects, and the start waits for them. */
const MAX_PARALLEL = 32;

/** Lists the objects of a kind, with kind and apiVersion, which informers omit. */
const listTyped = (host: Host<'control'>, { kind, plural }: (typeof KINDS)[number]): ApiObject[] =>
  host
    .informer(`${GROUP}/${plural}`)
    .list()
    .map(object => ({ ...object, kind, apiVersion: host.naming.apiVersion(`${GROUP}/v1`) }));

/** The path of the object's collection or, with `name`, of an object. */
function requestPath(host: Host<'control'>, { kind, metadata }: ApiObject, name?: string): string {
  const { plural } = KINDS.find(known => known.kind === kind)!;
  return pathOf({ apiVersion: host.naming.apiVersion(`${GROUP}/v1`), plural }, metadata.namespace ?? '', name);
}

/**
 * At the start, creates missing default roles and bindings and completes the others (spec, "Default roles and
 * bindings").
 */
export class RbacBootstrap implements Controller {
  readonly name = RBAC_BOOTSTRAP;
  readonly #host: Host<'control'>;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;

  constructor(host: Host<'control'>) {
    this.#host = host;
    this.#requests = new Requests(host, this.name);
    this.#queue = new WorkQueue({ name: this.name, log: host.log, workers: 1, handle: () => this.#reconcile() });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#queue.add('defaults');
    await this.#queue.idle();
  }

  async #reconcile(): Promise<void> {
    const current = KINDS.flatMap(kind => listTyped(this.#host, kind));
    const { create, update, recreate } = reconcileBootstrap(current, this.#host.naming);
    const writes = [
      ...create.map(object => () => this.#create(object)),
      ...update.map(object => () => this.#requests.replace(this.#pathOf(object), object)),
      ...recreate.map(object => () => this.#recreate(object)),
    ];
    await forEachParallel(MAX_PARALLEL, writes, write => write());
  }

  #pathOf(object: ApiObject): string {
    return requestPath(this.#host, object, object.metadata.name);
  }

  async #create(object: ApiObject): Promise<void> {
    await this.#requests.create(requestPath(this.#host, object), object);
  }

  async #recreate(object: ApiObject): Promise<void> {
    await this.#requests.delete(this.#pathOf(object), {});
    await this.#create(object);
  }
}

/** Updates the rules of aggregated cluster roles from the roles that they select. */
export class RoleAggregation implements Controller {
  readonly name = 'clusterrole-aggregation-controller';
  readonly #host: Host<'control'>;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;

  constructor(host: Host<'control'>) {
    this.#host = host;
    this.#requests = new Requests(host, this.name);
    this.#queue = new WorkQueue({ name: this.name, log: host.log, workers: 1, handle: () => this.#aggregate() });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => {
      if (event.storageName === CLUSTER_ROLES) this.#queue.add('all');
    });
    await this.#queue.idle();
  }

  async #aggregate(): Promise<void> {
    const changed = aggregateAll(listTyped(this.#host, KINDS[0]));
    await forEachParallel(MAX_PARALLEL, changed, role =>
      this.#requests.merge(requestPath(this.#host, role, role.metadata.name), {
        metadata: { resourceVersion: role.metadata.resourceVersion },
        rules: role.rules,
      }),
    );
  }
}
