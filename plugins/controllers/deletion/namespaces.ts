import {
  type Client,
  type Condition,
  type Controller,
  controller,
  type CurrentObjects,
  type Host,
  type KeyOf,
  type ObjectKey,
  type Plugin,
  type ReconcileContext,
  reconciler,
  Refusal,
  type ResourceEvent,
  type ServedResource,
  timestamp,
} from '../../../core/api/index.js';
import type { Namespace } from '../../../kinds/v1.js';
import { discoveryFailureMessage, type RemainingContent, nextConditions } from './namespaceConditions.js';
import { deleteOtherContents } from './otherContents.js';
import { unlessRefused } from '../requests.js';

const NAME = 'namespace-controller';
const NAMESPACES = 'core/namespaces';
/** Time before a namespace is processed again while its content in other servers is being deleted. */
const LOOK_AGAIN_MS = 5000;

const keyOf = (name: string): KeyOf => ({ resource: NAMESPACES, name });

/** Deletes the content of terminating namespaces, then finalizes them (spec, "Deletion lifecycle"). */
class NamespaceDeletion {
  readonly #host: Host<'control'>;
  /** The number of objects by namespace and storage name: only existing objects are deleted. */
  readonly #contents = new Map<string, Map<string, number>>();
  readonly #terminating = new Set<string>();

  constructor(host: Host<'control'>) {
    this.#host = host;
  }

  /** Notes a change of any object. Returns the namespace to process, if any. */
  observe(event: ResourceEvent): KeyOf[] {
    if (event.storageName === NAMESPACES) return this.#observeNamespace(event);
    const { namespace } = event;
    if (namespace === '') return [];
    if (event.type !== 'MODIFIED') this.#count(event);
    return this.#terminating.has(namespace) ? [keyOf(namespace)] : [];
  }

  #observeNamespace({ type, name, object }: ResourceEvent): KeyOf[] {
    if (type === 'DELETED') this.#terminating.delete(name);
    else if (object().metadata.deletionTimestamp) {
      this.#terminating.add(name);
      return [keyOf(name)];
    }
    return [];
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
  async process(
    { name }: ObjectKey,
    { client, list }: ReconcileContext,
  ): Promise<{ readonly after: number } | undefined> {
    const namespace = await client.resource(NAMESPACES).get({ name });
    if (!namespace?.metadata.deletionTimestamp || !this.#hasFinalizer(namespace)) {
      this.#terminating.delete(name);
      return undefined;
    }
    const own = await this.#deleteContents(name, client, list);
    const others = await deleteOtherContents(name, list, request => this.#host.request(NAME, request));
    const content = merge(own, others);
    // Conditions first: if content remains, they tell users why the namespace is still there.
    const reported = await this.#updateConditions(namespace, content, client);
    if (content.undiscovered.length > 0) throw new Error(discoveryFailureMessage(content.undiscovered));
    if (content.failures.length > 0) throw new Error(content.failures.join('; '));
    // There are no events for objects of other servers.
    if (others.remaining.length > 0) return { after: LOOK_AGAIN_MS };
    if (content.remaining.length > 0) return undefined;
    if (reported) await this.#finalize(reported, client);
    this.#terminating.delete(name);
    return undefined;
  }

  #hasFinalizer({ spec }: Namespace): boolean {
    return (spec.finalizers ?? []).includes(this.#host.naming.product);
  }

  async #deleteContents(namespace: string, client: Client, list: CurrentObjects['list']): Promise<RemainingContent> {
    const failures: string[] = [];
    const remaining: RemainingContent['remaining'][number][] = [];
    for (const storageName of [...(this.#contents.get(namespace)?.keys() ?? [])]) {
      const resource = this.#host.resources.byStorageName(storageName);
      if (!resource?.verbs.includes('delete')) continue;
      try {
        await deleteAll(resource, namespace, client, list);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        failures.push(error.message);
      }
      const objects = list(storageName, namespace);
      if (objects.length > 0) remaining.push({ resource, objects });
    }
    return { failures, remaining, undiscovered: [] };
  }

  /** Writes the conditions if they have changed. Resolves with the resulting namespace; undefined if it is gone. */
  async #updateConditions(
    namespace: Namespace,
    content: RemainingContent,
    client: Client,
  ): Promise<Namespace | undefined> {
    const current = (namespace.status?.conditions ?? []) as Condition[];
    const conditions = nextConditions(current, content, this.#host.naming, timestamp(this.#host.now()));
    if (!conditions) return namespace;
    const status = { ...namespace.status, conditions };
    const written = client.resource(NAMESPACES).setStatus(namespace, status);
    return (await unlessRefused('NotFound', written)) as Namespace | undefined;
  }

  async #finalize(namespace: Namespace, client: Client): Promise<void> {
    const { spec } = namespace;
    const finalizers = (spec.finalizers ?? []).filter(finalizer => finalizer !== this.#host.naming.product);
    const changed = { ...namespace, spec: { ...spec, finalizers } };
    await unlessRefused('NotFound', client.resource(NAMESPACES).replace(changed, { subresource: 'finalize' }));
  }
}

const merge = (a: RemainingContent, b: RemainingContent): RemainingContent => ({
  failures: [...a.failures, ...b.failures],
  remaining: [...a.remaining, ...b.remaining],
  undiscovered: [...a.undiscovered, ...b.undiscovered],
});

/** Deletes all objects of a resource in a namespace. */
async function deleteAll(
  { storageName, verbs }: ServedResource,
  namespace: string,
  client: Client,
  list: CurrentObjects['list'],
): Promise<void> {
  const objects = client.resource(storageName);
  // Dependents are in the namespace, and are deleted with it: no object has to wait for its own.
  const propagationPolicy = 'Background';
  if (verbs.includes('deletecollection')) return await objects.deleteCollection({ namespace }, { propagationPolicy });
  for (const { metadata } of list(storageName, namespace))
    if (!metadata.deletionTimestamp) await objects.delete(metadata, { propagationPolicy });
}

function namespaceController(host: Host<'control'>): Controller {
  const deletion = new NamespaceDeletion(host);
  return reconciler({
    name: NAME,
    watches: [{ resource: '*', keys: event => deletion.observe(event) }],
    concurrency: 4,
    reconcile: (key, context) => deletion.process(key, context),
  })(host);
}

/** Namespace deletion. */
export const namespaceDeletion = {
  name: 'controllers/namespace-deletion',
  parse: () => ({}),
  contribute: () => [controller.of(namespaceController)],
} satisfies Plugin;
