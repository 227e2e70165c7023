import type {
  ApiObject,
  FoundObject,
  Host,
  Informer,
  InternalRequest,
  JsonObject,
  ObjectOf,
  ResourceRef,
  ResourceEvent,
  ServedResource,
} from '../../core/api/index.js';
import { conflict, MODIFIED, notFound, Refusal, alreadyExists } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import { ServedResources } from '../../core/plugin/servedResources.js';
import { MERGE } from '../support/mediaTypes.js';

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const storageGroup = (apiVersion: string): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '').replace(/k8s\.io$/, 'orchestrator.io') : 'core';
const resource = (apiVersion: string, kind: string, plural: string, namespaced = true): ServedResource => ({
  apiVersion,
  kind,
  plural,
  namespaced,
  storageName: `${storageGroup(apiVersion)}/${plural}`,
  verbs: VERBS,
});

/** Resources that the fake serves. */
const RESOURCES: readonly ServedResource[] = [
  resource('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', false),
  resource('v1', 'Namespace', 'namespaces', false),
  resource('v1', 'Node', 'nodes', false),
  resource('v1', 'ConfigMap', 'configmaps'),
  resource('v1', 'Secret', 'secrets'),
  resource('v1', 'ServiceAccount', 'serviceaccounts'),
  resource('v1', 'Pod', 'pods'),
  resource('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  resource('v1', 'PersistentVolume', 'persistentvolumes', false),
  resource('v1', 'Service', 'services'),
  resource('v1', 'Event', 'events'),
  resource('v1', 'Endpoints', 'endpoints'),
  resource('coordination.k8s.io/v1', 'Lease', 'leases'),
  resource('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices'),
  resource('apiregistration.k8s.io/v1', 'APIService', 'apiservices', false),
  resource('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', false),
  resource('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', 'flowschemas', false),
  resource('flowcontrol.apiserver.k8s.io/v1', 'PriorityLevelConfiguration', 'prioritylevelconfigurations', false),
  resource('apps/v1', 'Deployment', 'deployments'),
  resource('networking.k8s.io/v1beta1', 'ServiceCIDR', 'servicecidrs', false),
  resource('networking.k8s.io/v1beta1', 'IPAddress', 'ipaddresses', false),
  resource('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', false),
  resource('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings', false),
  resource('rbac.authorization.k8s.io/v1', 'Role', 'roles'),
  resource('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings'),
];

/** All resources that the fake serves, including a custom kind. */
const SERVED = [...RESOURCES, resource('example.com/v1', 'Widget', 'widgets')];

interface Parsed {
  readonly resource: ServedResource;
  readonly namespace: string;
  readonly name?: string;
  readonly subresource?: string;
}

function parsePath(path: string): Parsed {
  const parts = path.split('/').slice(1).map(decodeURIComponent);
  const apiVersion = parts[0] === 'api' ? parts[1] : `${parts[1]}/${parts[2]}`;
  let rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  let namespace = '';
  if (rest[0] === 'namespaces' && rest.length > 2 && SERVED.some(r => r.plural === rest[2])) {
    namespace = rest[1] ?? '';
    rest = rest.slice(2);
  }
  const found = SERVED.find(r => r.apiVersion === apiVersion && r.plural === rest[0]);
  if (!found) throw new Error(`no resource at ${path}`);
  return { resource: found, namespace, name: rest[1], subresource: rest[2] };
}

function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...(target as JsonObject) } : {};
  for (const [key, value] of Object.entries(patch as JsonObject)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value) as never;
  }
  return result;
}

/**
 * A small server in memory: objects, two-phase deletion, finalizers for propagation policies, namespaces, and events
 * that are delivered later, in order.
 */
export class FakeServer {
  readonly objects = new Map<string, ApiObject>();
  readonly requests: { readonly controller: string; readonly request: InternalRequest }[] = [];
  /** Called before each request of a controller; may throw a refusal. */
  intercept: (controller: string, request: InternalRequest) => void = () => {};
  readonly host: Host<'control'>;
  readonly #resources = new ServedResources({
    resources: RESOURCES,
    takenNames: [],
  });
  #revision = 0;
  #uid = 0;
  readonly #listeners: ((event: ResourceEvent) => void)[] = [];
  readonly #releases: (() => unknown)[] = [];
  #deliveries: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor() {
    const nothing = (): void => {};
    this.host = {
      thread: 'control',
      log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
      naming: namingOf('kubernetes'),
      now: () => 1_700_000_000_123,
      isEnabled: () => false,
      onChange: (storageName, listener) =>
        this.host.watch(event => {
          if (event.storageName === storageName) listener(event);
        }),
      observe: nothing,
      resources: this.#resources,
      onClose: release => this.#releases.push(release),
      at: () => {
        throw new Error('controllers have no points of their own');
      },
      informer: <R extends ResourceRef>(resource: R) => this.#informerOf(String(resource)) as Informer<ObjectOf<R>>,
      request: async (controller, request) => {
        this.requests.push({ controller, request });
        await Promise.resolve();
        this.intercept(controller, request);
        return this.#handle(request);
      },
      findByUid: uids => {
        const found = new Map<string, FoundObject>();
        for (const [key, { metadata }] of this.objects) {
          const [storageName = '', namespace = '', name = ''] = key.split('|');
          if (uids.has(metadata.uid!)) found.set(metadata.uid!, { storageName, namespace, name });
        }
        return Promise.resolve(found);
      },
      watch: listener => {
        // Like the real host, delivers the whole initial state during the call.
        for (const [key, object] of this.objects) listener(eventOf('ADDED', key, object, this.#revision));
        this.#listeners.push(listener);
      },
    };
  }

  /** Creates an object that no controller created. */
  #informerOf(storageName: string): Informer {
    const prefixOf = (namespace?: string): string =>
      namespace === undefined ? `${storageName}|` : `${storageName}|${namespace}|`;
    return {
      get: (namespace, name) => this.objects.get(`${storageName}|${namespace}|${name}`),
      list: namespace =>
        [...this.objects].filter(([key]) => key.startsWith(prefixOf(namespace))).map(([, object]) => object),
      revision: this.#revision,
    };
  }

  create(apiVersion: string, kind: string, metadata: ApiObject['metadata'], rest: object = {}): ApiObject {
    const found = SERVED.find(r => r.apiVersion === apiVersion && r.kind === kind);
    if (!found) throw new Error(`no resource for ${kind}`);
    return this.#create(found, metadata.namespace ?? '', { apiVersion, kind, metadata, ...rest });
  }

  /** A request of any client. */
  send(method: InternalRequest['method'], path: string, body?: unknown): ApiObject {
    return this.#handle({ method, path, body });
  }

  has(apiVersion: string, plural: string, namespace: string, name: string): boolean {
    return this.objects.has(`${storageGroup(apiVersion)}/${plural}|${namespace}|${name}`);
  }

  /** Resolves once all events are delivered. */
  async delivered(): Promise<void> {
    while (this.#pending > 0) await this.#deliveries;
  }

  close(): void {
    for (const release of this.#releases.reverse()) release();
  }

  #handle({ method, path, body, contentType }: InternalRequest): ApiObject {
    const at = parsePath(path);
    const key = `${at.resource.storageName}|${at.namespace}|${at.name}`;
    if (method === 'POST')
      return this.#create(at.resource, at.namespace, { ...(body as ApiObject), status: undefined });
    if (at.name === undefined) return this.#deleteCollection(at, body as JsonObject);
    const current = this.objects.get(key);
    if (!current) throw notFound({ group: '', resource: at.resource.plural }, at.name);
    if (method === 'GET') return structuredClone(current);
    if (method === 'DELETE') return this.#delete(key, current, body as JsonObject | undefined);
    const patching = method === 'PATCH';
    if (patching && contentType !== undefined && contentType !== MERGE) throw new Error('merge only');
    const next = (patching ? mergePatch(current, body) : structuredClone(body)) as ApiObject;
    const { resourceVersion, uid } = next.metadata;
    if (resourceVersion !== current.metadata.resourceVersion || uid !== current.metadata.uid) {
      throw conflict({ group: '', resource: at.resource.plural }, at.name, MODIFIED);
    }
    return this.#put(key, next);
  }

  #create({ storageName, plural }: ServedResource, namespace: string, body: ApiObject): ApiObject {
    const key = `${storageName}|${namespace}|${body.metadata.name}`;
    if (this.objects.has(key)) throw alreadyExists({ group: '', resource: plural }, body.metadata.name ?? '');
    const within = this.objects.get(`core/namespaces||${namespace}`);
    if (namespace && within?.metadata.deletionTimestamp) throw new Refusal('Forbidden', 'is being terminated');
    const object = structuredClone(body);
    object.metadata.uid = `uid-${++this.#uid}`;
    if (namespace) object.metadata.namespace = namespace;
    if (storageName === 'core/namespaces')
      Object.assign(object, { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } });
    this.#store(key, object, 'ADDED');
    return structuredClone(object);
  }

  #deleteCollection({ resource: { storageName } }: Parsed, options: JsonObject | undefined): ApiObject {
    const namespace = this.requests.at(-1)?.request.path.match(/namespaces\/([^/]+)/)?.[1] ?? '';
    for (const [key, object] of [...this.objects]) {
      if (key.startsWith(`${storageName}|${namespace}|`)) this.#delete(key, object, options);
    }
    return { apiVersion: 'v1', kind: 'List', metadata: {} };
  }

  #delete(key: string, current: ApiObject, options: JsonObject = {}): ApiObject {
    for (const [member, wanted] of Object.entries(
      (options.preconditions ?? {}) as { uid?: string; resourceVersion?: string },
    ))
      if (wanted !== current.metadata[member as 'uid'])
        throw conflict({ group: '', resource: '' }, '', 'Precondition failed');
    const next = structuredClone(current);
    const finalizers = new Set(next.metadata.finalizers ?? []);
    if (options.propagationPolicy === 'Foreground') finalizers.add('foregroundDeletion').delete('orphan');
    if (options.propagationPolicy === 'Orphan') finalizers.add('orphan').delete('foregroundDeletion');
    next.metadata.finalizers = finalizers.size > 0 ? [...finalizers] : undefined;
    next.metadata.deletionTimestamp ??= '2026-01-01T00:00:00Z';
    if (key.startsWith('core/namespaces|')) Object.assign(next.status as object, { phase: 'Terminating' });
    return this.#put(key, next);
  }

  #put(key: string, next: ApiObject): ApiObject {
    const current = this.objects.get(key);
    if (JSON.stringify(current) === JSON.stringify(next)) return structuredClone(next);
    const held = (next.spec as { finalizers?: string[] } | undefined)?.finalizers ?? [];
    const finalizers = next.metadata.finalizers ?? [];
    if (next.metadata.deletionTimestamp && finalizers.length + held.length === 0) {
      this.objects.delete(key);
      this.#revision++;
      this.#announce('DELETED', key, next);
    } else {
      this.#store(key, next, 'MODIFIED');
    }
    return structuredClone(next);
  }

  #store(key: string, object: ApiObject, type: ResourceEvent['type']): void {
    object.metadata.resourceVersion = String(++this.#revision);
    this.objects.set(key, object);
    if (object.kind === 'CustomResourceDefinition') this.#resources.addDefinition(object);
    this.#announce(type, key, object);
  }

  #announce(type: ResourceEvent['type'], key: string, object: ApiObject): void {
    for (const listener of this.#listeners) this.#deliver(listener, type, key, object);
  }

  #deliver(
    listener: (event: ResourceEvent) => void,
    type: ResourceEvent['type'],
    key: string,
    object: ApiObject,
  ): void {
    const event = eventOf(type, key, object, this.#revision);
    this.#pending++;
    this.#deliveries = this.#deliveries.then(() => {
      this.#pending--;
      listener(event);
    });
  }
}

function eventOf(type: ResourceEvent['type'], key: string, object: ApiObject, revision: number): ResourceEvent {
  const [storageName = '', namespace = '', name = ''] = key.split('|');
  const text = JSON.stringify(object);
  return {
    type,
    storageName,
    namespace,
    name,
    revision,
    object: () => JSON.parse(text) as ApiObject,
    mentions: part => text.includes(part),
  };
}
