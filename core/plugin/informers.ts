import type { Informer } from '../api/host.js';
import { decodeStored } from './stored.js';
import type { ApiObject } from '../model/object.js';
import { SortedMap } from '../model/sortedMap.js';
import type { WireEvent } from '../threads/messages.js';

/** An object of an informer, decoded when first asked for. */
interface Held {
  readonly event: WireEvent;
  object?: ApiObject;
}

/** One resource's current objects in this thread. */
class ResourceInformer implements Informer {
  readonly objects = new SortedMap<Held>();
  revision = 0;

  constructor(
    readonly storageName: string,
    /** Brings the thread up to date before each read. */
    readonly catchUp: () => void,
  ) {}

  get(namespace: string, name: string): ApiObject | undefined {
    this.catchUp();
    const held = this.objects.get(`${this.storageName}/${namespace ? `${namespace}/` : ''}${name}`);
    return held && decoded(held);
  }

  list(namespace?: string): readonly ApiObject[] {
    this.catchUp();
    return Array.from(this.objects.range(`${this.storageName}/${namespace ? `${namespace}/` : ''}`), decoded);
  }
}

function decoded(held: Held): ApiObject {
  held.object ??= decodeStored(held.event.value!);
  return held.object;
}

/** The informers of one thread, fed by the thread's port to the writer. */
export class Informers {
  readonly #byName = new Map<string, ResourceInformer>();

  constructor(readonly catchUp: () => void) {}

  /** The informer of a storage name; all must be asked for before the thread subscribes. */
  of(storageName: string): Informer {
    let informer = this.#byName.get(storageName);
    if (!informer) {
      informer = new ResourceInformer(storageName, this.catchUp);
      this.#byName.set(storageName, informer);
    }
    return informer;
  }

  has(storageName: string): boolean {
    return this.#byName.has(storageName);
  }

  /** Key prefixes to subscribe to. */
  get prefixes(): string[] {
    return Array.from(this.#byName.keys(), name => `${name}/`);
  }

  apply(event: WireEvent): void {
    const second = event.key.indexOf('/', event.key.indexOf('/') + 1);
    const informer = this.#byName.get(event.key.slice(0, second));
    if (!informer) return;
    informer.revision = event.revision;
    if (event.value) informer.objects.set(event.key, { event });
    else informer.objects.delete(event.key);
  }
}
