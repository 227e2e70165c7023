import type { IPAddress } from '../../../kinds/networking/v1beta1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { dns1123Subdomain, pathSegment } from '../../../core/model/names.js';
import { required, type Violation } from '../../../core/model/refusal.js';
import { canonicalAddress } from '../shared/addressRange.js';
import { AGE, type Cell, column, NAME } from '../shared/columns.js';
import { addressProblem } from '../shared/goAddresses.js';
import { toViolations, validateImmutable } from '../shared/violations.js';

const parentRef: Cell<IPAddress> = object => {
  const parent = object.spec.parentRef;
  if (parent === undefined || parent === null) return '';
  const group = parent.group ?? '';
  const namespace = parent.namespace ?? '';
  return `${parent.resource ?? ''}${group ? `.${group}` : ''}/${namespace ? `${namespace}/` : ''}${parent.name ?? ''}`;
};

const COLUMNS: readonly Column<IPAddress>[] = [NAME, column('ParentRef', parentRef), { ...AGE, name: '' }];

/** Messages about the name of an IPAddress, which is the address in the only form in which it can be written. */
function checkName(name: string): readonly string[] {
  const problem = addressProblem(name);
  if (problem) return [problem];
  if (canonicalAddress(name) !== name) return ['must be a canonical format IP address'];
  return pathSegment(name);
}

const PARENT = 'spec.parentRef';

/** The violations of the reference to the object that an address belongs to. */
function validateParent({ spec }: IPAddress): readonly Violation[] {
  if (!spec.parentRef) return [required(PARENT)];
  const { group = '', resource = '', name = '', namespace = '' } = spec.parentRef;
  const segment = (member: string, value: string): Violation[] =>
    toViolations(`${PARENT}.${member}`, value, pathSegment(value));
  return [
    ...(group === '' ? [] : toViolations(`${PARENT}.group`, group, dns1123Subdomain(group))),
    ...(resource === '' ? [required(`${PARENT}.resource`)] : segment('resource', resource)),
    ...(name === '' ? [required(`${PARENT}.name`)] : segment('name', name)),
    ...(namespace === '' ? [] : segment('namespace', namespace)),
  ];
}

/** IPAddress: an address that belongs to an object, such as the cluster address of a Service. */
export const ipAddress = builtInKind<IPAddress>('networking.orchestrator.io/ipaddresses', () => ({
  revalidatesName: true,
  checkName,
  validateCreate: validateParent,
  validateUpdate: (object, old) => [
    ...validateParent(object),
    ...validateImmutable(object.spec, old.spec, 'parentRef', PARENT),
  ],
  columns: COLUMNS,
}));
