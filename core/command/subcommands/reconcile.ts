import { missingPermissions } from '../../../plugins/authz/rbac/covers.js';
import type { PolicyRule, RoleRef, Subject } from '../../../plugins/authz/rbac/policy.js';
import { isDeepEqual, recordAt, recordsAt, stringAt, type UnknownRecord } from '../../model/record.js';

/** Whether permissions and subjects that the wanted object does not have are removed. */
export interface Removal {
  readonly permissions: boolean;
  readonly subjects: boolean;
}

/** The operation that brings an object into the desired state, and its changes. */
export interface Reconciled {
  readonly operation: 'none' | 'create' | 'update' | 'recreate';
  readonly object: UnknownRecord;
  readonly changes: readonly { readonly title: string; readonly items: readonly unknown[] }[];
}

/** The annotation that keeps an object from being reconciled, in any naming. */
const PROTECTION = /^rbac\.authorization\.[a-z]+\.io\/autoupdate$/;

const rulesOf = (role: unknown): PolicyRule[] => recordsAt(role, 'rules') as unknown as PolicyRule[];
const selectorsOf = (role: unknown): UnknownRecord[] => recordsAt(role, 'aggregationRule', 'clusterRoleSelectors');
const subjectsOf = (binding: unknown): Subject[] => recordsAt(binding, 'subjects') as unknown as Subject[];
const without = <T>(list: readonly T[], others: readonly T[]): T[] =>
  list.filter(one => !others.some(other => isDeepEqual(one, other)));

const isProtected = (object: UnknownRecord): boolean =>
  Object.entries(recordAt(object, 'metadata', 'annotations') ?? {}).some(
    ([name, value]) => PROTECTION.test(name) && value === 'false',
  );

/** The metadata of `have` with the labels and annotations of `want` that it lacks; undefined if it lacks none. */
function completedMetadata(have: UnknownRecord, want: UnknownRecord): UnknownRecord | undefined {
  const metadata = { ...recordAt(have, 'metadata') };
  let changed = false;
  for (const member of ['labels', 'annotations']) {
    const own = recordAt(have, 'metadata', member) ?? {};
    const wanted = recordAt(want, 'metadata', member) ?? {};
    if (Object.keys(wanted).every(name => Object.hasOwn(own, name))) continue;
    metadata[member] = { ...wanted, ...own };
    changed = true;
  }
  return changed ? metadata : undefined;
}

const result = (
  have: UnknownRecord,
  want: UnknownRecord,
  members: object,
  changes: Reconciled['changes'],
): Reconciled => {
  const metadata = completedMetadata(have, want);
  const isChanged = metadata !== undefined || Object.keys(members).length > 0;
  const object = { ...have, ...(metadata ? { metadata } : {}), ...members };
  return { operation: isChanged ? 'update' : 'none', object, changes };
};

function reconciledRole(have: UnknownRecord, want: UnknownRecord, { permissions: remove }: Removal): Reconciled {
  const [own, wanted] = [rulesOf(have), rulesOf(want)];
  const isAggregated = recordAt(want, 'aggregationRule') !== undefined;
  // The rules of an aggregated role are those of the roles that it selects.
  const missing = isAggregated ? [] : missingPermissions(own, wanted);
  const extra = isAggregated ? [] : missingPermissions(wanted, own);
  const [ownSelectors, wantedSelectors] = [selectorsOf(have), selectorsOf(want)];
  const missingSelectors = without(wantedSelectors, ownSelectors);
  const extraSelectors = without(ownSelectors, wantedSelectors);
  const rules = remove && extra.length > 0 ? wanted : missing.length > 0 ? [...own, ...missing] : undefined;
  const clusterRoleSelectors =
    remove && extraSelectors.length > 0
      ? wantedSelectors
      : missingSelectors.length > 0
        ? [...ownSelectors, ...missingSelectors]
        : undefined;
  const members = {
    ...(rules ? { rules } : {}),
    ...(clusterRoleSelectors
      ? { aggregationRule: clusterRoleSelectors.length > 0 ? { clusterRoleSelectors } : null }
      : {}),
  };
  return result(have, want, members, [
    { title: 'missing rules added', items: missing },
    { title: remove ? 'extra rules removed' : 'extra rules kept', items: extra },
    { title: 'missing aggregation rule selectors added', items: missingSelectors },
    {
      title: remove ? 'extra aggregation rule selectors removed' : 'extra aggregation rule selectors kept',
      items: extraSelectors,
    },
  ]);
}

const subjectKey = ({ kind, name, namespace = '' }: Subject): string => JSON.stringify([kind, namespace, name]);

function reconciledBinding(have: UnknownRecord, want: UnknownRecord, { subjects: remove }: Removal): Reconciled {
  const [own, wanted] = [subjectsOf(have), subjectsOf(want)];
  const keysOf = (subjects: readonly Subject[]) => new Set(subjects.map(subjectKey));
  const missing = wanted.filter(subject => !keysOf(own).has(subjectKey(subject)));
  const extra = own.filter(subject => !keysOf(wanted).has(subjectKey(subject)));
  const kept = remove ? own.filter(subject => keysOf(wanted).has(subjectKey(subject))) : own;
  const isChanged = missing.length > 0 || kept.length < own.length;
  const changes = [
    { title: 'missing subjects added', items: missing },
    { title: remove ? 'extra subjects removed' : 'extra subjects kept', items: extra },
  ];
  const subjects = [...kept, ...missing];
  const same = (a: unknown, b: unknown): boolean =>
    (['kind', 'name'] satisfies (keyof RoleRef)[]).every(
      member => stringAt(a, 'roleRef', member) === stringAt(b, 'roleRef', member),
    );
  if (same(have, want)) return result(have, want, isChanged ? { subjects } : {}, changes);
  const { labels, annotations } = completedMetadata(have, want) ?? recordAt(have, 'metadata') ?? {};
  const metadata = {
    ...recordAt(want, 'metadata'),
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
  };
  return { operation: 'recreate', object: { ...want, metadata, subjects }, changes };
}

/**
 * Compares a role or binding of the server with the desired one: missing permissions, subjects, labels and annotations
 * are added, and extra permissions and subjects are removed if `remove` says so. A binding to another role is created
 * again, because its `roleRef` cannot change. Objects with the annotation `autoupdate: "false"` stay as they are.
 */
export function reconciled(have: UnknownRecord | undefined, want: UnknownRecord, remove: Removal): Reconciled {
  if (!have) return { operation: 'create', object: want, changes: [] };
  if (isProtected(have)) return { operation: 'none', object: have, changes: [] };
  return stringAt(want, 'kind').endsWith('Binding')
    ? reconciledBinding(have, want, remove)
    : reconciledRole(have, want, remove);
}
