import { deepFreeze } from '../api/checks/freeze.js';
import type { Host, Informer, LabeledInformer, InternalRequest, ResourceEvent, Thread } from '../api/host.js';
import type { Combined, Contributed, Plugin, Point } from '../api/point.js';
import type { CheckedRef, ObjectOf, ResourceRef, Resources } from '../api/client/reference.js';
import type { ApiObject } from '../model/object.js';
import { featureGates } from '../features/gates.js';
import { notFound } from '../model/refusal.js';
import { namingOf, type NamingName } from '../naming.js';
import { storageNameOf } from '../plugin/resourceNames.js';
import type { ServedResources } from '../plugin/servedResources.js';
import { FakeServices, type FakeService } from './fakeServices.js';
import { fakeResources } from './resources.js';

/** One record that a plugin wrote to its log. */
export interface FakeLogRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** A count of a plugin in a metric. */
export interface Observation {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A host for tests of one plugin's parts, without a server. Its clock is the test's. */
export interface FakeHost<T extends Thread> {
  /** The host that the plugin gets. */
  readonly host: Host<T>;
  /** Milliseconds since the epoch that `host.now()` returns; set it to move the clock. */
  now: number;
  /** Feature gates that `host.isEnabled` says are on: at first, those of the release. */
  readonly features: Set<string>;
  /** Everything that was logged. */
  readonly log: readonly FakeLogRecord[];
  /** The counts of `host.observe`. */
  readonly observations: readonly Observation[];
  /** Requests of controllers. */
  readonly requests: readonly { readonly controller: string; readonly request: InternalRequest }[];
  /** Answers requests of controllers; set it to answer with something other than 404. */
  answer: (request: InternalRequest, controller: string) => ApiObject | Promise<ApiObject>;
  /** Stores an object of a resource for informers, and reports the change to `host.watch`. */
  put<const R extends ResourceRef>(resource: CheckedRef<R>, object: ApiObject): void;
  /** Deletes an object; the namespace of a cluster-scoped object is ''. */
  delete<const R extends ResourceRef>(resource: CheckedRef<R>, namespace: string, name: string): void;
  /**
   * Sets the service that `host.service` finds by its name: the state that it has published, and its answers. Without
   * `ask`, questions are refused, as by a service without answers.
   */
  setService(name: string, service: FakeService): void;
  /** Sets the result of `host.at` for a point. */
  setCombination<Out>(point: Combined<Out>, value: Out): void;
  /** Runs the functions that were registered with `host.onClose`, in reverse order. */
  close(): Promise<void>;
}

/** Storage name of definitions of kinds. */
const DEFINITIONS = 'apiextensions.orchestrator.io/customresourcedefinitions';
/** The time at which the clock of a fake host begins: 2030-01-01T00:00:00Z. */
const START = Date.UTC(2030, 0, 1);

/** The current objects of one resource. */
class FakeInformer implements LabeledInformer {
  readonly objects = new Map<string, ApiObject>();
  revision = 0;

  get(namespace: string, name: string): ApiObject | undefined {
    return this.objects.get(`${namespace}/${name}`);
  }

  list(namespace?: string): readonly ApiObject[] {
    const all = [...this.objects.values()];
    return namespace === undefined ? all : all.filter(({ metadata }) => (metadata.namespace ?? '') === namespace);
  }

  labeled(namespace: string, label: string, value: string): readonly ApiObject[] {
    return this.list(namespace).filter(({ metadata }) => metadata.labels?.[label] === value);
  }

  listFirst(namespace: string, bytes: number): ReturnType<LabeledInformer['listFirst']> {
    const nameOf = ({ metadata }: ApiObject): string => metadata.name ?? '';
    const all = this.list(namespace).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    let left = bytes;
    const isBeyond = (object: ApiObject): boolean => (left -= Buffer.byteLength(JSON.stringify(object))) < 0;
    const end = all.findIndex(isBeyond);
    return { objects: end < 0 ? all : all.slice(0, end), total: all.length };
  }
}

/**
 * Makes a fake host of a thread: `front`, `pool`, `writer` or `control`.
 *
 * @example
 * const [part] = await partsOf(plugin, {}, authorizer, fake.host);
 */
export function fakeHost<T extends Thread>(thread: T, naming: NamingName = 'neutral'): FakeHost<T> {
  const informers = new Map<string, FakeInformer>();
  const listeners: ((event: ResourceEvent) => void)[] = [];
  const releases: (() => unknown)[] = [];
  const combinations = new Map<string, unknown>();
  const log: FakeLogRecord[] = [];
  const observations: Observation[] = [];
  const requests: { controller: string; request: InternalRequest }[] = [];
  const services = new FakeServices();
  let revision = 0;

  const informer = (storageName: string): FakeInformer => {
    const found = informers.get(storageName) ?? new FakeInformer();
    informers.set(storageName, found);
    return found;
  };
  const logger = (level: FakeLogRecord['level']) => (fields: object, message: string) =>
    void log.push({ level, fields, message });
  // Building them takes longer than most tests.
  let resources: ServedResources | undefined;
  const resourcesOfHost = (): ServedResources => (resources ??= fakeResources(naming));
  const eventOf = (
    type: ResourceEvent['type'],
    storageName: string,
    object: ApiObject,
    old?: ApiObject,
  ): ResourceEvent => {
    const { namespace = '', name = '' } = object.metadata;
    const text = JSON.stringify(object);
    return {
      type,
      storageName,
      namespace,
      name,
      revision,
      object: () => object,
      ...(old ? { old: () => old } : {}),
      mentions: part => text.includes(part),
    };
  };
  const announce = (event: ResourceEvent): void => {
    for (const listener of listeners) listener(event);
  };

  const members: Omit<Host<'control'> & Pick<Host<'pool'>, 'service'>, 'thread'> & { readonly thread: Thread } = {
    thread,
    log: { debug: logger('debug'), info: logger('info'), warn: logger('warn'), error: logger('error') },
    naming: namingOf(naming),
    now: () => fake.now,
    isEnabled: feature => fake.features.has(feature),
    observe: (metric, labels, value) => void observations.push({ metric, labels, value }),
    service: name => services.client(name),
    onClose: release => void releases.push(release),
    informer: <const R extends ResourceRef>(resource: CheckedRef<R>) =>
      informer(storageNameOf(resource)) as Informer as Informer<ObjectOf<R>>,
    findByUid: uids => {
      const found = [...informers].flatMap(([storageName, { objects }]) =>
        [...objects.values()].flatMap(({ metadata: { uid, namespace = '', name = '' } }) =>
          uid !== undefined && uids.has(uid) ? [[uid, { storageName, namespace, name }] as const] : [],
        ),
      );
      return Promise.resolve(new Map(found));
    },
    get resources(): Resources {
      return resourcesOfHost();
    },
    request: async (controller, request) => {
      requests.push({ controller, request });
      return await fake.answer(request, controller);
    },
    onChange: (resource, listener) => {
      const storageName = storageNameOf(resource);
      members.watch(event => event.storageName === storageName && listener(event));
    },
    watch: listener => {
      for (const [storageName, { objects }] of informers)
        for (const object of objects.values()) listener(eventOf('ADDED', storageName, object));
      listeners.push(listener);
    },
    at: <Out>(point: Combined<Out>): Out =>
      (combinations.has(point.name) ? combinations.get(point.name) : point.combine([] as never)) as Out,
  };

  const fake: FakeHost<T> = {
    host: members as unknown as Host<T>,
    now: START,
    features: new Set(featureGates({ featureGates: [], emulatedVersion: [], naming: 'neutral' }).enabled),
    log,
    observations,
    requests,
    answer: ({ path }) => {
      throw notFound({ group: '', resource: 'requests' }, path);
    },
    put(resource, object) {
      const storageName = storageNameOf(resource);
      const { namespace = '', name = '' } = object.metadata;
      const { objects } = informer(storageName);
      const old = objects.get(`${namespace}/${name}`);
      const stored = structuredClone(object);
      deepFreeze(stored);
      objects.set(`${namespace}/${name}`, stored);
      informer(storageName).revision = ++revision;
      if (storageName === DEFINITIONS) resourcesOfHost().addDefinition(stored);
      announce(eventOf(old ? 'MODIFIED' : 'ADDED', storageName, stored, old));
    },
    delete(resource, namespace, name) {
      const storageName = storageNameOf(resource);
      const found = informer(storageName);
      const object = found.get(namespace, name);
      if (!object) return;
      found.objects.delete(`${namespace}/${name}`);
      found.revision = ++revision;
      announce(eventOf('DELETED', storageName, object));
    },
    setService: (name, service) => services.set(name, service),
    setCombination: (point, value) => void combinations.set(point.name, value),
    async close() {
      for (const release of releases.splice(0).reverse()) await release();
    },
  };
  return fake;
}

/**
 * Creates the parts that a plugin with these settings contributes to a point, as a server does.
 *
 * @example
 * const [keys] = await partsOf(plugin, { keys: [] }, authenticator, fakeHost('pool').host);
 */
export async function partsOf<Config, T extends Thread, In, Out>(
  plugin: Plugin<Config>,
  config: unknown,
  point: Point<T, In, Out>,
  host: Host<T>,
): Promise<In[]> {
  const contributions = plugin.contribute(plugin.parse(config)).filter(one => one.point === point.name);
  const parts: In[] = [];
  for (const contribution of contributions) parts.push((await contribution.make(host as unknown as Host)) as In);
  return parts;
}

/**
 * Combines the parts of one plugin as the point does. A server calls the result.
 *
 * @example
 * const authorization = combine(authorizer, await partsOf(plugin, {}, authorizer, fake.host));
 */
export const combine = <T extends Thread, In, Out>(point: Point<T, In, Out>, parts: readonly In[]): Out =>
  point.combine(
    parts.map(
      (value): Contributed<In> => ({ plugin: 'test', value, failurePolicy: 'Fail', call: operation => operation() }),
    ),
  );
