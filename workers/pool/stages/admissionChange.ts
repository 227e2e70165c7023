import { proposedCharge } from '../charge.js';
import type { Change, ChangeView, EquivalentKind, ServedKind } from '../../../core/api/admission.js';
import type { Operation } from '../../../core/api/checks/match.js';
import { readJson, writeJson } from '../../../core/model/text/jsonText.js';
import type { ApiObject, Frozen, Json } from '../../../core/model/object.js';
import { replaceMembers, type UnknownRecord } from '../../../core/model/record.js';
import { Refusal } from '../../../core/model/refusal.js';
import { decodeAsKind, decodeObject, TypeMismatch } from '../../../core/schema/decode/decode.js';
import { mergeConfiguration } from '../../../core/schema/apply/mutation.js';
import { shapeOf } from '../../../core/schema/apply/shape.js';
import { isMembers, reach } from '../../../core/schema/patch/members.js';
import type { Registry, Resource } from '../../../core/schema/resource.js';
import { connectOptionsObject, deleteOptionsObject, writeOptionsObject } from './admissionOptions.js';
import type { Context } from '../context.js';
import type { DeleteOptions } from '../body/options.js';
import { scaleEntries } from './managers.js';
import { isScale, scaleOf, setReplicas } from '../subresources/scale.js';
import type { AuthorizedRequest, Review } from '../types.js';
import { convertTo } from '../answers/versions.js';

/** The parts of a change. */
export interface ChangeParts {
  readonly context: Context;
  readonly request: AuthorizedRequest;
  /** The request as it was sent, if it was for a virtual kind that acts on another resource. */
  readonly sent?: AuthorizedRequest;
  readonly operation: Operation;
  /** Name of the object. */
  readonly name: string;
  readonly dryRun: boolean;
  readonly old?: ApiObject;
  /** The body of an action, which admission requests have as their object. */
  readonly body?: ApiObject;
  /** Options of a delete. */
  readonly options?: DeleteOptions;
  /** Whether mutators are asked. They see who owns the replicas of a scale. */
  readonly mutates?: boolean;
}

/** A change as mutators and validators see it. */
export function changeOf(parts: ChangeParts): Change {
  const { request, operation, name, dryRun, old } = parts;
  const { target, resource, user, warnings, emptied } = request;
  return {
    operation,
    target: { ...target, name },
    kind: resource.kind,
    user,
    dryRun,
    repeated: request.job.currentKey !== undefined,
    ...(old ? { old: old as Frozen<ApiObject> } : {}),
    emptied,
    view: new RequestView(parts),
    // Plugins in JavaScript may pass any value.
    warn: text => void warnings.push(String(text)),
    annotate: (name, value) => request.trail.annotate(name, value),
    report: step => request.trail.report(step),
    beginSideEffects() {
      if (!dryRun && !request.run.makeFinal())
        throw new Refusal('ServiceUnavailable', 'another thread handles the request by now');
    },
    charge: charge => void request.charges.push(proposedCharge(charge)),
  };
}

/** The change that admission sees of a review. */
export const reviewChange = (context: Context, { request, draft, dryRun }: Review): Change =>
  changeOf({ context, request, operation: 'CREATE', name: draft.metadata.name ?? '', dryRun });

const kindOf = ({ group, version, kind }: { group: string; version: string; kind: string }): ServedKind['kind'] => ({
  group,
  version,
  kind,
});

const servedKind = (resource: Resource, subresource: string): ServedKind => ({
  resource: { group: resource.group, version: resource.version, resource: resource.plural },
  kind: kindOf(resource.subresources.get(subresource) ?? resource),
});

/** Upstream's 500 for an object of an admission plugin that cannot be decoded. */
const undecodable = (why: string): Refusal =>
  new Refusal('InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] });

class RequestView implements ChangeView {
  readonly #parts: ChangeParts;

  constructor(parts: ChangeParts) {
    this.#parts = parts;
  }

  get #request(): AuthorizedRequest {
    return this.#parts.sent ?? this.#parts.request;
  }

  get name(): string {
    return this.#request.job.collection ? '' : this.#parts.name;
  }

  get subresource(): string {
    return this.#request.route.subresource?.name ?? '';
  }

  get resource(): ServedKind['resource'] {
    const { group, version, plural } = this.#request.resource;
    return { group, version, resource: plural };
  }

  get kind(): ServedKind['kind'] {
    const { resource, route } = this.#request;
    const { subresource } = route;
    if (this.#parts.operation !== 'CONNECT') return kindOf(subresource ?? resource);
    return { group: resource.group, version: resource.version, kind: shortName(subresource?.options?.id ?? '') };
  }

  /** Whether the kind of the subresource differs from that of the resource. */
  get #isPart(): boolean {
    const { subresource } = this.#request.route;
    return subresource !== undefined && subresource.kind !== this.#request.resource.kind;
  }

  equivalents(): readonly EquivalentKind[] {
    const { context } = this.#parts;
    const { resource } = this.#request;
    const sub = this.subresource;
    return versionsOf(context.registry, resource.storageName)
      .filter(other => other.apiVersion !== resource.apiVersion && (sub === '' || other.subresources.has(sub)))
      .map(other => ({
        ...servedKind(other, sub),
        convert: object => (this.#isPart ? object : convertTo(context, resource, other, object)),
        convertBack: object => (this.#isPart ? object : convertTo(context, other, resource, object)),
      }));
  }

  options(): UnknownRecord | null {
    const { context, operation, dryRun, options } = this.#parts;
    const { naming } = context;
    const { query } = this.#request.route;
    switch (operation) {
      case 'CREATE':
        return writeOptionsObject(naming, 'CreateOptions', query, dryRun);
      case 'UPDATE':
        return writeOptionsObject(naming, 'UpdateOptions', query, dryRun);
      case 'DELETE':
        return deleteOptionsObject(naming, options ?? { dryRun });
      case 'CONNECT':
        return null;
    }
  }

  show(object: ApiObject | undefined): ApiObject | undefined {
    const { operation, body } = this.#parts;
    const { resource, route } = this.#request;
    if (operation === 'CONNECT') {
      const type = route.subresource?.options;
      return type && (connectOptionsObject(type, resource.apiVersion, route.query, this.#request.target) as ApiObject);
    }
    if (body) {
      const { group, version, kind } = this.kind;
      return { ...body, kind, apiVersion: group ? `${group}/${version}` : version };
    }
    if (!object || !isScale(route)) return object && canonical(resource, object);
    const scale = scaleOf(resource, object, true);
    const managedFields = this.#parts.mutates && scaleEntries(this.#request, object);
    return managedFields ? { ...scale, metadata: { ...scale.metadata, managedFields } } : scale;
  }

  showOld(): ApiObject | undefined {
    const { old, body } = this.#parts;
    return old && !body ? this.show(old) : undefined;
  }

  merge(kind: ServedKind, shown: ApiObject, configuration: UnknownRecord): ApiObject {
    const { context } = this.#parts;
    const { resource, route } = this.#request;
    const { group, version, resource: plural } = kind.resource;
    const { apiVersion, kind: kindName } = shown;
    if (this.#parts.operation === 'CONNECT')
      throw new Error(
        `failed to convert patch object to typed object: no corresponding type for ${group}/${version}, Kind=${kindName}`,
      );
    const { type } = this.#isPart ? route.subresource! : (context.registry.find(group, version, plural) ?? resource);
    const given = { ...configuration, apiVersion, kind: kindName } as unknown as Json;
    return mergeConfiguration(shapeOf(type!), shown as unknown as Json, given) as unknown as ApiObject;
  }

  accept(draft: ApiObject, shown: unknown, unknownFields?: 'strict'): void {
    const { resource, route } = this.#request;
    if (this.#parts.operation === 'CONNECT') return;
    if (!isMembers(shown)) throw undecodable('the changed object is no JSON object');
    if (isScale(route)) {
      setReplicas(draft, resource.strategy.scale!.spec, Number(reach(shown, ['spec', 'replicas']) ?? 0));
      return;
    }
    replaceMembers(draft, this.#isPart ? shown : decode(resource, shown, unknownFields === 'strict'));
  }
}

/** The object as the API encodes it: without members that are undefined or that its kind omits. */
function canonical(resource: Resource, object: ApiObject): ApiObject {
  if (!resource.builtIn) return readJson(writeJson(object)) as unknown as ApiObject;
  const shown = decodeObject(resource, object as unknown as Json, { strictErrors: [] });
  // Upstream encodes the time of an object that is not created yet as null.
  if (shown.metadata) shown.metadata.creationTimestamp ??= null;
  return shown;
}

const shortName = (typeId: string): string => typeId.slice(typeId.lastIndexOf('.') + 1);

/**
 * An object of the resource from JSON, with defaults. Throws 500 for anything else; if `isStrict`, also for unknown
 * fields.
 */
function decode(resource: Resource, shown: { [key: string]: Json }, isStrict: boolean): ApiObject {
  const { kind, apiVersion } = resource;
  if (shown['kind'] !== kind || shown['apiVersion'] !== apiVersion)
    throw undecodable(
      `the changed object is a ${String(shown['kind'])} in ${String(shown['apiVersion'])}, not a ${kind} in ${apiVersion}`,
    );
  const strictErrors: string[] = [];
  let object: ApiObject;
  try {
    object = decodeAsKind(resource, shown, { strictErrors });
    object.metadata ??= {};
    // The time of an object that is not created yet is encoded as null.
    if (object.metadata.creationTimestamp === null) delete object.metadata.creationTimestamp;
    resource.strategy.applyDefaults(object);
  } catch (error) {
    if (error instanceof TypeMismatch || error instanceof Refusal) throw undecodable(error.message);
    throw error;
  }
  if (isStrict && resource.builtIn && strictErrors.length > 0)
    throw undecodable(`strict decoding error: ${strictErrors.join(', ')}`);
  return object;
}

const versionsByRegistry = new WeakMap<Registry, Map<string, readonly Resource[]>>();

/** Every served version of the resources with a storage name. */
function versionsOf(registry: Registry, storageName: string): readonly Resource[] {
  let versions = versionsByRegistry.get(registry);
  if (!versions) {
    const all = [...registry.groups.values()].flatMap(group => group.versions.filter(({ served }) => served));
    versions = new Map();
    for (const { resources } of all)
      for (const one of resources.values())
        versions.set(one.storageName, [...(versions.get(one.storageName) ?? []), one]);
    versionsByRegistry.set(registry, versions);
  }
  return versions.get(storageName) ?? [];
}
