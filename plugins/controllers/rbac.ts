import { type ApiObject, type Controller, controller, type Host, type Plugin } from '../../core/api/index.js';
import { aggregateAll, reconcileBootstrap } from '../authz/bootstrap/index.js';
import { pathOf } from './catalog.js';
import { inParallel, WorkQueue } from './queue.js';
import { Requests } from './requests.js';

const GROUP = 'rbac.authorization.orchestrator.io';
const KINDS = [
  { kind: 'ClusterRole', plural: 'clusterroles' },
  { kind: 'ClusterRoleBinding', plural: 'clusterrolebindings' },
  { kind: 'Role', plural: 'roles' },
  { kind: 'RoleBinding', plural: 'rolebindings' },
] as const;
const CLUSTER_ROLES = `${GROUP}/clusterroles`;
/** Writes under way at a time: the defaults are some two hundred objects, and the start waits for them. */
const PARALLEL = 32;

/** Objects of a kind as informers give them, which may leave the kind out. */
const typed = (host: Host, { kind, plural }: (typeof KINDS)[number]): ApiObject[] =>
  host
    .informer(`${GROUP}/${plural}`)
    .list()
    .map(object => ({ ...object, kind, apiVersion: host.naming.apiVersion(`${GROUP}/v1`) }));

/** Path of the object's collection, or with `name` of the object. */
function pathIn(host: Host, { kind, metadata }: ApiObject, name?: string): string {
  const { plural } = KINDS.find(known => known.kind === kind)!;
  return pathOf({ apiVersion: host.naming.apiVersion(`${GROUP}/v1`), plural }, metadata.namespace ?? '', name);
}

/**
 * Writes the default roles and bindings that are missing or lack something (spec 2, "Auto-reconciliation"), once at the
 * start.
 */
class RbacBootstrap implements Controller {
  readonly name = 'rbac-bootstrap';
  readonly #host: Host;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;

  constructor(host: Host) {
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
    const current = KINDS.flatMap(kind => typed(this.#host, kind));
    const { create, update, recreate } = reconcileBootstrap(current, this.#host.naming);
    const writes = [
      ...create.map(object => () => this.#create(object)),
      ...update.map(object => () => this.#requests.replace(this.#pathOf(object), object)),
      ...recreate.map(object => () => this.#recreate(object)),
    ];
    await inParallel(PARALLEL, writes, write => write());
  }

  #pathOf(object: ApiObject): string {
    return pathIn(this.#host, object, object.metadata.name);
  }

  async #create(object: ApiObject): Promise<void> {
    await this.#requests.create(pathIn(this.#host, object), object);
  }

  async #recreate(object: ApiObject): Promise<void> {
    await this.#requests.delete(this.#pathOf(object), {});
    await this.#create(object);
  }
}

/** Keeps the rules of aggregating cluster roles equal to those of the roles they select. */
class RoleAggregation implements Controller {
  readonly name = 'clusterrole-aggregation-controller';
  readonly #host: Host;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;

  constructor(host: Host) {
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
    const changed = aggregateAll(typed(this.#host, KINDS[0]));
    await inParallel(PARALLEL, changed, role =>
      this.#requests.merge(pathIn(this.#host, role, role.metadata.name), {
        metadata: { resourceVersion: role.metadata.resourceVersion },
        rules: role.rules,
      }),
    );
  }
}

/** Default roles and bindings. */
export const rbacBootstrap = {
  name: 'controllers/rbac-bootstrap',
  parse: () => ({}),
  contribute: () => [controller.of(host => new RbacBootstrap(host))],
} satisfies Plugin;

/** Aggregated cluster roles. */
export const roleAggregation = {
  name: 'controllers/role-aggregation',
  parse: () => ({}),
  contribute: () => [controller.of(host => new RoleAggregation(host))],
} satisfies Plugin;
