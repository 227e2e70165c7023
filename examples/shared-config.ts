import {
  type ApiObject,
  type Controller,
  controller,
  definePlugin,
  type Host,
  type Plugin,
  Refusal,
} from 'capstan/api';

const NAME = 'shared-config';
const LABEL = 'example.com/shared';

/** Copies ConfigMaps of the namespace `default` that have the label `example.com/shared` into every namespace. */
class SharedConfig implements Controller {
  readonly name = NAME;
  readonly #host: Host<'control'>;
  readonly #shared = new Map<string, ApiObject>();
  readonly #namespaces = new Set<string>();
  /** Requests are made one after the other, so that the last change wins. */
  #work: Promise<void> = Promise.resolve();

  constructor(host: Host<'control'>) {
    this.#host = host;
  }

  async start(): Promise<void> {
    this.#host.watch(({ type, storageName, namespace, name, object }) => {
      if (storageName === 'core/namespaces') {
        const isActive = type !== 'DELETED' && object().metadata.deletionTimestamp === undefined;
        const isNew = isActive && name !== 'default' && !this.#namespaces.has(name);
        if (!isActive) this.#namespaces.delete(name);
        if (!isNew) return;
        this.#namespaces.add(name);
        for (const source of this.#shared.values()) this.#copy(source, name);
      } else if (storageName === 'core/configmaps' && namespace === 'default') {
        if (type === 'DELETED' || object().metadata.labels?.[LABEL] === undefined) {
          this.#shared.delete(name);
          return;
        }
        this.#shared.set(name, object());
        for (const target of this.#namespaces) this.#copy(object(), target);
      }
    });
    // The current objects have all been reported by now.
    await this.#work;
  }

  #copy(source: ApiObject, namespace: string): void {
    this.#work = this.#work.then(async () => {
      try {
        await this.#put(source, namespace);
      } catch (error) {
        this.#host.log.warn({ namespace, object: source.metadata.name, error: String(error) }, 'a copy failed');
      }
    });
  }

  /** Creates the copy, or merges the data into it. */
  async #put({ metadata: { name = '' }, ...source }: ApiObject, namespace: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const body = { metadata: { name }, data: source['data'] ?? {} };
    try {
      await this.#host.request(NAME, { method: 'POST', path, body });
    } catch (error) {
      if (!(error instanceof Refusal && error.reason === 'AlreadyExists')) throw error;
      const contentType = 'application/merge-patch+json';
      await this.#host.request(NAME, { method: 'PATCH', path: `${path}/${name}`, contentType, body });
    }
  }
}

/** Controller. It watches and writes through the API, as the service account of its name. */
export default definePlugin({
  name: NAME,
  parse: () => null,
  contribute: () => [controller.of(host => new SharedConfig(host))],
}) satisfies Plugin<null>;
