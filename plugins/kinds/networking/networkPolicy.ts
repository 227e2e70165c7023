import type {
  IPBlock,
  NetworkPolicyEgressRule,
  NetworkPolicyIngressRule,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicy,
} from '../../../kinds/networking/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { isAbsent, isDeepEqual } from '../../../core/model/record.js';
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
import { toViolations, validateEach, validateOneOf, validateRequired } from '../shared/violations.js';

const COLUMNS: readonly Column<NetworkPolicy>[] = [
  NAME,
  column('Pod-Selector', object => selectorText(object.spec.podSelector)),
  AGE,
];

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];

/** Checks the last port of a range. */
function validateEndPort(port: NetworkPolicyPort, field: string): Violation[] {
  const last = port.endPort;
  if (last === undefined) return [];
  const first = port.port;
  if (isAbsent(first)) return [invalid(field, last, 'may not be specified when `port` is not specified')];
  if (typeof first !== 'number') return [invalid(field, last, 'may not be specified when `port` is non-numeric')];
  return [
    ...(last < first ? [invalid(field, first, 'must be greater than or equal to `port`')] : []),
    ...toViolations(field, last, portNumberComplaints(last)),
  ];
}

function validatePort(port: NetworkPolicyPort, field: string): Violation[] {
  const first = isAbsent(port.port) ? [] : validatePortOrName(port.port, `${field}.port`);
  const last = validateEndPort(port, `${field}.endPort`);
  return [
    ...(isAbsent(port.protocol) ? [] : validateOneOf(port, 'protocol', `${field}.protocol`, PROTOCOLS)),
    ...(typeof port.port === 'string' ? [...last, ...first] : [...first, ...last]),
  ];
}

function validateIpBlock(block: IPBlock, field: string): Violation[] {
  const { cidr } = block;
  const found = validateRequired(block, 'cidr', `${field}.cidr`, cidrComplaints);
  if (found.length > 0) return found;
  return validateEach(block, 'except', `${field}.except`, (except, at) => {
    const malformed = toViolations(at, except, cidrComplaints(except));
    if (malformed.length > 0 || isStrictSubset(except, cidr)) return malformed;
    return [invalid(at, except, 'must be a strict subset of `cidr`')];
  });
}

function validatePeer(peer: NetworkPolicyPeer, field: string): Violation[] {
  const [pods, namespaces, block] = [peer.podSelector, peer.namespaceSelector, peer.ipBlock];
  const found = [
    ...validateSelector(pods, `${field}.podSelector`),
    ...validateSelector(namespaces, `${field}.namespaceSelector`),
    ...(block ? validateIpBlock(block, `${field}.ipBlock`) : []),
  ];
  if (!pods && !namespaces && !block) found.push(required(field, 'must specify a peer'));
  if (block && (pods || namespaces)) found.push(forbiddenField(field, 'may not specify both ipBlock and another peer'));
  return found;
}

const validateIngress = (rule: NetworkPolicyIngressRule, at: string): Violation[] => [
  ...validateEach(rule, 'ports', `${at}.ports`, validatePort),
  ...validateEach(rule, 'from', `${at}.from`, validatePeer),
];

const validateEgress = (rule: NetworkPolicyEgressRule, at: string): Violation[] => [
  ...validateEach(rule, 'ports', `${at}.ports`, validatePort),
  ...validateEach(rule, 'to', `${at}.to`, validatePeer),
];

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
function validatePolicy(object: NetworkPolicy): Violation[] {
  const spec = object.spec;
  return [
    ...validateSelector(spec.podSelector, 'spec.podSelector'),
    ...validateEach(spec, 'ingress', 'spec.ingress', validateIngress),
    ...validateEach(spec, 'egress', 'spec.egress', validateEgress),
    ...validateTypes(spec.policyTypes ?? []),
  ];
}

/** The members of the spec in which an empty list counts as a change. An empty list of types gets the default types. */
const NOT_DEFAULTED = ['podSelector', 'ingress', 'egress'] as const;

/** NetworkPolicy. The default type is Ingress, and Egress if it has egress rules. */
export const networkPolicy = builtInKind<NetworkPolicy>('networking.orchestrator.io/networkpolicies', () => ({
  revalidatesName: 'first',
  hasGeneration: true,
  changesGeneration: (object, old, emptied) =>
    NOT_DEFAULTED.some(member => emptied.get('spec')?.has(member)) || !isDeepEqual(object.spec, old.spec),
  validateCreate: validatePolicy,
  validateUpdate: validatePolicy,
  applyDefaults: object => {
    const spec = object.spec;
    const egress = spec.egress ?? [];
    for (const rule of [...(spec.ingress ?? []), ...egress])
      for (const port of rule.ports ?? []) if (isAbsent(port.protocol)) port.protocol = 'TCP';
    if (isAbsent(spec.policyTypes) || (Array.isArray(spec.policyTypes) && spec.policyTypes.length === 0)) {
      spec.policyTypes = egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    }
  },
  columns: COLUMNS,
}));
