import {
  type ApiObject,
  type Controller,
  controller,
  type Host,
  type OwnerReference,
  type Plugin,
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
import { inParallel, WorkQueue } from './queue.js';
import { Requests } from './requests.js';

const NAME = 'generic-garbage-collector';
/** Events are never owners and have their own lifetime. */
const IGNORED = new Set(['core/events']);
/** Objects worked on at a time; for an owner that is orphaned, so many of its dependents. */
const WORKERS = 16;
/** Texts one of which every object of the graph contains. */
const MARKS = ['ownerReferences', FOREGROUND, `"${ORPHAN}"`];
/** Owners known to be gone: saves a request per dependent of one owner. */
const ABSENT_OWNERS = 10_000;

/** How an owner stands to its dependent: there, gone, or waiting for the dependent to go. */
type Standing = 'solid' | 'absent' | 'waiting';

/** Where an owner is to be found. */
interface Place {
  readonly resource: ControlledResource;
  readonly namespace: string;
}

/**
 * Deletes what no owner is left for; completes foreground deletion and orphaning (ownerReferences, spec "ObjectMeta").
 */
class GarbageCollector implements Controller {
  readonly name = NAME;
  readonly #host: Host;
  readonly #catalog: Catalog;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;
  readonly #graph = new OwnerGraph();
  readonly #absent = new Set<string>();

  constructor(host: Host, config: ResourcesConfig) {
    this.#host = host;
    this.#catalog = new Catalog(config.resources);
    this.#requests = new Requests(host, NAME);
    this.#queue = new WorkQueue({ name: NAME, log: host.log, workers: WORKERS, handle: key => this.#process(key) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => this.#observe(event));
    await this.#queue.idle();
  }

  #observe(event: ResourceEvent): void {
    if (event.storageName === DEFINITIONS && event.type !== 'DELETED') this.#define(event.object());
    if (IGNORED.has(event.storageName)) return;
    const key = keyOf(event.storageName, event.namespace, event.name);
    const next = event.type === 'DELETED' || !mayMatter(event) ? undefined : nodeOf(event.storageName, event.object());
    const previous = this.#graph.set(key, next);
    if (next) this.#queue.add(key);
    for (const { uid } of previous?.owners ?? []) this.#wakeWaiting(uid);
    for (const { uid } of next?.owners ?? []) this.#wakeWaiting(uid);
    const uid = this.#leaving(event, previous, next);
    if (uid) for (const dependent of this.#graph.dependentsOf(uid)) this.#queue.add(dependent.key);
  }

  /** Uid of an object whose dependents must be looked at: it is gone, or began to wait for them. */
  #leaving(event: ResourceEvent, previous: Node | undefined, next: Node | undefined): string | undefined {
    if (!this.#graph.hasDependents) return undefined;
    if (event.type === 'DELETED') return event.object().metadata.uid;
    return next && awaitsDependents(next) && !(previous && awaitsDependents(previous)) ? next.uid : undefined;
  }

  /** A new kind may be one that dependents have been waiting for. */
  #define(definition: ApiObject): void {
    const added = this.#catalog.define(definition);
    if (added.size === 0) return;
    for (const node of this.#graph)
      if (node.owners.some(owner => added.has(owner.apiVersion))) this.#queue.add(node.key);
  }

  #wakeWaiting(uid: string): void {
    const owner = this.#graph.byUid(uid);
    if (owner && awaitsDependents(owner)) this.#queue.add(owner.key);
  }

  async #process(key: string): Promise<void> {
    const node = this.#graph.get(key);
    if (!node) return;
    if (awaitsOrphaning(node)) return this.#orphan(node);
    if (awaitsDependents(node)) await this.#finishForeground(node);
    else if (!node.deleting) await this.#collect(node);
  }

  /** Removes the owner's reference from every dependent, then lets the owner go. */
  async #orphan(owner: Node): Promise<void> {
    const dependents = this.#graph.dependentsOf(owner.uid);
    await inParallel(WORKERS, dependents, dependent =>
      this.#keepOwners(dependent, reference => reference.uid !== owner.uid),
    );
    await this.#removeFinalizer(owner, ORPHAN);
  }

  /** Lets the owner go once nothing blocks it, or nothing but what it blocks itself; blockers are asked to go. */
  async #finishForeground(owner: Node): Promise<void> {
    if (this.#graph.waitsInVain(owner)) return this.#removeFinalizer(owner, FOREGROUND);
    for (const blocker of this.#graph.blockersOf(owner.uid)) if (!blocker.deleting) this.#queue.add(blocker.key);
  }

  /** Deletes the object if no owner holds it, or else drops the references to owners that are gone or going. */
  async #collect(node: Node): Promise<void> {
    const places = node.owners.map(owner => this.#placeOf(node, owner));
    // Of what cannot be looked up nobody knows whether it is gone.
    if (places.includes(undefined)) return;
    const standings = new Map<OwnerReference, Standing>();
    for (const [i, owner] of node.owners.entries()) standings.set(owner, await this.#standing(owner, places[i]!));
    const all = [...standings.values()];
    if (!all.includes('solid')) return this.#delete(node, all.includes('waiting'));
    if (all.some(standing => standing !== 'solid')) {
      const gone = new Set([...standings].filter(([, standing]) => standing !== 'solid').map(([owner]) => owner.uid));
      await this.#keepOwners(node, reference => !gone.has(reference.uid));
    }
  }

  /**
   * Undefined for kinds that are not served, and for what cannot own: no object outside of namespaces has an owner in
   * one.
   */
  #placeOf(node: Node, owner: OwnerReference): Place | undefined {
    const resource = this.#catalog.byKind(owner.apiVersion, owner.kind);
    if (!resource || (resource.namespaced && node.namespace === '')) return undefined;
    return { resource, namespace: resource.namespaced ? node.namespace : '' };
  }

  async #standing(owner: OwnerReference, { resource, namespace }: Place): Promise<Standing> {
    const identity = `${keyOf(resource.storageName, namespace, owner.name)}|${owner.uid}`;
    if (this.#absent.has(identity)) return 'absent';
    const seen = this.#host.informer(resource.storageName).get(namespace, owner.name);
    // A deletion on the ground of absence is confirmed by the store itself.
    const found =
      seen?.metadata.uid === owner.uid ? seen : await this.#requests.get(pathOf(resource, namespace, owner.name));
    if (found?.metadata.uid !== owner.uid) {
      this.#rememberAbsent(identity);
      return 'absent';
    }
    const { deletionTimestamp, finalizers } = found.metadata;
    return awaitsDependents({ deleting: !!deletionTimestamp, finalizers: finalizers ?? [] }) ? 'waiting' : 'solid';
  }

  #rememberAbsent(identity: string): void {
    if (this.#absent.size >= ABSENT_OWNERS) this.#absent.clear();
    this.#absent.add(identity);
  }

  /** `inForeground`: an owner waits for this object, so its own dependents must be gone before it is. */
  async #delete(node: Node, inForeground: boolean): Promise<void> {
    const path = this.#path(node);
    if (!path) return;
    const propagationPolicy =
      inForeground && this.#graph.dependentsOf(node.uid).length > 0 ? 'Foreground' : policyOf(node);
    // As it was judged: whose owners have changed meanwhile is judged again.
    const { uid, resourceVersion } = node;
    await this.#requests.delete(path, { preconditions: { uid, resourceVersion }, propagationPolicy });
  }

  async #keepOwners(node: Node, keep: (owner: OwnerReference) => boolean): Promise<void> {
    const current = await this.#current(node);
    if (!current) return;
    const { resourceVersion, ownerReferences = [] } = current.object.metadata;
    const next = ownerReferences.filter(keep);
    if (next.length === ownerReferences.length) return;
    await this.#requests.merge(current.path, {
      metadata: { uid: node.uid, resourceVersion, ownerReferences: next.length > 0 ? next : null },
    });
  }

  async #removeFinalizer(node: Node, finalizer: string): Promise<void> {
    const current = await this.#current(node);
    if (!current) return;
    const { resourceVersion, finalizers = [] } = current.object.metadata;
    if (!finalizers.includes(finalizer)) return;
    const next = finalizers.filter(other => other !== finalizer);
    await this.#requests.merge(current.path, {
      metadata: { uid: node.uid, resourceVersion, finalizers: next.length > 0 ? next : null },
    });
  }

  /** The object as stored now; undefined if it is gone or another has its name. */
  async #current(node: Node): Promise<{ path: string; object: ApiObject } | undefined> {
    const path = this.#path(node);
    const object = path === undefined ? undefined : await this.#requests.get(path);
    return path !== undefined && object?.metadata.uid === node.uid ? { path, object } : undefined;
  }

  #path(node: Node): string | undefined {
    const resource = this.#catalog.byStorageName(node.storageName);
    return resource && pathOf(resource, node.namespace, node.name);
  }
}

const mayMatter = (event: ResourceEvent): boolean => !event.mentions || MARKS.some(mark => event.mentions?.(mark));

/** A policy that a client asked for before, shown by its finalizer, stays. */
function policyOf(node: Node): 'Orphan' | 'Foreground' | 'Background' {
  if (node.finalizers.includes(ORPHAN)) return 'Orphan';
  return node.finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background';
}

/** The garbage collector of owner references; its configuration lists the resources that can own and be owned. */
export const garbageCollector = {
  name: 'controllers/garbage-collector',
  parse: parseResources,
  contribute: config => [controller.of(host => new GarbageCollector(host, config))],
} satisfies Plugin<ResourcesConfig>;
