import type { StorageVersionMigration, MigrationCondition } from '../../../kinds/storagemigration/v1alpha1.js';
import { builtInKind } from '../../../core/api/resource.js';
import { isAbsent, isDeepEqual } from '../../../core/model/record.js';
import { invalid, required, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { type Cell, column, NAME } from '../shared/columns.js';

function validateMigration(object: StorageVersionMigration): Violation[] {
  const field = 'spec.resource';
  return (['resource', 'version'] as const).flatMap(member =>
    (object.spec.resource[member] ?? '') === '' ? [required(`${field}.${member}`, `${member} is required`)] : [],
  );
}

const validateChange = (object: StorageVersionMigration, old: StorageVersionMigration): Violation[] => {
  const [now, before] = [object, old].map(one => one.spec.resource);
  const found = validateMigration(object);
  return isDeepEqual(now, before) ? found : [...found, invalid('resource', now?.resource ?? '', 'field is immutable')];
};

const isTrue = (conditions: readonly MigrationCondition[], type: string): boolean =>
  conditions.some(one => one.type === type && one.status === 'True');

/** Conditions as Go prints them; times are shown as the zero time. */
const goConditions = (conditions: readonly MigrationCondition[]): Verbatim =>
  new Verbatim(
    `[]storagemigration.MigrationCondition{${conditions
      .map(one => {
        const [type, status, reason, message] = (['type', 'status', 'reason', 'message'] as const).map(member =>
          JSON.stringify(one[member] ?? ''),
        );
        return (
          `storagemigration.MigrationCondition{Type:${type}, Status:${status}, ` +
          'LastUpdateTime:time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC), ' +
          `Reason:${reason}, Message:${message}}`
        );
      })
      .join(', ')}}`,
  );

/** Pairs of conditions that must not both be true. */
const EXCLUSIVE = [
  ['Succeeded', 'Failed', 'Both success and failed conditions cannot be true at the same time'],
  ['Running', 'Succeeded', 'Running condition cannot be true when success condition is true'],
  ['Running', 'Failed', 'Running condition cannot be true when failed condition is true'],
] as const;

function validateVersion(object: StorageVersionMigration, old: StorageVersionMigration): Violation[] {
  const [now, before] = [object, old].map(one => one.status?.resourceVersion ?? '') as [string, string];
  const field = 'status.resourceVersion';
  const syntax = `failed to parse resource version ${JSON.stringify(now)}: strconv.ParseInt: parsing ${JSON.stringify(now)}: invalid syntax`;
  return [
    ...(now === '' || /^[+-]?\d+$/.test(now) ? [] : [invalid(field, now, syntax)]),
    ...(before === '' || before === now ? [] : [invalid(field, now, 'resourceVersion cannot be updated')]),
  ];
}

function validateStatus(object: StorageVersionMigration, old: StorageVersionMigration): Violation[] {
  const field = 'status.conditions';
  const conditions = object.status?.conditions ?? [];
  const before = old.status?.conditions ?? [];
  return [
    ...validateVersion(object, old),
    ...conditions.flatMap((one, i) => [
      ...(isAbsent(one.lastUpdateTime) ? [required(`${field}[${i}].lastTransitionTime`, 'must be set')] : []),
      ...((one.reason ?? '') === '' ? [required(`${field}[${i}].reason`, 'must be set')] : []),
    ]),
    ...EXCLUSIVE.filter(([one, other]) => isTrue(conditions, one) && isTrue(conditions, other)).map(([, , why]) =>
      invalid(field, goConditions(conditions), why),
    ),
    ...['Succeeded', 'Failed']
      .filter(type => isTrue(before, type) && !isTrue(conditions, type))
      .map(type =>
        invalid(field, goConditions(conditions), `${type} condition cannot be set to false once it is true`),
      ),
  ];
}

/** The resource with its version and group. */
const resourceCell: Cell<StorageVersionMigration> = migration =>
  (['resource', 'version', 'group'] as const).map(member => migration.spec.resource[member] ?? '').join('.');

/** StorageVersionMigration: a controller writes all objects of a resource again. */
export const storageVersionMigration = builtInKind<StorageVersionMigration>(
  'storagemigration.orchestrator.io/storageversionmigrations',
  () => ({
    hasStatus: true,
    columns: [NAME, column('Resource', resourceCell)],
    validateCreate: validateMigration,
    validateUpdate: validateChange,
    validateStatus,
  }),
);
