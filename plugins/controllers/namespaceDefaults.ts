import {
  type ApiObject,
  ConfigError,
  type Controller,
  controller,
  type Host,
  type Plugin,
  Refusal,
  type ResourceEvent,
} from '../../core/api/index.js';
import { WorkQueue } from './queue.js';
import { Requests } from './requests.js';

const NAMESPACES = 'core/namespaces';

/** One object that every active namespace has. */
interface Default {
  /** Name of the controller, as in its upstream role `system:controller:<name>`. */
  readonly controller: string;
  readonly storageName: string;
  readonly plural: string;
  readonly object: ApiObject;
  /** Whether an object found under the name will do. */
  readonly suffices: (found: ApiObject) => boolean;
}

/** Keeps one default object in every namespace that is not being deleted. */
class NamespaceDefault implements Controller {
  readonly name: string;
  readonly #host: Host;
  readonly #wanted: Default;
  readonly #requests: Requests;
  readonly #queue: WorkQueue;

  constructor(host: Host, wanted: Default) {
    this.name = wanted.controller;
    this.#host = host;
    this.#wanted = wanted;
    this.#requests = new Requests(host, wanted.controller);
    this.#queue = new WorkQueue({ name: this.name, log: host.log, workers: 8, handle: namespace => this.#ensure(namespace) });
    host.onClose(() => this.#queue.close());
  }

  async start(): Promise<void> {
    this.#host.watch(event => this.#observe(event));
    for (const { metadata } of this.#host.informer(NAMESPACES).list()) this.#queue.add(metadata.name ?? '');
    await this.#queue.idle();
  }

  #observe(event: ResourceEvent): void {
    if (event.storageName === NAMESPACES && event.type === 'ADDED') this.#queue.add(event.name);
    const changed = event.storageName === this.#wanted.storageName && event.type !== 'ADDED';
    if (changed && event.name === this.#wanted.object.metadata.name) this.#queue.add(event.namespace);
  }

  async #ensure(namespace: string): Promise<void> {
    const within = this.#host.informer(NAMESPACES).get('', namespace);
    if (!within || within.metadata.deletionTimestamp) return;
    const { storageName, plural, object, suffices } = this.#wanted;
    const name = object.metadata.name ?? '';
    const found = this.#host.informer(storageName).get(namespace, name);
    if (found?.metadata.deletionTimestamp || (found && suffices(found))) return;
    const path = `/api/v1/namespaces/${namespace}/${plural}`;
    const body = { ...object, metadata: { ...object.metadata, namespace } };
    try {
      if (found) await this.#requests.merge(`${path}/${name}`, body);
      else await this.#requests.create(path, body);
    } catch (error) {
      // The namespace began to go meanwhile: nothing is wanted in it any more.
      if (!(error instanceof Refusal) || (error.code !== 403 && error.code !== 404)) throw error;
      if (this.#isActive(namespace)) throw error;
    }
  }

  #isActive(namespace: string): boolean {
    const current = this.#host.informer(NAMESPACES).get('', namespace);
    return current !== undefined && !current.metadata.deletionTimestamp;
  }
}

/** Configuration: the bundle that the root CA ConfigMap carries, in PEM. */
export interface NamespaceDefaultsConfig {
  readonly rootCa: string;
}

const serviceAccount: Default = {
  controller: 'service-account-controller',
  storageName: 'core/serviceaccounts',
  plural: 'serviceaccounts',
  object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } },
  suffices: () => true,
};

function rootCaPublisher({ naming }: Host, rootCa: string): Default {
  const product = naming.product.charAt(0).toUpperCase() + naming.product.slice(1);
  const description =
    `Contains a CA bundle that can be used to verify the ${naming.component('orchestrator-apiserver')} when using internal endpoints ` +
    `such as the internal service IP or ${naming.product}.default.svc. ` +
    `No other usage is guaranteed across distributions of ${product} clusters.`;
  const descriptionKey = naming.label('orchestrator.io/description');
  const object: ApiObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: naming.component('orchestrator-root-ca.crt'),
      annotations: { [descriptionKey]: description },
    },
    data: { 'ca.crt': rootCa },
  };
  const suffices = (found: ApiObject): boolean => {
    const data = (found.data ?? {}) as { [key: string]: string };
    return data['ca.crt'] === rootCa && Object.keys(data).length === 1 && descriptionKey in (found.metadata.annotations ?? {});
  };
  return { controller: 'root-ca-cert-publisher', storageName: 'core/configmaps', plural: 'configmaps', object, suffices };
}

function parse(config: unknown): NamespaceDefaultsConfig {
  const rootCa = (config as { rootCa?: unknown } | undefined)?.rootCa ?? '';
  if (typeof rootCa !== 'string') throw new ConfigError('config.rootCa', 'must be a string of PEM certificates');
  return { rootCa };
}

/** Each namespace's `default` service account and root CA ConfigMap. */
export const namespaceDefaults = {
  name: 'controllers/namespace-defaults',
  parse,
  contribute: config => [
    controller.of(host => new NamespaceDefault(host, serviceAccount)),
    controller.of(host => new NamespaceDefault(host, rootCaPublisher(host, config.rootCa))),
  ],
} satisfies Plugin<NamespaceDefaultsConfig>;
