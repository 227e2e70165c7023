import {
  type ApiObject,
  type Controller,
  controller,
  type Host,
  type Plugin,
  Refusal,
  type ResourceEvent,
} from '../../../core/api/index.js';
import {
  Catalog,
  type ControlledResource,
  DEFINITIONS,
  parseResources,
  pathOf,
  type ResourcesConfig,
} from '../catalog.js';
import type { Condition } from '../conditions.js';
import { type RemainingContent, nextConditions } from './namespaceConditions.js';
import { WorkQueue } from '../queue.js';
import { Requests, timestamp } from '../requests.js';

const NAME = 'namespace-controller';
const NAMESPACES = 'core/namespaces';

/** Deletes the content of terminating namespaces, then finalizes them (spec, "Deletion lifecycle"). */
class NamespaceDeletion implements Controller {
  readonly name = NAME;
  readonly #host: Host<'control'>;
  readonly #catalog: Catalog;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;
  /** The number of objects by namespace and storage name: only existing objects are deleted. */
  readonly #contents = new Map<string, Map<string, number>>();
  readonly #terminating = new Set<string>();

  constructor(host: Host<'control'>, config: ResourcesConfig) {
    this.#host = host;
    this.#catalog = new Catalog(config);
    this.#requests = new Requests(host, NAME);
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: 4, handle: name => this.#process(name) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => this.#observe(event));
    await this.#queue.idle();
  }

  #observe(event: ResourceEvent): void {
    if (event.storageName === NAMESPACES) this.#observeNamespace(event);
    if (event.storageName === DEFINITIONS && event.type !== 'DELETED') this.#catalog.addDefinition(event.object());
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

  /** Deletes the content of a namespace. If some remains, the next event in the namespace causes another attempt. */
  async #process(name: string): Promise<void> {
    const namespace = await this.#requests.get(pathOf({ apiVersion: 'v1', plural: 'namespaces' }, '', name));
    if (!namespace?.metadata.deletionTimestamp || !this.#hasFinalizer(namespace)) {
      this.#terminating.delete(name);
      return;
    }
    const content = await this.#deleteContents(name);
    const reported = await this.#updateConditions(namespace, content);
    if (content.failures.length > 0) throw new Error(content.failures.join('; '));
    if (content.remaining.length > 0) return;
    if (reported) await this.#finalize(reported);
    this.#terminating.delete(name);
  }

  #hasFinalizer(namespace: ApiObject): boolean {
    const finalizers = (namespace.spec as { finalizers?: string[] } | undefined)?.finalizers ?? [];
    return finalizers.includes(this.#host.naming.product);
  }

  async #deleteContents(namespace: string): Promise<RemainingContent> {
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

  /** Writes the conditions if they have changed. Returns the resulting namespace. */
  async #updateConditions(namespace: ApiObject, content: RemainingContent): Promise<ApiObject | undefined> {
    const current = (namespace.status as { conditions?: Condition[] } | undefined)?.conditions ?? [];
    const conditions = nextConditions(current, content, this.#host.naming, timestamp(this.#host));
    if (!conditions) return namespace;
    const path = pathOf({ apiVersion: 'v1', plural: 'namespaces' }, '', namespace.metadata.name);
    // An update: the role of the controller has no patch.
    return this.#requests.replace(`${path}/status`, {
      ...namespace,
      status: { ...(namespace.status as object | undefined), conditions },
    } as ApiObject);
  }

  async #finalize(namespace: ApiObject): Promise<void> {
    const spec = namespace.spec as { finalizers: string[] };
    const finalizers = spec.finalizers.filter(finalizer => finalizer !== this.#host.naming.product);
    const path = pathOf({ apiVersion: 'v1', plural: 'namespaces' }, '', namespace.metadata.name);
    await this.#requests.replace(`${path}/finalize`, { ...namespace, spec: { ...spec, finalizers } });
  }
}

/** Namespace deletion. Its configuration lists the namespaced resources. */
export const namespaceDeletion = {
  name: 'controllers/namespace-deletion',
  parse: parseResources,
  contribute: config => [controller.of(host => new NamespaceDeletion(host, config))],
} satisfies Plugin<ResourcesConfig>;
