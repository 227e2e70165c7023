import {
  type ApiObject,
  type Controller,
  controller,
  type Host,
  type OwnerReference,
  type Plugin,
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
import { forEachParallel, WorkQueue } from '../queue.js';
import { Requests } from '../requests.js';

const NAME = 'generic-garbage-collector';
/** Events are never owners and expire by themselves. */
const IGNORED = new Set(['core/events']);
/** Objects processed concurrently; also dependents of an owner that are orphaned concurrently. */
const WORKERS = 16;
/** Cached absent owners, which save a request for each further dependent. */
const MAX_ABSENT_OWNERS = 10_000;

/** The state of an owner: it exists (`solid`), does not exist, or waits for the deletion of its dependents. */
type OwnerState = 'solid' | 'absent' | 'waiting';

/** The resource and the namespace of an owner. */
interface OwnerLocation {
  readonly resource: ControlledResource;
  readonly namespace: string;
}

/** Deletes objects whose owners are all absent, and completes foreground deletion and orphaning. */
class GarbageCollector implements Controller {
  readonly name = NAME;
  readonly #host: Host<'control'>;
  readonly #catalog: Catalog;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;
  readonly #graph = new OwnerGraph();
  readonly #absent = new Set<string>();

  constructor(host: Host<'control'>, config: ResourcesConfig) {
    this.#host = host;
    this.#catalog = new Catalog(config);
    this.#requests = new Requests(host, NAME);
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: WORKERS, handle: key => this.#process(key) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => this.#observe(event));
    await this.#queue.idle();
  }

  #observe(event: ResourceEvent): void {
    if (event.storageName === DEFINITIONS && event.type !== 'DELETED') this.#addDefinition(event.object());
    if (IGNORED.has(event.storageName)) return;
    const key = keyOf(event.storageName, event.namespace, event.name);
    const next = event.type === 'DELETED' || !isRelevant(event) ? undefined : nodeOf(event.storageName, event.object());
    const previous = this.#graph.set(key, next);
    if (next) this.#queue.add(key);
    for (const { uid } of previous?.owners ?? []) this.#requeueIfWaiting(uid);
    for (const { uid } of next?.owners ?? []) this.#requeueIfWaiting(uid);
    const uid = this.#dependentsToRecheck(event, previous, next);
    if (uid) for (const dependent of this.#graph.dependentsOf(uid)) this.#queue.add(dependent.key);
  }

  /** The uid of an object whose dependents must be processed: it was deleted, or has started to wait for them. */
  #dependentsToRecheck(event: ResourceEvent, previous: Node | undefined, next: Node | undefined): string | undefined {
    if (!this.#graph.hasDependents) return undefined;
    if (event.type === 'DELETED') return event.object().metadata.uid;
    return next && awaitsDependents(next) && !(previous && awaitsDependents(previous)) ? next.uid : undefined;
  }

  /** Adds the kind of a definition and processes the objects with owners of that kind. */
  #addDefinition(definition: ApiObject): void {
    const added = this.#catalog.addDefinition(definition);
    if (added.size === 0) return;
    for (const node of this.#graph)
      if (node.owners.some(owner => added.has(owner.apiVersion))) this.#queue.add(node.key);
  }

  #requeueIfWaiting(uid: string): void {
    const owner = this.#graph.byUid(uid);
    if (owner && awaitsDependents(owner)) this.#queue.add(owner.key);
  }

  async #process(key: string): Promise<void> {
    const node = this.#graph.get(key);
    if (!node) return;
    if (awaitsOrphaning(node)) return this.#orphanDependents(node);
    if (awaitsDependents(node)) await this.#finishForeground(node);
    else if (!node.deleting) await this.#deleteOrDropOwners(node);
  }

  /** Removes the references to an owner from its dependents, then the owner's finalizer. */
  async #orphanDependents(owner: Node): Promise<void> {
    const dependents = this.#graph.dependentsOf(owner.uid);
    await forEachParallel(WORKERS, dependents, dependent =>
      this.#filterOwners(dependent, reference => reference.uid !== owner.uid),
    );
    await this.#removeFinalizer(owner, ORPHAN);
  }

  /** Removes the owner's finalizer once no dependent blocks it, except in a cycle; otherwise processes the blockers. */
  async #finishForeground(owner: Node): Promise<void> {
    if (this.#graph.canFinishDeletion(owner)) return this.#removeFinalizer(owner, FOREGROUND);
    for (const blocker of this.#graph.blockersOf(owner.uid)) if (!blocker.deleting) this.#queue.add(blocker.key);
  }

  /**
   * Deletes an object with owners of which none is solid. Otherwise removes its references to owners that are not
   * solid. An object in the graph may have no owners, only a finalizer.
   */
  async #deleteOrDropOwners(node: Node): Promise<void> {
    if (node.owners.length === 0) return;
    const locations = node.owners.map(owner => this.#locate(node, owner));
    // An owner that cannot be looked up may exist.
    if (locations.includes(undefined)) return;
    const states = new Map<OwnerReference, OwnerState>();
    for (const [i, owner] of node.owners.entries()) states.set(owner, await this.#ownerState(owner, locations[i]!));
    const all = [...states.values()];
    if (!all.includes('solid')) return this.#delete(node, all.includes('waiting'));
    if (all.some(state => state !== 'solid')) {
      const gone = new Set([...states].filter(([, state]) => state !== 'solid').map(([owner]) => owner.uid));
      await this.#filterOwners(node, reference => !gone.has(reference.uid));
    }
  }

  /** Undefined if the owner's kind is not served, or if it is namespaced and the dependent is not. */
  #locate(node: Node, owner: OwnerReference): OwnerLocation | undefined {
    const resource = this.#catalog.byKind(owner.apiVersion, owner.kind);
    if (!resource || (resource.namespaced && node.namespace === '')) return undefined;
    return { resource, namespace: resource.namespaced ? node.namespace : '' };
  }

  async #ownerState(owner: OwnerReference, { resource, namespace }: OwnerLocation): Promise<OwnerState> {
    const identity = `${keyOf(resource.storageName, namespace, owner.name)}|${owner.uid}`;
    if (this.#absent.has(identity)) return 'absent';
    const cached = this.#host.informer(resource.storageName).get(namespace, owner.name);
    // The informer's cache may be stale, so an absent owner is confirmed by a request.
    const found =
      cached?.metadata.uid === owner.uid ? cached : await this.#requests.get(pathOf(resource, namespace, owner.name));
    if (found?.metadata.uid !== owner.uid) {
      this.#rememberAbsent(identity);
      return 'absent';
    }
    const { deletionTimestamp, finalizers } = found.metadata;
    return awaitsDependents({ deleting: !!deletionTimestamp, finalizers: finalizers ?? [] }) ? 'waiting' : 'solid';
  }

  #rememberAbsent(identity: string): void {
    if (this.#absent.size >= MAX_ABSENT_OWNERS) this.#absent.clear();
    this.#absent.add(identity);
  }

  /** Deletes an object; with `inForeground`, after its own dependents, because an owner waits for all of them. */
  async #delete(node: Node, inForeground: boolean): Promise<void> {
    const path = this.#path(node);
    if (!path) return;
    const propagationPolicy =
      inForeground && this.#graph.dependentsOf(node.uid).length > 0 ? 'Foreground' : propagationPolicyOf(node);
    // If the object has changed meanwhile, the deletion fails and its event causes another attempt.
    const { uid, resourceVersion } = node;
    await this.#requests.delete(path, { preconditions: { uid, resourceVersion }, propagationPolicy });
  }

  async #filterOwners(node: Node, keep: (owner: OwnerReference) => boolean): Promise<void> {
    const current = await this.#fetchCurrent(node);
    if (!current) return;
    const { resourceVersion, ownerReferences = [] } = current.object.metadata;
    const next = ownerReferences.filter(keep);
    if (next.length === ownerReferences.length) return;
    await this.#requests.merge(current.path, {
      metadata: { uid: node.uid, resourceVersion, ownerReferences: next.length > 0 ? next : null },
    });
  }

  async #removeFinalizer(node: Node, finalizer: string): Promise<void> {
    const current = await this.#fetchCurrent(node);
    if (!current) return;
    const { resourceVersion, finalizers = [] } = current.object.metadata;
    if (!finalizers.includes(finalizer)) return;
    const next = finalizers.filter(other => other !== finalizer);
    await this.#requests.merge(current.path, {
      metadata: { uid: node.uid, resourceVersion, finalizers: next.length > 0 ? next : null },
    });
  }

  /** Reads the current object and its path; undefined if it was deleted or replaced by another of the same name. */
  async #fetchCurrent(node: Node): Promise<{ path: string; object: ApiObject } | undefined> {
    const path = this.#path(node);
    const object = path === undefined ? undefined : await this.#requests.get(path);
    return path !== undefined && object?.metadata.uid === node.uid ? { path, object } : undefined;
  }

  #path(node: Node): string | undefined {
    const resource = this.#catalog.byStorageName(node.storageName);
    return resource && pathOf(resource, node.namespace, node.name);
  }
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

/** The garbage collector. Its configuration lists the resources that can be owners or dependents. */
export const garbageCollector = {
  name: 'controllers/garbage-collector',
  parse: parseResources,
  contribute: config => [controller.of(host => new GarbageCollector(host, config))],
} satisfies Plugin<ResourcesConfig>;
