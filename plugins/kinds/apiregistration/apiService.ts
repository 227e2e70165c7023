import type { APIService, APIServiceSpec } from '../../../kinds/apiregistration/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { dns1035Label, dns1123Subdomain, pathSegment } from '../../../core/model/names.js';
import { invalid, required, type Violation } from '../../../core/model/refusal.js';
import { AGE, type Cell, column, conditionOf, NAME } from '../shared/columns.js';
import { checkWholeSegmentName } from '../shared/values/names.js';
import { portNumberComplaints } from '../shared/ports.js';
import { setServiceReferenceDefaults } from '../shared/admission/serviceReference.js';
import { toViolations, validateOneOf, validateRequired } from '../shared/violations.js';

const HIGHEST_GROUP_PRIORITY = 20000;

const HIGHEST_VERSION_PRIORITY = 1000;

const validatePriority = (
  spec: APIServiceSpec,
  member: 'groupPriorityMinimum' | 'versionPriority',
  highest: number,
): Violation[] => {
  const value = spec[member];
  return value > 0 && value <= highest
    ? []
    : [invalid(`spec.${member}`, value, `must be positive and less than ${highest}`)];
};

/** Checks the version and the group, from which the name is made. */
function validateGroupVersion(spec: APIServiceSpec, name: string): Violation[] {
  const [group, version] = [spec.group ?? '', spec.version ?? ''];
  const wanted = `${version}.${group}`;
  const found: Violation[] = [];
  if (name !== '' && pathSegment(name).length === 0 && name !== wanted)
    found.push(invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`));
  if (group === '' && version !== 'v1')
    found.push(required('spec.group', 'only v1 may have an empty group and it better be legacy kube'));
  if (group !== '') found.push(...toViolations('spec.group', group, dns1123Subdomain(group)));
  return [...found, ...toViolations('spec.version', version, dns1035Label(version))];
}

/** Checks how the server of the group is reached; without a service, it is this server. */
function validateService(spec: APIServiceSpec): Violation[] {
  const [service, bundle] = [spec.service, spec.caBundle ?? ''];
  const skipsVerify = spec.insecureSkipTLSVerify === true;
  const field = 'spec.insecureSkipTLSVerify';
  const found: Violation[] = [];
  if (service) {
    found.push(...validateRequired(service, 'namespace', 'spec.service.namespace'));
    found.push(...validateRequired(service, 'name', 'spec.service.name'));
    const port = service.port;
    found.push(
      ...portNumberComplaints(port).map(why => invalid('spec.service.port', port ?? 0, `port is not valid: ${why}`)),
    );
  } else {
    const size = Buffer.from(bundle, 'base64').length;
    if (size > 0) found.push(invalid('spec.caBundle', `${size} bytes`, 'local APIServices may not have a caBundle'));
    if (skipsVerify) found.push(invalid(field, true, 'local APIServices may not have insecureSkipTLSVerify'));
  }
  if (skipsVerify && bundle !== '') found.push(invalid(field, true, 'may not be true if caBundle is present'));
  return found;
}

/** Violations of an APIService. */
function validateApiService(object: APIService): Violation[] {
  const spec = object.spec;
  return [
    ...validateGroupVersion(spec, object.metadata.name ?? ''),
    ...validatePriority(spec, 'groupPriorityMinimum', HIGHEST_GROUP_PRIORITY),
    ...validatePriority(spec, 'versionPriority', HIGHEST_VERSION_PRIORITY),
    ...validateService(spec),
  ];
}

/** Violations of the status of an APIService. */
const validateApiServiceStatus = (object: APIService): Violation[] =>
  (object.status?.conditions ?? []).flatMap((condition, i) =>
    validateOneOf(condition, 'status', `status.conditions[${i}].status`, ['True', 'False', 'Unknown']),
  );

const serviceTarget: Cell<APIService> = service => {
  const target = service.spec.service;
  return target === undefined || target === null ? 'Local' : `${target.namespace ?? ''}/${target.name ?? ''}`;
};

const serviceAvailable: Cell<APIService> = service => {
  const available = conditionOf(service, 'Available');
  if (available === undefined) return 'Unknown';
  const status = available.status;
  const reason = available.reason ?? '';
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
};

const COLUMNS: readonly Column<APIService>[] = [
  NAME,
  column('Service', serviceTarget),
  column('Available', serviceAvailable),
  AGE,
];

/** APIService. */
export const apiService = builtInKind<APIService>('apiregistration.orchestrator.io/apiservices', naming => ({
  hasStatus: true,
  storePath: `${naming.group('apiregistration.orchestrator.io')}/apiservices`,
  keptInStatus: ['labels', 'annotations', 'finalizers', 'ownerReferences'],
  allowUnconditionalUpdate: false,
  validateCreate: validateApiService,
  validateUpdate: validateApiService,
  validateStatus: validateApiServiceStatus,
  checkName: checkWholeSegmentName,
  allowAnyFinalizer: true,
  applyDefaults: object => setServiceReferenceDefaults(object.spec),
  selectableFields: new Map(),
  columns: COLUMNS,
}));
