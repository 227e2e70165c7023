import { numberAt, recordAt, stringAt, type UnknownRecord } from '../../model/record.js';
import { pathOf } from '../../api/client/paths.js';
import type { ApiClient } from '../client/request.js';
import { applyObject } from '../subcommands/apply.js';
import { DEMO_GROUP, deployment, service } from './world.js';

const WEBSITES = { apiVersion: `${DEMO_GROUP}/v1`, plural: 'websites' };
const DEPLOYMENTS = { apiVersion: 'apps/v1', plural: 'deployments' };
const SERVICES = { apiVersion: 'v1', plural: 'services' };
const OPTIONS = { fieldManager: 'website-controller', force: true };

/**
 * The controller of Websites: each gets a Deployment and a Service, which it owns, and a status. It watches the
 * websites, and applies the objects that each one needs. It has only the access of a client.
 */
export class WebsiteController {
  readonly #waiting = new Map<string, UnknownRecord>();
  readonly #handled = new Set<string>();
  #wake: () => void = () => undefined;
  #didHandle: () => void = () => undefined;

  constructor(
    readonly client: ApiClient,
    /** Called with a line for people about the objects that were created. */
    readonly report: (line: string) => void,
  ) {}

  /** Works until the signal is aborted. Rejects with the error of a request that fails before. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake(), { once: true });
    await Promise.race([this.#watch(signal), this.#work(signal)]);
  }

  /** Resolves when `count` websites have been reconciled. */
  async until(count: number): Promise<void> {
    while (this.#handled.size < count)
      await new Promise<void>(resolve => {
        this.#didHandle = resolve;
      });
  }

  /** Receives websites and their changes, and watches again when the server ends the watch. */
  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted)
      try {
        for await (const event of this.client.watch(`${pathOf(WEBSITES, '')}?watch=true`, {}, signal)) {
          const object = recordAt(event, 'object') ?? {};
          if (event['type'] === 'DELETED') continue;
          this.#waiting.set(
            `${stringAt(object, 'metadata', 'namespace')}/${stringAt(object, 'metadata', 'name')}`,
            object,
          );
          this.#wake();
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
  }

  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const [next] = this.#waiting;
      if (!next) {
        await new Promise<void>(resolve => {
          this.#wake = resolve;
        });
        continue;
      }
      const [key, website] = next;
      this.#waiting.delete(key);
      await this.#reconcile(key, website);
      this.#handled.add(key);
      this.#didHandle();
    }
  }

  async #reconcile(key: string, website: UnknownRecord): Promise<void> {
    const namespace = stringAt(website, 'metadata', 'namespace');
    const name = stringAt(website, 'metadata', 'name');
    const replicas = numberAt(website, 'spec', 'replicas') ?? 1;
    const owner = {
      apiVersion: WEBSITES.apiVersion,
      kind: 'Website',
      name,
      uid: stringAt(website, 'metadata', 'uid'),
      controller: true,
    };
    const wanted = deployment({ namespace, name, image: stringAt(website, 'spec', 'image'), replicas }, owner);
    const made = await applyObject(this.client, pathOf(DEPLOYMENTS, namespace, name), wanted, OPTIONS);
    await applyObject(this.client, pathOf(SERVICES, namespace, name), service(namespace, name, owner), OPTIONS);
    if (made.applied === 'created') this.report(`website ${key}: the controller made its Deployment and its Service`);
    if (made.applied === 'configured') this.report(`website ${key}: the controller set ${replicas} replicas`);
    if (numberAt(website, 'status', 'replicas') === replicas) return;
    await this.client.ask({
      method: 'PATCH',
      path: `${pathOf(WEBSITES, namespace, name)}/status`,
      object: { status: { phase: 'Serving', replicas } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  }
}
