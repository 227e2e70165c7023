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
import { changeGroups, extendRegistry } from './registry.js';
import { namesIn, namesOf } from './takenNames.js';
import type { Registry, Resource } from '../resource.js';

/** A served resource type with its resources. */
interface ServedType {
  readonly type: ResourceType;
  /** The digest of the visible part of the type as JSON: the text itself would take as much memory as the type. */
  readonly visible: string;
  readonly resources: readonly Resource[];
  readonly names: readonly string[];
}

/** A change of an object that may define a resource type. */
type DefinitionChange = Pick<WireEvent, 'key' | 'value' | 'revision'>;

/** The part of a type that matters to clients. Watches of its objects end when it changes. */
const visibleText = ({ terminating: _terminating, changedAt: _changedAt, ...rest }: ResourceType): string =>
  writeJson(rest);

const digestOf = (type: ResourceType): string => createHash('sha256').update(visibleText(type)).digest('base64');

/** Whether two types are equal, also in properties that clients do not see. */
const isSame = (a: ServedType | undefined, b: ServedType | undefined): boolean =>
  a?.visible === b?.visible && a?.type.terminating === b?.type.terminating && a?.type.changedAt === b?.type.changedAt;

const sourcesByName = (sources: readonly ResourceSource[]): ReadonlyMap<string, ResourceSource> =>
  new Map(sources.map(source => [source.storageName, source]));

/**
 * The registry of a thread, updated by the thread's events: objects of the sources add, change and remove resource
 * types. Its generation is the revision of the event that changed it, and thus the same in every thread.
 */
export class LiveRegistry {
  #current: Registry;
  #generation: number;
  readonly #served = new Map<string, ServedType>();
  /** The keys of `#served` by the group of their types: types of other groups do not conflict. */
  readonly #keys = new Map<string, Set<string>>();
  /** Groups whose types have changed since the registry was built. */
  readonly #changed = new Set<string>();
  /** Set if the registry must be rebuilt from the fixed one. */
  #isFixedChanged = false;
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
    if (isSame(before, served)) return;
    this.#setServed(key, served);
    this.#generation = Math.max(this.#generation, revision);
    if (before && before.visible !== served?.visible) this.#ended.add(customStorageName(before.type));
  }

  /** Replaces the type that the object of a key defines. */
  #setServed(key: string, served: ServedType | undefined): void {
    const before = this.#served.get(key);
    if (before) {
      this.#changed.add(before.type.group);
      this.#keys.get(before.type.group)?.delete(key);
    }
    if (!served) {
      this.#served.delete(key);
      return;
    }
    const { group } = served.type;
    this.#changed.add(group);
    this.#served.set(key, served);
    const keys = this.#keys.get(group);
    if (keys) keys.add(key);
    else this.#keys.set(group, new Set([key]));
  }

  /** The type that an object defines. If its source throws, the error is logged and the previous type is kept. */
  #parseDefinition(
    source: ResourceSource,
    { key, value, revision }: DefinitionChange,
    before: ServedType | undefined,
  ): ServedType | undefined {
    if (!value) return undefined;
    try {
      const defined = source.define(decodeStored(value));
      if (!defined) return undefined;
      const visible = digestOf(defined);
      const type = before
        ? { ...defined, changedAt: visible === before.visible ? before.type.changedAt : revision }
        : defined;
      if (before && isSame(before, { ...before, visible, type })) return before;
      return { type, visible, resources: resourcesOf(type), names: namesOf(type) };
    } catch (error) {
      this.log.error({ key, stack: stackOf(error) }, 'the resource type defined by the object cannot be served');
      return before;
    }
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
  }

  /**
   * Replaces the types and sources of plugins. `objectsOf` returns the current objects of a source, from which its
   * types are read again. If a type differs, objects up to `revision` count as written with another schema. Watches of
   * types that differ or no longer exist end.
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
      if (before) return { ...type, changedAt: digestOf(type) === digestOf(before) ? before.changedAt : revision };
      // An earlier plugin may have had the type.
      const [object] = objectsOf(customStorageName(type));
      return object ? { ...type, changedAt: revision } : type;
    });
    const now = new Map(this.#types.map(type => [customStorageName(type), type]));
    for (const [name, type] of former) {
      const same = now.get(name);
      if (!same || digestOf(same) !== digestOf(type)) this.#ended.add(name);
    }
    this.#setFixed();
    const before = new Map(this.#served);
    this.#served.clear();
    this.#keys.clear();
    this.#sources = sourcesByName(sources);
    for (const [storageName, source] of this.#sources)
      for (const object of objectsOf(storageName)) {
        const served = this.#parseDefinition(source, object, before.get(object.key));
        this.#setServed(object.key, served);
      }
    for (const [key, { type, visible }] of before)
      if (this.#served.get(key)?.visible !== visible) this.#ended.add(customStorageName(type));
    this.rebuild();
  }

  /** Builds the registry of the types of plugins and of the embedding program. */
  #setFixed(): void {
    this.#fixed = extendRegistry(this.base, this.#types.flatMap(resourcesOf), this.base.generation);
    this.#taken = namesIn(this.#fixed);
    this.#isFixedChanged = true;
  }

  /**
   * The resources of types of a group that objects define, without those of a type whose plural name or kind is taken.
   * Kinds of the server and of plugins take precedence; then the type whose object has the smallest key, so that the
   * result is the same in every thread.
   */
  #withoutConflicts(group: string): readonly Resource[] {
    const names = new Set<string>();
    return [...(this.#keys.get(group) ?? [])].sort().flatMap(key => {
      const served = this.#served.get(key)!;
      const conflict = served.names.find(name => this.#taken.has(name) || names.has(name));
      if (conflict !== undefined) {
        this.log.error({ key }, `the resource type defined by the object is not served: ${conflict} is another type`);
        return [];
      }
      for (const name of served.names) names.add(name);
      return served.resources;
    });
  }

  readonly #ended = new Set<string>();

  /** Builds a new registry if definitions have changed since the last call. Only the groups of these are rebuilt. */
  rebuild(): void {
    if (this.#changed.size === 0 && !this.#isFixedChanged) return;
    const names = this.#isFixedChanged ? this.#keys.keys() : this.#changed;
    const groups = new Map(Array.from(names, name => [name, this.#withoutConflicts(name)]));
    const from = this.#isFixedChanged ? this.#fixed : this.#current;
    this.#current = changeGroups(this.#fixed, { groups, generation: this.#generation }, from, this.#current);
    for (const name of this.#changed) if (this.#keys.get(name)?.size === 0) this.#keys.delete(name);
    this.#changed.clear();
    this.#isFixedChanged = false;
    const ended = [...this.#ended];
    this.#ended.clear();
    this.onChange(this.#current, ended);
  }
}
