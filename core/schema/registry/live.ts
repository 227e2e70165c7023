import { createHash } from 'node:crypto';
import { writeJson } from '../../model/text/jsonText.js';
import { customStorageName } from '../../model/wellKnown/storageNames.js';
import type { Log } from '../../api/host.js';
import type { ResourceSource, ResourceType } from '../../api/resource.js';
import { decodeStored } from '../../plugin/informers/stored.js';
import { storageNameIn } from '../../threads/entries/entry.js';
import type { WireEvent } from '../../threads/messages/wireEvent.js';
import { resourcesOf } from '../custom/kind.js';
import { stackOf } from '../../plugin/calls/stack.js';
import { extendRegistry } from './registry.js';
import { namesIn, namesOf } from './takenNames.js';
import type { Registry, Resource } from '../resource.js';

/** A served resource type with its resources. */
interface ServedType {
  readonly type: ResourceType;
  /** The digest of the type as JSON, for comparisons: the text itself would take as much memory as the type. */
  readonly digest: string;
  readonly resources: readonly Resource[];
  readonly names: readonly string[];
}

/** A change of an object that may define a resource type. */
type DefinitionChange = Pick<WireEvent, 'key' | 'value' | 'revision'>;

/** The part of a type that matters to clients. Watches of its objects end when it changes. */
const visibleText = ({ terminating: _terminating, changedAt: _changedAt, ...rest }: ResourceType): string =>
  writeJson(rest);

const sourcesByName = (sources: readonly ResourceSource[]): ReadonlyMap<string, ResourceSource> =>
  new Map(sources.map(source => [source.storageName, source]));

/**
 * The registry of a thread, updated by the thread's events: objects of the sources add, change and remove resource
 * types. Its generation is the revision of the event that changed it, and thus the same in every thread.
 */
export class LiveRegistry {
  #current: Registry;
  #stale = false;
  #generation: number;
  readonly #served = new Map<string, ServedType>();
  #types: readonly ResourceType[];
  #fixed: Registry;
  /** The names of the fixed registry. */
  #taken: ReadonlySet<string>;
  #sources: ReadonlyMap<string, ResourceSource>;

  constructor(
    readonly base: Registry,
    types: readonly ResourceType[],
    sources: readonly ResourceSource[],
    /** Logs failures of sources. */
    readonly log: Pick<Log, 'error'>,
    /** Called with each new registry before it is used. `ended` are the storage names whose watches must end. */
    readonly onChange: (registry: Registry, ended: readonly string[]) => void = () => undefined,
  ) {
    this.#types = [...types];
    this.#fixed = extendRegistry(base, types.flatMap(resourcesOf), base.generation);
    this.#taken = namesIn(this.#fixed);
    this.#sources = sourcesByName(sources);
    this.#generation = base.generation;
    this.#current = this.#fixed;
  }

  /**
   * The registry without types defined by objects: built-in kinds, and types of plugins and of the embedding program.
   */
  get fixed(): Registry {
    return this.#fixed;
  }

  /** The current registry. */
  get current(): Registry {
    this.rebuild();
    return this.#current;
  }

  /** Key prefixes of the objects that define resource types. */
  get prefixes(): string[] {
    return Array.from(this.#sources.keys(), name => `${name}/`);
  }

  /** Whether the object of a key may define a resource type. */
  isDefinition(key: string): boolean {
    return this.#sources.has(storageNameIn(key));
  }

  /** Applies a committed change. Changes of other objects are ignored. */
  apply(change: DefinitionChange): void {
    if (this.#sources.size === 0) return;
    const source = this.#sources.get(storageNameIn(change.key));
    if (!source) return;
    const { key, revision } = change;
    const before = this.#served.get(key);
    const served = this.#parseDefinition(source, change, before);
    if (before?.digest === served?.digest) return;
    if (served) this.#served.set(key, served);
    else this.#served.delete(key);
    const type = served?.type;
    this.#stale = true;
    this.#generation = Math.max(this.#generation, revision);
    if (before && (!type || visibleText(type) !== visibleText(before.type)))
      this.#ended.add(customStorageName(before.type));
  }

  /** The type that an object defines. If its source throws, the error is logged and the previous type is kept. */
  #parseDefinition(
    source: ResourceSource,
    { key, value, revision }: DefinitionChange,
    before: ServedType | undefined,
  ): ServedType | undefined {
    if (!value) return undefined;
    try {
      const type = this.#withChangedAt(source.define(decodeStored(value)), before?.type, revision);
      if (!type) return undefined;
      const digest = createHash('sha256').update(writeJson(type)).digest('base64');
      return digest === before?.digest ? before : { type, digest, resources: resourcesOf(type), names: namesOf(type) };
    } catch (error) {
      this.log.error({ key, stack: stackOf(error) }, 'the resource type defined by the object cannot be served');
      return before;
    }
  }

  /** The type with the revision of its last visible change. */
  #withChangedAt(
    type: ResourceType | undefined,
    before: ResourceType | undefined,
    revision: number,
  ): ResourceType | undefined {
    if (!type || !before) return type;
    return { ...type, changedAt: visibleText(type) === visibleText(before) ? before.changedAt : revision };
  }

  /**
   * Marks objects up to `revision` as possibly written with another schema: the embedding program or a plugin may have
   * changed the schema of its type before this start.
   */
  markOlderObjects(hasObjects: (storageName: string) => boolean, revision: number): void {
    if (!this.#types.some(type => hasObjects(customStorageName(type)))) return;
    this.#types = this.#types.map(type =>
      hasObjects(customStorageName(type)) ? { ...type, changedAt: revision } : type,
    );
    this.#setFixed();
    this.#stale = true;
  }

  /**
   * Replaces the types and sources of plugins. `objectsOf` returns the current objects of a source, from which its
   * types are read again. Objects up to `revision` count as written with another schema where the type differs. Watches
   * of types that differ, or are gone, end.
   */
  replace(
    types: readonly ResourceType[],
    sources: readonly ResourceSource[],
    objectsOf: (storageName: string) => Iterable<DefinitionChange>,
    revision: number,
  ): void {
    const former = new Map(this.#types.map(type => [customStorageName(type), type]));
    this.#types = types.map(type => {
      const before = former.get(customStorageName(type));
      if (before) return this.#withChangedAt(type, before, revision)!;
      // An earlier plugin may have had it.
      const [object] = objectsOf(customStorageName(type));
      return object ? { ...type, changedAt: revision } : type;
    });
    const now = new Map(this.#types.map(type => [customStorageName(type), type]));
    for (const [name, type] of former) {
      const same = now.get(name);
      if (!same || visibleText(same) !== visibleText(type)) this.#ended.add(name);
    }
    this.#setFixed();
    const before = new Map(this.#served);
    this.#served.clear();
    this.#sources = sourcesByName(sources);
    for (const [storageName, source] of this.#sources)
      for (const object of objectsOf(storageName)) {
        const served = this.#parseDefinition(source, object, before.get(object.key));
        if (served) this.#served.set(object.key, served);
      }
    for (const [key, { type }] of before) {
      const served = this.#served.get(key);
      if (!served || visibleText(served.type) !== visibleText(type)) this.#ended.add(customStorageName(type));
    }
    this.#stale = true;
    this.rebuild();
  }

  /** Makes the registry of the types of plugins and of the embedding program. */
  #setFixed(): void {
    this.#fixed = extendRegistry(this.base, this.#types.flatMap(resourcesOf), this.base.generation);
    this.#taken = namesIn(this.#fixed);
  }

  /**
   * The resources of types that objects define, without those of a type whose plural name or kind is taken in its
   * group. Kinds that came with the server, or with a plugin, precede; then the type whose object has the smallest key,
   * which is the same in every thread.
   */
  #withoutConflicts(): readonly Resource[] {
    const taken = new Set(this.#taken);
    const inOrder = [...this.#served].sort(([a], [b]) => (a < b ? -1 : 1));
    return inOrder.flatMap(([key, { names, resources }]) => {
      const conflict = names.find(name => taken.has(name));
      if (conflict !== undefined) {
        this.log.error({ key }, `the resource type defined by the object is not served: ${conflict} is another type`);
        return [];
      }
      for (const name of names) taken.add(name);
      return resources;
    });
  }

  readonly #ended = new Set<string>();

  /** Rebuilds the registry if definitions have changed since the last call. */
  rebuild(): void {
    if (!this.#stale) return;
    this.#stale = false;
    this.#current = extendRegistry(this.#fixed, this.#withoutConflicts(), this.#generation, this.#current);
    const ended = [...this.#ended];
    this.#ended.clear();
    this.onChange(this.#current, ended);
  }
}
