import {
  type Controller,
  controller,
  type Frozen,
  type Host,
  type KeyOf,
  type ObjectKey,
  type OwnerReference,
  type Plugin,
  type ReconcileContext,
  reconciler,
  type ResourceEvent,
  type ServedResource,
} from '../../../core/api/index.js';
import { DEFINITIONS } from '../definitions/storageName.js';
import {
  awaitsDependents,
  awaitsOrphaning,
  FOREGROUND,
  keyOf,
  type Node,
  nodeOf,
  ORPHAN,
  OwnerGraph,
} from './ownerGraph.js';
import { MisplacedOwners } from './misplacedOwners.js';
import { forEachParallel } from '../parallel.js';
import { unlessRefused } from '../requests.js';

const NAME = 'garbage-collector-controller';
/** The service account with which it sends its requests. */
const ACCOUNT = 'generic-garbage-collector';
/** Events are never owners and expire by themselves. */
const IGNORED = new Set(['core/events']);
/** Objects processed concurrently; also dependents of an owner that are orphaned concurrently. */
const WORKERS = 16;
/** Cached absent owners, which save a request for each further dependent. */
const MAX_ABSENT_OWNERS = 10_000;

/** The state of an owner: it exists (`solid`), does not exist, or waits for the deletion of its dependents. */
type OwnerState = 'solid' | 'absent' | 'waiting';

/** The parts of a definition that its kinds depend on. */
interface DefinitionSpec {
  readonly group: string;
  readonly names: { readonly kind: string };
  readonly versions: readonly { readonly name: string }[];
}

/** The resource and the namespace of an owner. */
interface OwnerLocation {
  readonly resource: ServedResource;
  readonly namespace: string;
}

/** Deletes objects whose owners are all absent, and completes foreground deletion and orphaning. */
class GarbageCollector {
  readonly #host: Host<'control'>;
  readonly #graph = new OwnerGraph();
  readonly #misplaced: MisplacedOwners;
  /** Absent owners. */
  readonly #absent = new Set<string>();
  /** Kinds that definitions have added, as `<apiVersion>/<kind>`. */
  readonly #defined = new Set<string>();

  constructor(host: Host<'control'>) {
    this.#host = host;
    this.#misplaced = new MisplacedOwners(host);
  }

  /** Updates the graph. Returns the keys of the objects to process. */
  observe(event: ResourceEvent): Node[] {
    const found = event.storageName === DEFINITIONS && event.type !== 'DELETED' ? this.#addDefinition(event) : [];
    if (IGNORED.has(event.storageName)) return found;
    const key = keyOf(event.storageName, event.namespace, event.name);
    const next = event.type === 'DELETED' || !isRelevant(event) ? undefined : nodeOf(event.storageName, event.object());
    const previous = this.#graph.set(key, next);
    this.#misplaced.observe(key, previous, next);
    if (next) found.push(next);
    for (const { uid } of previous?.owners ?? []) found.push(...this.#waitingOwner(uid));
    for (const { uid } of next?.owners ?? []) found.push(...this.#waitingOwner(uid));
    const uid = this.#dependentsToRecheck(event, previous, next);
    if (uid) found.push(...this.#graph.dependentsOf(uid));
    return found;
  }

  /** The uid of an object whose dependents must be processed: it was deleted, or has started to wait for them. */
  #dependentsToRecheck(event: ResourceEvent, previous: Node | undefined, next: Node | undefined): string | undefined {
    if (!this.#graph.hasDependents) return undefined;
    if (event.type === 'DELETED') {
      const { uid } = event.object().metadata;
      if (uid !== undefined && this.#graph.dependentsOf(uid).length > 0) this.#misplaced.deleted(uid);
      return uid;
    }
    return next && awaitsDependents(next) && !(previous && awaitsDependents(previous)) ? next.uid : undefined;
  }

  /** The objects with owners of a kind that a definition has just added. */
  #addDefinition(event: ResourceEvent): Node[] {
    const { group, names, versions } = event.object().spec as DefinitionSpec;
    const added = versions
      .map(({ name }) => `${group}/${name}`)
      .filter(one => this.#host.resources.byKind(one, names.kind) && !this.#defined.has(`${one}/${names.kind}`));
    for (const apiVersion of added) this.#defined.add(`${apiVersion}/${names.kind}`);
    if (added.length === 0) return [];
    return [...this.#graph].filter(node => node.owners.some(owner => added.includes(owner.apiVersion)));
  }

  /** An owner, if it waits for its dependents. */
  #waitingOwner(uid: string): Node[] {
    const owner = this.#graph.byUid(uid);
    return owner && awaitsDependents(owner) ? [owner] : [];
  }

  async process({ resource, namespace, name }: ObjectKey, context: ReconcileContext): Promise<void> {
    const key = keyOf(resource, namespace, name);
    if (!this.#host.resources.byStorageName(resource)) return;
    const seen = this.#graph.get(key);
    if (seen) await this.#misplaced.check(seen, context);
    const node = this.#graph.get(key);
    if (!node) return;
    if (awaitsOrphaning(node)) return this.#orphanDependents(node, context);
    if (awaitsDependents(node)) await this.#finishForeground(node, context);
    else if (!node.deleting) await this.#deleteOrDropOwners(node, context);
  }

  /** Removes the references to an owner from its dependents, then the owner's finalizer. */
  async #orphanDependents(owner: Node, context: ReconcileContext): Promise<void> {
    const dependents = this.#graph.dependentsOf(owner.uid);
    await forEachParallel(WORKERS, dependents, dependent =>
      filterOwners(dependent, context, reference => reference.uid !== owner.uid),
    );
    await removeFinalizer(owner, context, ORPHAN);
  }

  /** Removes the owner's finalizer once no dependent blocks it, except in a cycle; otherwise processes the blockers. */
  async #finishForeground(owner: Node, context: ReconcileContext): Promise<void> {
    if (this.#graph.canFinishDeletion(owner)) return removeFinalizer(owner, context, FOREGROUND);
    for (const blocker of this.#graph.blockersOf(owner.uid)) if (!blocker.deleting) context.add(keyOfNode(blocker));
  }

  /**
   * Deletes an object that has owners, none of which is solid. Otherwise removes its references to owners that are not
   * solid. An object in the graph may have no owners, only a finalizer.
   */
  async #deleteOrDropOwners(node: Node, context: ReconcileContext): Promise<void> {
    if (node.owners.length === 0) return;
    const locations = node.owners.map(owner => this.#locate(node, owner));
    // An owner that cannot be looked up may exist: deleting its dependents could not be undone.
    if (locations.includes(undefined)) return;
    const states = new Map<Frozen<OwnerReference>, OwnerState>();
    for (const [i, owner] of node.owners.entries())
      states.set(owner, await this.#ownerState(owner, locations[i]!, context));
    const all = [...states.values()];
    if (!all.includes('solid')) return this.#delete(node, all.includes('waiting'), context);
    if (all.some(state => state !== 'solid')) {
      const gone = new Set([...states].filter(([, state]) => state !== 'solid').map(([owner]) => owner.uid));
      await filterOwners(node, context, reference => !gone.has(reference.uid));
    }
  }

  /** Undefined if the owner's kind is not served, or if it is namespaced and the dependent is not. */
  #locate(node: Node, owner: Frozen<OwnerReference>): OwnerLocation | undefined {
    const resource = this.#host.resources.byKind(owner.apiVersion, owner.kind);
    if (!resource || (resource.namespaced && node.namespace === '')) return undefined;
    return { resource, namespace: resource.namespaced ? node.namespace : '' };
  }

  async #ownerState(
    owner: Frozen<OwnerReference>,
    { resource, namespace }: OwnerLocation,
    context: ReconcileContext,
  ): Promise<OwnerState> {
    const { storageName } = resource;
    const { get, client } = context;
    const name = { namespace, name: owner.name };
    const identity = `${keyOf(storageName, namespace, owner.name)}|${owner.uid}`;
    if (this.#absent.has(identity)) return 'absent';
    const cached = get(storageName, name);
    // The informer's cache may be stale, so an absent owner is confirmed by a request.
    const found = cached?.metadata.uid === owner.uid ? cached : await client.resource(storageName).get(name);
    if (found?.metadata.uid !== owner.uid) {
      if (this.#absent.size >= MAX_ABSENT_OWNERS) this.#absent.clear();
      this.#absent.add(identity);
      return 'absent';
    }
    const { deletionTimestamp, finalizers } = found.metadata;
    return awaitsDependents({ deleting: !!deletionTimestamp, finalizers: finalizers ?? [] }) ? 'waiting' : 'solid';
  }

  /** Deletes an object; with `inForeground`, after its own dependents, because an owner waits for all of them. */
  async #delete(node: Node, inForeground: boolean, { client }: ReconcileContext): Promise<void> {
    const propagationPolicy =
      inForeground && this.#graph.dependentsOf(node.uid).length > 0 ? 'Foreground' : propagationPolicyOf(node);
    // If the object has changed meanwhile, the deletion fails and its event causes another attempt.
    const { uid, resourceVersion } = node;
    const preconditions = { uid, resourceVersion };
    await client.resource(node.storageName).delete(node, { preconditions, propagationPolicy });
  }
}

const keyOfNode = ({ storageName, namespace, name }: Node): KeyOf => ({ resource: storageName, namespace, name });

/** Removes owner references that `keep` rejects. Does nothing if the name now belongs to an object with another uid. */
async function filterOwners(
  node: Node,
  { client }: ReconcileContext,
  keep: (owner: OwnerReference) => boolean,
): Promise<void> {
  const objects = client.resource(node.storageName);
  const current = await objects.get(node);
  if (current?.metadata.uid !== node.uid) return;
  const { resourceVersion, ownerReferences = [] } = current.metadata;
  const next = ownerReferences.filter(keep);
  if (next.length === ownerReferences.length) return;
  const metadata = { uid: node.uid, resourceVersion, ownerReferences: next.length > 0 ? next : null };
  await unlessRefused('NotFound', objects.patch(node, { metadata }));
}

/** Removes a finalizer. Does nothing if the name now belongs to an object with another uid. */
async function removeFinalizer(node: Node, { client }: ReconcileContext, finalizer: string): Promise<void> {
  const objects = client.resource(node.storageName);
  const current = await objects.get(node);
  if (current?.metadata.uid === node.uid) await objects.removeFinalizer(current, finalizer);
}

/** False only for objects that are not in the graph. Most have no finalizers, and are searched for two texts only. */
const isRelevant = ({ mentions }: ResourceEvent): boolean =>
  !mentions ||
  mentions('"ownerReferences"') ||
  (mentions('"finalizers"') && (mentions(`"${FOREGROUND}"`) || mentions(`"${ORPHAN}"`)));

/** The propagation policy of an earlier deletion request, which the finalizer shows; otherwise Background. */
function propagationPolicyOf(node: Node): 'Orphan' | 'Foreground' | 'Background' {
  if (node.finalizers.includes(ORPHAN)) return 'Orphan';
  return node.finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background';
}

function collector(host: Host<'control'>): Controller {
  const garbage = new GarbageCollector(host);
  return reconciler({
    name: NAME,
    account: ACCOUNT,
    watches: [{ resource: '*', keys: event => garbage.observe(event).map(keyOfNode) }],
    concurrency: WORKERS,
    reconcile: (key, context) => garbage.process(key, context),
  })(host);
}

/** The garbage collector. */
export const garbageCollector = {
  name: 'controllers/garbage-collector',
  parse: () => ({}),
  contribute: () => [controller.of(collector)],
} satisfies Plugin;
