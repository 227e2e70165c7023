import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { recordAt, recordsAt, stringAt, valueAt } from '../../../core/model/record.js';
import type { Violation } from '../../../core/model/refusal.js';
import { AGE, type Cell, column, conditionOf, NAME } from '../shared/columns.js';
import { restoreMembers } from '../shared/metadata.js';
import { setServiceReferenceDefaults } from '../shared/serviceReference.js';
import { validateOneOf } from '../shared/violations.js';

/** Violations of the status of an APIService. */
const validateApiServiceStatus = (object: ApiObject): Violation[] =>
  recordsAt(object, 'status', 'conditions').flatMap((condition, i) =>
    validateOneOf(condition, 'status', `status.conditions[${i}].status`, ['True', 'False', 'Unknown']),
  );

const serviceTarget: Cell = service => {
  const target = valueAt(service, 'spec', 'service');
  return target === undefined || target === null
    ? 'Local'
    : `${stringAt(target, 'namespace')}/${stringAt(target, 'name')}`;
};

const serviceAvailable: Cell = service => {
  const available = conditionOf(service, 'Available');
  if (available === undefined) return 'Unknown';
  const status = stringAt(available, 'status');
  const reason = stringAt(available, 'reason');
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
};

const COLUMNS: readonly Column[] = [NAME, column('Service', serviceTarget), column('Available', serviceAvailable), AGE];

/** APIService. */
export const apiService = builtInKind('apiregistration.orchestrator.io/apiservices', () => ({
  hasStatus: true,
  prepareStatus: (object, old) =>
    restoreMembers(object, old, ['labels', 'annotations', 'finalizers', 'ownerReferences']),
  allowUnconditionalUpdate: false,
  validateStatus: validateApiServiceStatus,
  checkName: () => [],
  applyDefaults: object => setServiceReferenceDefaults(recordAt(object, 'spec')),
  selectableFields: new Map(),
  columns: COLUMNS,
}));
