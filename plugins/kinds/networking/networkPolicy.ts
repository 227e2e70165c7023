import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  isAbsent,
  numberAt,
  recordAt,
  recordsAt,
  specOf,
  stringAt,
  stringsAt,
  type UnknownRecord,
  valueAt,
} from '../../../core/model/record.js';
import {
  forbiddenField,
  invalid,
  notSupported,
  required,
  Verbatim,
  type Violation,
} from '../../../core/model/refusal.js';
import { AGE, column, NAME, selectorText } from '../shared/columns.js';
import { cidrComplaints, isStrictSubset } from '../shared/ipAddresses.js';
import { validateSelector } from '../shared/labels.js';
import { portNumberComplaints, validatePortOrName } from '../shared/ports.js';
import {
  toViolations,
  validateEach,
  validateEachString,
  validateOneOf,
  validateRequired,
} from '../shared/violations.js';

const COLUMNS: readonly Column[] = [
  NAME,
  column('Pod-Selector', object => selectorText(valueAt(object, 'spec', 'podSelector'))),
  AGE,
];

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];

/** Checks the last port of a range. */
function validateEndPort(port: UnknownRecord, field: string): Violation[] {
  const last = numberAt(port, 'endPort');
  if (last === undefined) return [];
  const first = port.port;
  if (isAbsent(first)) return [invalid(field, last, 'may not be specified when `port` is not specified')];
  if (typeof first !== 'number') return [invalid(field, last, 'may not be specified when `port` is non-numeric')];
  return [
    ...(last < first ? [invalid(field, first, 'must be greater than or equal to `port`')] : []),
    ...toViolations(field, last, portNumberComplaints(last)),
  ];
}

function validatePort(port: UnknownRecord, field: string): Violation[] {
  const first = isAbsent(port.port) ? [] : validatePortOrName(port, 'port', `${field}.port`);
  const last = validateEndPort(port, `${field}.endPort`);
  return [
    ...(isAbsent(port.protocol) ? [] : validateOneOf(port, 'protocol', `${field}.protocol`, PROTOCOLS)),
    ...(typeof port.port === 'string' ? [...last, ...first] : [...first, ...last]),
  ];
}

function validateIpBlock(block: UnknownRecord, field: string): Violation[] {
  const cidr = stringAt(block, 'cidr');
  const found = validateRequired(block, 'cidr', `${field}.cidr`, cidrComplaints);
  if (found.length > 0) return found;
  return validateEachString(block, 'except', `${field}.except`, (except, at) => {
    const malformed = toViolations(at, except, cidrComplaints(except));
    if (malformed.length > 0 || isStrictSubset(except, cidr)) return malformed;
    return [invalid(at, except, 'must be a strict subset of `cidr`')];
  });
}

function validatePeer(peer: UnknownRecord, field: string): Violation[] {
  const [pods, namespaces, block] = [
    recordAt(peer, 'podSelector'),
    recordAt(peer, 'namespaceSelector'),
    recordAt(peer, 'ipBlock'),
  ];
  const found = [
    ...validateSelector(pods, `${field}.podSelector`),
    ...validateSelector(namespaces, `${field}.namespaceSelector`),
    ...(block ? validateIpBlock(block, `${field}.ipBlock`) : []),
  ];
  if (!pods && !namespaces && !block) found.push(required(field, 'must specify a peer'));
  if (block && (pods || namespaces)) found.push(forbiddenField(field, 'may not specify both ipBlock and another peer'));
  return found;
}

/** Checks the rules of a direction, whose peers are in the member `peers`. */
const validateRules = (spec: UnknownRecord | undefined, direction: string, peers: string): Violation[] =>
  validateEach(spec, direction, `spec.${direction}`, (rule, at) => [
    ...validateEach(rule, 'ports', `${at}.ports`, validatePort),
    ...validateEach(rule, peers, `${at}.${peers}`, validatePeer),
  ]);

const TYPES = ['Ingress', 'Egress'];

function validateTypes(types: readonly string[]): Violation[] {
  const shown = new Verbatim(`[]networking.PolicyType{${types.map(type => JSON.stringify(type)).join(', ')}}`);
  if (types.length > TYPES.length)
    return [invalid('spec.policyTypes', shown, 'may not specify more than two policyTypes')];
  return types.flatMap((type, i) =>
    TYPES.includes(type) ? [] : [notSupported(`spec.policyTypes[${i}]`, type, TYPES)],
  );
}

/** Violations of a NetworkPolicy. */
function validatePolicy(object: ApiObject): Violation[] {
  const spec = recordAt(object, 'spec');
  return [
    ...validateSelector(recordAt(spec, 'podSelector'), 'spec.podSelector'),
    ...validateRules(spec, 'ingress', 'from'),
    ...validateRules(spec, 'egress', 'to'),
    ...validateTypes(stringsAt(spec, 'policyTypes')),
  ];
}

/** NetworkPolicy. The default type is Ingress, and Egress if it has egress rules. */
export const networkPolicy = builtInKind('networking.orchestrator.io/networkpolicies', () => ({
  hasGeneration: true,
  validateCreate: validatePolicy,
  validateUpdate: validatePolicy,
  applyDefaults: object => {
    const spec = specOf(object);
    const egress = recordsAt(spec, 'egress');
    for (const rule of [...recordsAt(spec, 'ingress'), ...egress])
      for (const port of recordsAt(rule, 'ports')) if (isAbsent(port.protocol)) port.protocol = 'TCP';
    if (isAbsent(spec.policyTypes) || (Array.isArray(spec.policyTypes) && spec.policyTypes.length === 0)) {
      spec.policyTypes = egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    }
  },
  columns: COLUMNS,
}));
