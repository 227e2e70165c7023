import {
  type ApiObject,
  type Controller,
  controller,
  type Host,
  type Plugin,
  Refusal,
  type ResourceEvent,
} from '../../core/api/index.js';
import {
  Catalog,
  type ControlledResource,
  DEFINITIONS,
  parseResources,
  pathOf,
  type ResourcesConfig,
} from './catalog.js';
import type { Condition } from './conditions.js';
import { type Leftovers, nextConditions } from './namespaceConditions.js';
import { WorkQueue } from './queue.js';
import { Requests, timestamp } from './requests.js';

const NAME = 'namespace-controller';
const NAMESPACES = 'core/namespaces';

/** Empties and finalizes namespaces that are being deleted (spec: "Namespace phase Active → Terminating"). */
class NamespaceDeletion implements Controller {
  readonly name = NAME;
  readonly #host: Host;
  readonly #catalog: Catalog;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;
  /** Objects by namespace and storage name, so that only what exists is deleted. */
  readonly #contents = new Map<string, Map<string, number>>();
  readonly #terminating = new Set<string>();

  constructor(host: Host, config: ResourcesConfig) {
    this.#host = host;
    this.#catalog = new Catalog(config.resources);
    this.#requests = new Requests(host, NAME);
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: 4, handle: name => this.#empty(name) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => this.#observe(event));
    await this.#queue.idle();
  }

  #observe(event: ResourceEvent): void {
    if (event.storageName === NAMESPACES) this.#observeNamespace(event);
    if (event.storageName === DEFINITIONS && event.type !== 'DELETED') this.#catalog.define(event.object());
    if (event.namespace === '') return;
    if (event.type !== 'MODIFIED') this.#count(event);
    if (this.#terminating.has(event.namespace)) this.#queue.add(event.namespace);
  }

  #observeNamespace(event: ResourceEvent): void {
    if (event.type === 'DELETED') {
      this.#terminating.delete(event.name);
    } else if (event.object().metadata.deletionTimestamp) {
      this.#terminating.add(event.name);
      this.#queue.add(event.name);
    }
  }

  #count(event: ResourceEvent): void {
    const counts = this.#contents.get(event.namespace) ?? new Map<string, number>();
    const count = (counts.get(event.storageName) ?? 0) + (event.type === 'ADDED' ? 1 : -1);
    if (count > 0) counts.set(event.storageName, count);
    else counts.delete(event.storageName);
    if (counts.size > 0) this.#contents.set(event.namespace, counts);
    else this.#contents.delete(event.namespace);
  }

  /** One pass. What it leaves behind is looked at again when an event shows a change in the namespace. */
  async #empty(name: string): Promise<void> {
    const namespace = await this.#requests.get(pathOf({ apiVersion: 'v1', plural: 'namespaces' }, '', name));
    if (!namespace?.metadata.deletionTimestamp || !this.#holds(namespace)) {
      this.#terminating.delete(name);
      return;
    }
    const left = await this.#deleteContents(name);
    const reported = await this.#report(namespace, left);
    if (left.failures.length > 0) throw new Error(left.failures.join('; '));
    if (left.remaining.length > 0) return;
    if (reported) await this.#finalize(reported);
    this.#terminating.delete(name);
  }

  #holds(namespace: ApiObject): boolean {
    const finalizers = (namespace.spec as { finalizers?: string[] } | undefined)?.finalizers ?? [];
    return finalizers.includes(this.#host.naming.product);
  }

  async #deleteContents(namespace: string): Promise<Leftovers> {
    const failures: string[] = [];
    const remaining: { resource: ControlledResource; objects: readonly ApiObject[] }[] = [];
    for (const storageName of [...(this.#contents.get(namespace)?.keys() ?? [])]) {
      const resource = this.#catalog.byStorageName(storageName);
      if (!resource?.verbs.includes('delete')) continue;
      try {
        await this.#deleteAll(resource, namespace);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        failures.push(error.message);
      }
      const objects = this.#host.informer(storageName).list(namespace);
      if (objects.length > 0) remaining.push({ resource, objects });
    }
    return { failures, remaining };
  }

  async #deleteAll(resource: ControlledResource, namespace: string): Promise<void> {
    const options = { propagationPolicy: 'Background' };
    if (resource.verbs.includes('deletecollection')) {
      await this.#requests.delete(pathOf(resource, namespace), options);
      return;
    }
    for (const { metadata } of this.#host.informer(resource.storageName).list(namespace)) {
      if (!metadata.deletionTimestamp) await this.#requests.delete(pathOf(resource, namespace, metadata.name), options);
    }
  }

  /** Writes the conditions if they changed; the namespace as it is then. */
  async #report(namespace: ApiObject, left: Leftovers): Promise<ApiObject | undefined> {
    const current = (namespace.status as { conditions?: Condition[] } | undefined)?.conditions ?? [];
    const conditions = nextConditions(current, left, this.#host.naming, timestamp(this.#host));
    if (!conditions) return namespace;
    const path = pathOf({ apiVersion: 'v1', plural: 'namespaces' }, '', namespace.metadata.name);
    return this.#requests.merge(`${path}/status`, {
      metadata: { resourceVersion: namespace.metadata.resourceVersion },
      status: { conditions },
    });
  }

  async #finalize(namespace: ApiObject): Promise<void> {
    const spec = namespace.spec as { finalizers: string[] };
    const finalizers = spec.finalizers.filter(finalizer => finalizer !== this.#host.naming.product);
    const path = pathOf({ apiVersion: 'v1', plural: 'namespaces' }, '', namespace.metadata.name);
    await this.#requests.replace(`${path}/finalize`, { ...namespace, spec: { ...spec, finalizers } });
  }
}

/** Namespace deletion; its configuration lists the resources that namespaces can hold. */
export const namespaceDeletion = {
  name: 'controllers/namespace-deletion',
  parse: parseResources,
  contribute: config => [controller.of(host => new NamespaceDeletion(host, config))],
} satisfies Plugin<ResourcesConfig>;
