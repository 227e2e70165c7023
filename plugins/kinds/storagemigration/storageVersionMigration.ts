import { builtInKind } from '../../../core/api/resource.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  isAbsent,
  isDeepEqual,
  recordAt,
  recordsAt,
  stringAt,
  type UnknownRecord,
} from '../../../core/model/record.js';
import { invalid, required, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { type Cell, column, NAME } from '../shared/columns.js';

function validateMigration(object: ApiObject): Violation[] {
  const field = 'spec.resource';
  return ['resource', 'version'].flatMap(member =>
    stringAt(object, 'spec', 'resource', member) === ''
      ? [required(`${field}.${member}`, `${member} is required`)]
      : [],
  );
}

const validateChange = (object: ApiObject, old: ApiObject): Violation[] => {
  const [now, before] = [object, old].map(one => recordAt(one, 'spec', 'resource') ?? {});
  const found = validateMigration(object);
  return isDeepEqual(now, before)
    ? found
    : [...found, invalid('resource', stringAt(now, 'resource'), 'field is immutable')];
};

const isTrue = (conditions: readonly UnknownRecord[], type: string): boolean =>
  conditions.some(one => one.type === type && one.status === 'True');

/** Conditions as Go prints them; times are shown as the zero time. */
const goConditions = (conditions: readonly UnknownRecord[]): Verbatim =>
  new Verbatim(
    `[]storagemigration.MigrationCondition{${conditions
      .map(one => {
        const [type, status, reason, message] = ['type', 'status', 'reason', 'message'].map(member =>
          JSON.stringify(stringAt(one, member)),
        );
        return (
          `storagemigration.MigrationCondition{Type:${type}, Status:${status}, ` +
          'LastUpdateTime:time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC), ' +
          `Reason:${reason}, Message:${message}}`
        );
      })
      .join(', ')}}`,
  );

/** Pairs of conditions of which only one may be true. */
const EXCLUSIVE = [
  ['Succeeded', 'Failed', 'Both success and failed conditions cannot be true at the same time'],
  ['Running', 'Succeeded', 'Running condition cannot be true when success condition is true'],
  ['Running', 'Failed', 'Running condition cannot be true when failed condition is true'],
] as const;

function validateVersion(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [object, old].map(one => stringAt(one, 'status', 'resourceVersion')) as [string, string];
  const field = 'status.resourceVersion';
  const syntax = `failed to parse resource version ${JSON.stringify(now)}: strconv.ParseInt: parsing ${JSON.stringify(now)}: invalid syntax`;
  return [
    ...(now === '' || /^[+-]?\d+$/.test(now) ? [] : [invalid(field, now, syntax)]),
    ...(before === '' || before === now ? [] : [invalid(field, now, 'resourceVersion cannot be updated')]),
  ];
}

function validateStatus(object: ApiObject, old: ApiObject): Violation[] {
  const field = 'status.conditions';
  const conditions = recordsAt(object, 'status', 'conditions');
  const before = recordsAt(old, 'status', 'conditions');
  return [
    ...validateVersion(object, old),
    ...conditions.flatMap((one, i) => [
      ...(isAbsent(one.lastUpdateTime) ? [required(`${field}[${i}].lastTransitionTime`, 'must be set')] : []),
      ...(stringAt(one, 'reason') === '' ? [required(`${field}[${i}].reason`, 'must be set')] : []),
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
const resourceCell: Cell = migration =>
  ['resource', 'version', 'group'].map(member => stringAt(migration, 'spec', 'resource', member)).join('.');

/** StorageVersionMigration: a controller writes all objects of a resource again. */
export const storageVersionMigration = builtInKind('storagemigration.orchestrator.io/storageversionmigrations', () => ({
  hasStatus: true,
  columns: [NAME, column('Resource', resourceCell)],
  validateCreate: validateMigration,
  validateUpdate: validateChange,
  validateStatus,
}));
