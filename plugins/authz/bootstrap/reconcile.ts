import type { ApiObject, Host } from '../../../core/api/index.js';
import { missingPermissions } from '../rbac/covers.js';
import type { PolicyRule, RoleRef, Subject } from '../rbac/policy.js';
import { type AggregationRule, aggregateAll } from './aggregate.js';
import { autoupdateAnnotation, bootstrapObjects } from './objects.js';

/**
 * The writes that restore the defaults. `recreate` are bindings to another role: they are deleted and created again,
 * because `roleRef` is immutable.
 */
export interface Reconciliation {
  readonly create: ApiObject[];
  readonly update: ApiObject[];
  readonly recreate: ApiObject[];
}

const keyOf = ({ kind, metadata }: ApiObject): string => `${kind}/${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

/** Adds missing labels and annotations; null if none are missing. */
function addMetadata(have: ApiObject, want: ApiObject): ApiObject['metadata'] | null {
  const labels = { ...want.metadata.labels, ...have.metadata.labels };
  const annotations = { ...want.metadata.annotations, ...have.metadata.annotations };
  const count = (map: object | undefined): number => Object.keys(map ?? {}).length;
  if (count(labels) === count(have.metadata.labels) && count(annotations) === count(have.metadata.annotations))
    return null;
  return { ...have.metadata, labels, annotations };
}

function addRules(have: ApiObject, want: ApiObject): object | null {
  if (want['aggregationRule']) return addSelectors(have, want);
  const own = (have['rules'] as PolicyRule[] | null | undefined) ?? [];
  const missing = missingPermissions(own, want['rules'] as PolicyRule[]);
  return missing.length ? { rules: [...own, ...missing] } : null;
}

function addSelectors(have: ApiObject, want: ApiObject): object | null {
  const own = (have['aggregationRule'] as AggregationRule | null | undefined)?.clusterRoleSelectors ?? [];
  const known = new Set(own.map(selector => JSON.stringify(selector)));
  const wanted = (want['aggregationRule'] as AggregationRule).clusterRoleSelectors ?? [];
  const missing = wanted.filter(selector => !known.has(JSON.stringify(selector)));
  return missing.length ? { aggregationRule: { clusterRoleSelectors: [...own, ...missing] } } : null;
}

const subjectKey = ({ kind, name, namespace = '' }: Subject): string => JSON.stringify([kind, namespace, name]);

function addSubjects(have: ApiObject, want: ApiObject): object | null {
  const own = (have['subjects'] as Subject[] | null | undefined) ?? [];
  const known = new Set(own.map(subjectKey));
  const missing = ((want['subjects'] as Subject[] | undefined) ?? []).filter(
    subject => !known.has(subjectKey(subject)),
  );
  return missing.length ? { subjects: [...own, ...missing] } : null;
}

function sameRef(have: ApiObject, want: ApiObject): boolean {
  const a = have['roleRef'] as RoleRef;
  const b = want['roleRef'] as RoleRef;
  return a.kind === b.kind && a.name === b.name;
}

/** The object with all missing parts added; the same object if none are missing. */
function addMissing(have: ApiObject, want: ApiObject): ApiObject {
  const metadata = addMetadata(have, want);
  const members = want['roleRef'] ? addSubjects(have, want) : addRules(have, want);
  return metadata || members ? { ...have, ...(metadata ? { metadata } : {}), ...members } : have;
}

function replaceRoleRef(have: ApiObject, want: ApiObject): ApiObject {
  const { labels, annotations } = addMetadata(have, want) ?? have.metadata;
  return {
    ...want,
    metadata: { ...want.metadata, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) },
  };
}

/**
 * The aggregating default roles with the rules of the roles that they select, of default roles and of those the
 * administrator created.
 */
function aggregateDefaults(roles: ReadonlyMap<string, ApiObject>, defaults: ReadonlySet<string>): ApiObject[] {
  const clusterRoles = [...roles.values()].filter(object => object.kind === 'ClusterRole');
  return aggregateAll(clusterRoles).filter(role => defaults.has(keyOf(role)));
}

/**
 * Compares stored roles and bindings with the defaults (spec, "Default roles and bindings"). Returns the writes that
 * add missing objects, permissions, subjects, labels. Nothing is removed, and objects with the annotation
 * `autoupdate: "false"` are not changed.
 */
export function reconcileBootstrap(
  current: readonly ApiObject[],
  host: Pick<Host, 'naming' | 'isEnabled'>,
): Reconciliation {
  const { naming } = host;
  const stored = new Map(current.map(object => [keyOf(object), object]));
  const after = new Map(stored);
  const defaults = bootstrapObjects(host);
  const recreate: ApiObject[] = [];
  for (const want of defaults) {
    const have = stored.get(keyOf(want));
    if (have?.metadata.annotations?.[autoupdateAnnotation(naming)] === 'false') continue;
    if (have && want['roleRef'] && !sameRef(have, want)) recreate.push(replaceRoleRef(have, want));
    else after.set(keyOf(want), have ? addMissing(have, want) : want);
  }
  for (const role of aggregateDefaults(after, new Set(defaults.map(keyOf)))) after.set(keyOf(role), role);
  const written = [...after].filter(([key, object]) => stored.get(key) !== object);
  return {
    create: written.filter(([key]) => !stored.has(key)).map(([, object]) => object),
    update: written.filter(([key]) => stored.has(key)).map(([, object]) => object),
    recreate,
  };
}
