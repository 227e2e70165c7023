import type { StrategyContext } from '../../api/strategy.js';
import type { ApiObject, Json } from '../../model/object.js';
import { isRecord, stringAt, type UnknownRecord } from '../../model/record.js';
import { timestamp } from '../../api/controller/conditions.js';
import { namingOf, type NamingName } from '../../naming.js';
import { builtInRegistry } from '../../plugin/registry.js';
import { systemTime } from '../../runtime/clock.js';
import { decodeAsKind, TypeMismatch } from '../../schema/decode/decode.js';
import { enablement, minorOf } from '../../schema/registry/enablement.js';
import type { Registry, Resource } from '../../schema/resource.js';
import { REMOVED_VERSIONS, type RemovedVersion } from '../../schema/table/removed.js';
import { RELEASE } from '../../release.js';
import { builtInStrategies } from './builtInStrategies.js';
import { rewriteOf, Unconvertible } from './removed/index.js';

/** The registry of the built-in kinds with their strategies. All versions are served. */
function registryIn(name: NamingName): Registry {
  const naming = namingOf(name);
  const all = enablement(['api/all=true'], naming, Number(RELEASE.minor));
  return builtInRegistry(name, builtInStrategies(naming), all);
}

/** A context for the checks of a strategy, without other objects. */
const contextOf = (): StrategyContext => ({
  now: timestamp(systemTime()),
  user: { name: '', uid: '', groups: [], extra: new Map() },
  dryRun: true,
  lookup: () => undefined,
  list: () => [],
});

/** Converts objects of built-in kinds between versions of their kinds, also of those that releases have removed. */
export class Versions {
  readonly #registry: Registry;
  readonly #removed: ReadonlyMap<string, RemovedVersion>;
  readonly #naming;

  constructor(name: NamingName) {
    this.#naming = namingOf(name);
    this.#registry = registryIn(name);
    this.#removed = new Map(
      REMOVED_VERSIONS.map(one => [`${this.#naming.apiVersion(one.apiVersion)} ${one.kind}`, one]),
    );
  }

  /** Whether the group is one of the built-in kinds. */
  isKnown(apiVersion: string): boolean {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    return this.#registry.groups.has(group) || group === 'extensions';
  }

  /**
   * Converts an object to a version; returns the object itself if it already has it. Without a version, objects of
   * removed and deprecated versions are converted to the preferred one. Rejects with Unconvertible for an object that
   * cannot be represented in it.
   */
  async convert(object: UnknownRecord, version: string | undefined): Promise<UnknownRecord> {
    const [apiVersion, kind] = [stringAt(object, 'apiVersion'), stringAt(object, 'kind')];
    const removed = this.#removed.get(`${apiVersion} ${kind}`);
    const current = removed ? this.#replace(object, removed) : object;
    const from = this.#registry.byKind(stringAt(current, 'apiVersion'), kind);
    if (!from) throw new Unconvertible('apiVersion', `${apiVersion} has no kind ${kind}: correct the names`);
    const to = this.#target(from, version);
    if (current === object && to === from) return object;
    await to.strategy.load?.();
    const converted = to === from ? current : this.#change(from, to, current);
    this.#check(to, converted);
    return converted;
  }

  #replace(object: UnknownRecord, removed: RemovedVersion): UnknownRecord {
    const { apiVersion, kind, release, replacement } = removed;
    if (replacement === undefined)
      throw new Unconvertible('kind', `${kind} of ${apiVersion} is gone since ${release}: remove the document`);
    const copy = structuredClone(object);
    rewriteOf(removed)(copy, this.#naming);
    return { ...copy, apiVersion: this.#naming.apiVersion(replacement) };
  }

  /** The resource of the wanted version; without one, the preferred resource if that of the object is deprecated. */
  #target(from: Resource, version: string | undefined): Resource {
    if (version !== undefined) {
      const found = this.#registry.byKind(version, from.kind);
      if (found?.storageName === from.storageName) return found;
      const gone = this.#removed.get(`${version} ${from.kind}`);
      const why = gone ? `was removed in ${gone.release}` : `is not a version of ${from.kind}`;
      throw new Unconvertible('apiVersion', `${version} ${why}: omit --output-version, or name another version`);
    }
    const { deprecation } = from;
    const isDeprecated =
      deprecation?.deprecated !== undefined && minorOf(deprecation.deprecated) <= Number(RELEASE.minor);
    if (!isDeprecated) return from;
    const versions = this.#registry.groups.get(from.group)?.versions ?? [];
    const all = versions.flatMap(({ resources }) => [...resources.values()]);
    return all.find(one => one.kind === from.kind && one.storageName === from.storageName) ?? from;
  }

  #decode(resource: Resource, object: UnknownRecord): ApiObject {
    const strictErrors: string[] = [];
    try {
      const decoded = decodeAsKind(resource, object as Json, { strictErrors });
      const [error] = strictErrors;
      if (error === undefined) return decoded;
      const [, problem = error, field = 'document'] = /^(\w+ field) "(.+)"$/.exec(error) ?? [];
      throw new Unconvertible(field, `is an ${problem} in ${resource.apiVersion}: remove it`);
    } catch (error) {
      if (!(error instanceof TypeMismatch)) throw error;
      throw new Unconvertible('document', `${error.message}: correct the type`);
    }
  }

  /** Converts as a server does. Versions without a conversion of their own differ only in their names. */
  #change(from: Resource, { apiVersion }: Resource, object: UnknownRecord): UnknownRecord {
    if (!from.strategy.convert) return { ...object, apiVersion };
    const converted = from.strategy.convert(this.#decode(from, object), apiVersion);
    const { status, ...rest } = withoutNulls(converted) as UnknownRecord;
    const hasStatus = isRecord(object['status']);
    return hasStatus ? { ...rest, status } : rest;
  }

  /** Throws Unconvertible for an object that a server would refuse. */
  #check(resource: Resource, object: UnknownRecord): void {
    const complete = this.#decode(resource, object);
    const { strategy, stored } = resource;
    // Kinds that are not stored, such as reviews, are questions: the server checks them when it answers.
    if (!stored) return;
    const context = contextOf();
    strategy.applyDefaults(complete);
    strategy.prepareCreate(complete, context);
    const [violation] = strategy.validateCreate(complete, context);
    if (violation) throw new Unconvertible(violation.field, `${violation.message}: correct it in the file`);
  }
}

/** Decoding writes absent times as null. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (one === null ? [] : [[name, withoutNulls(one)]])),
  );
}
