import type { Log } from '../api/host.js';
import type { ResourceSource, ResourceType } from '../api/resource.js';
import { decodeStored } from '../plugin/stored.js';
import { storageNameIn } from '../threads/entry.js';
import type { WireEvent } from '../threads/messages.js';
import { resourcesOf } from './custom/kind.js';
import { extendRegistry } from './registry.js';
import type { Registry, Resource } from './resource.js';

/** A type that is served now, with what was built of it. */
interface Served {
  readonly type: ResourceType;
  /** The type as JSON: equal texts are the same type. */
  readonly text: string;
  readonly resources: readonly Resource[];
}

/** A change of an object that may define a type. */
type Defining = Pick<WireEvent, 'key' | 'value' | 'revision'>;

const nameOf = ({ group, plural }: ResourceType): string => `${group}/${plural}`;

/** The part of a type that clients see: a watch goes on while this is the same. */
const visible = ({ terminating: _terminating, changedAt: _changedAt, ...rest }: ResourceType): string =>
  JSON.stringify(rest);

/**
 * The registry of one thread, in step with the thread's events: objects of the sources add, change and remove resource
 * types. The generation is the revision of the event that changed it, so that it means the same in every thread.
 */
export class LiveRegistry {
  #current: Registry;
  #stale = false;
  #generation: number;
  readonly #served = new Map<string, Served>();
  readonly #types: ResourceType[];
  #fixed: readonly Resource[];
  readonly #sources: ReadonlyMap<string, ResourceSource>;

  constructor(
    readonly base: Registry,
    types: readonly ResourceType[],
    sources: readonly ResourceSource[],
    /** Hears of sources that fail. */
    readonly log: Pick<Log, 'error'>,
    /**
     * Called once per new registry, before anything is routed by it. `ended` are the storage names whose watches end.
     */
    readonly onChange: (registry: Registry, ended: readonly string[]) => void = () => undefined,
  ) {
    this.#types = [...types];
    this.#fixed = types.flatMap(resourcesOf);
    this.#sources = new Map(sources.map(source => [source.storageName, source]));
    this.#generation = base.generation;
    this.#current = this.#fixed.length > 0 ? extendRegistry(base, this.#fixed, base.generation) : base;
  }

  /** The built-in kinds and the types that came with the server. */
  get fixed(): Registry {
    return extendRegistry(this.base, this.#fixed, this.base.generation);
  }

  /** The newest registry. */
  get current(): Registry {
    this.settle();
    return this.#current;
  }

  /** Key prefixes of the objects that define types. */
  get prefixes(): string[] {
    return Array.from(this.#sources.keys(), name => `${name}/`);
  }

  /** Takes a committed change; changes of other objects pass by. */
  apply(change: Defining): void {
    if (this.#sources.size === 0) return;
    const source = this.#sources.get(storageNameIn(change.key));
    if (!source) return;
    const { key, revision } = change;
    const before = this.#served.get(key);
    const served = this.#servedBy(source, change, before);
    if (before?.text === served?.text) return;
    if (served) this.#served.set(key, served);
    else this.#served.delete(key);
    const type = served?.type;
    this.#stale = true;
    this.#generation = Math.max(this.#generation, revision);
    if (before && (!type || visible(type) !== visible(before.type))) this.#ended.add(nameOf(before.type));
  }

  /** What an object defines; as before, if its source fails: whoever made that mistake must not stop the thread. */
  #servedBy(
    source: ResourceSource,
    { key, value, revision }: Defining,
    before: Served | undefined,
  ): Served | undefined {
    if (!value) return undefined;
    try {
      const type = this.#dated(source.define(decodeStored(value)), before?.type, revision);
      if (!type) return undefined;
      const text = JSON.stringify(type);
      return text === before?.text ? before : { type, text, resources: resourcesOf(type) };
    } catch (error) {
      this.log.error({ key, stack: (error as Error).stack }, 'what the object defines cannot be served');
      return before;
    }
  }

  /** Objects written before the schema changed are older than this revision. */
  #dated(type: ResourceType | undefined, before: ResourceType | undefined, revision: number): ResourceType | undefined {
    if (!type || !before) return type;
    return { ...type, changedAt: visible(type) === visible(before) ? before.changedAt : revision };
  }

  /**
   * Types that came with the server may have had another schema when the objects in the store were written, up to
   * `revision`.
   */
  predating(hasObjects: (storageName: string) => boolean, revision: number): void {
    if (!this.#types.some(type => hasObjects(nameOf(type)))) return;
    const types = this.#types.map(type => (hasObjects(nameOf(type)) ? { ...type, changedAt: revision } : type));
    this.#fixed = types.flatMap(resourcesOf);
    this.#stale = true;
  }

  readonly #ended = new Set<string>();

  /** Builds the registry anew if something changed; many changes at once are one build. */
  settle(): void {
    if (!this.#stale) return;
    this.#stale = false;
    // What came with the server is not replaced by what stored objects define.
    const extra = [...[...this.#served.values()].flatMap(served => served.resources), ...this.#fixed];
    this.#current = extendRegistry(this.base, extra, this.#generation, this.#current);
    const ended = [...this.#ended];
    this.#ended.clear();
    this.onChange(this.#current, ended);
  }
}
