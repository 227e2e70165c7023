import { signal } from '@preact/signals';
import { ApiError, sendJson } from '../../api/http.js';
import { type Kind, pathOf } from '../../api/kinds.js';
import type { ApiList, ApiObject } from '../../api/objects.js';
import { watch } from '../../api/watch.js';

/** Which object a page shows. */
export interface ObjectAddress {
  readonly kind: Kind;
  /** '' for objects without one. */
  readonly namespace: string;
  readonly name: string;
}

/** The path of an object, or of one of its subresources. */
export const objectPath = ({ kind, namespace, name }: ObjectAddress, subresource = ''): string =>
  pathOf(kind, namespace, name, subresource);

/** An object that follows the server by a watch of its name. */
export class LiveObject {
  readonly object = signal<ApiObject | undefined>(undefined);
  /** `still`: the user may read the object, but not watch it. */
  readonly state = signal<'loading' | 'live' | 'reconnecting' | 'still' | 'gone' | 'failed'>('loading');
  readonly error = signal<unknown>(undefined);
  #aborter = new AbortController();

  constructor(readonly address: ObjectAddress) {}

  /** Reads the object and follows it until `close`. */
  open(): void {
    this.#aborter.abort();
    this.#aborter = new AbortController();
    void this.#run(this.#aborter.signal);
  }

  close(): void {
    this.#aborter.abort();
  }

  async #run(ends: AbortSignal): Promise<void> {
    try {
      for (let outcome = 'expired'; outcome === 'expired' && !ends.aborted; ) outcome = await this.#follow(ends);
    } catch (error) {
      if (ends.aborted) return;
      this.error.value = error;
      this.state.value = 'failed';
    }
  }

  /**
   * Reads the object by a list, whose version is new enough for a watch: that of the object can be too old. Undefined
   * if the user may not list it, or if the kind cannot be watched.
   */
  async #listed(ends: AbortSignal): Promise<string | undefined> {
    const { kind, namespace, name } = this.address;
    if (!kind.verbs.includes('watch') || !kind.verbs.includes('list')) return undefined;
    try {
      const query = { fieldSelector: `metadata.name=${name}` };
      const list = await sendJson<ApiList>('GET', pathOf(kind, namespace), { query, signal: ends });
      const [found] = list.items ?? [];
      if (found) this.object.value = found;
      else this.state.value = 'gone';
      return list.metadata.resourceVersion;
    } catch (error) {
      if (error instanceof ApiError && error.code === 403) return undefined;
      throw error;
    }
  }

  async #follow(ends: AbortSignal): Promise<'expired' | 'ended'> {
    const { kind, namespace, name } = this.address;
    const read = await sendJson<ApiObject>('GET', objectPath(this.address), { signal: ends });
    this.object.value = read;
    const resourceVersion = await this.#listed(ends);
    if (resourceVersion === undefined) {
      this.state.value = 'still';
      return 'ended';
    }
    try {
      return await watch<ApiObject>(pathOf(kind, namespace), {
        query: { fieldSelector: `metadata.name=${name}` },
        resourceVersion,
        signal: ends,
        versionOf: ({ metadata }) => metadata.resourceVersion,
        connected: is => (this.state.value = is ? (this.state.peek() === 'gone' ? 'gone' : 'live') : 'reconnecting'),
        take: events => {
          for (const { type, object } of events) {
            if (type === 'ADDED' || type === 'MODIFIED') this.object.value = object;
            if (type !== 'BOOKMARK') this.state.value = type === 'DELETED' ? 'gone' : 'live';
          }
        },
      });
    } catch (error) {
      if (!(error instanceof ApiError) || (error.code !== 403 && error.code !== 405)) throw error;
      this.state.value = 'still';
      return 'ended';
    }
  }
}
