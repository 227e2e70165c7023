import { isIP } from 'node:net';
import type { ApiObject } from '../../../core/model/object.js';
import { dns1123Subdomain, patternText, qualifiedName } from '../../../core/model/names.js';
import { compareQuantities, isInteger, quantityOf, ZERO_QUANTITY } from '../../../core/model/quantity.js';
import {
  duplicate,
  invalid,
  Literal,
  notSupported,
  required,
  tooLong,
  type Violation,
} from '../../../core/model/refusal.js';
import { absent, at, entries, list, num, type Rec, text } from '../record.js';
import { complaints, ifSet, ipText, notNegative, oneOf } from './checks.js';

const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const REASON_TEXT =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
const EXAMPLES = ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'];
const REASON_BYTES = 1024;
const MESSAGE_BYTES = 32 * 1024;

function conditionViolations(condition: Rec, field: string): Violation[] {
  const [type, reason] = [text(condition, 'type'), text(condition, 'reason')];
  const found = [
    ...complaints(`${field}.type`, type, qualifiedName(type)),
    ...oneOf(condition, 'status', `${field}.status`, ['False', 'True', 'Unknown']),
  ];
  const generation = num(condition, 'observedGeneration') ?? 0;
  if (generation < 0)
    found.push(invalid(`${field}.observedGeneration`, generation, 'must be greater than or equal to zero'));
  if (absent(condition.lastTransitionTime)) found.push(required(`${field}.lastTransitionTime`, 'must be set'));
  if (reason === '') found.push(required(`${field}.reason`, 'must be set'));
  else if (!new RegExp(`^${REASON}$`).test(reason))
    found.push(invalid(`${field}.reason`, reason, patternText(REASON_TEXT, REASON, ...EXAMPLES)));
  if (Buffer.byteLength(reason) > REASON_BYTES) found.push(tooLong(`${field}.reason`, REASON_BYTES));
  if (Buffer.byteLength(text(condition, 'message')) > MESSAGE_BYTES)
    found.push(tooLong(`${field}.message`, MESSAGE_BYTES));
  return found;
}

/** What is wrong with conditions: each type stands once, and each says all that conditions say. */
function conditionsViolations(conditions: readonly Rec[], field: string): Violation[] {
  const seen = new Set<string>();
  return conditions.flatMap((condition, i) => {
    const type = text(condition, 'type');
    const twice = seen.has(type) ? [duplicate(`${field}[${i}].type`, type)] : [];
    seen.add(type);
    return [...twice, ...conditionViolations(condition, `${field}[${i}]`)];
  });
}

/** What is wrong with the status of a PodDisruptionBudget. */
export function budgetStatusViolations(object: ApiObject): Violation[] {
  const status = at(object, 'status');
  return [
    ...conditionsViolations(list(status, 'conditions'), 'status.conditions'),
    ...['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'].flatMap(member =>
      notNegative(status, member, `status.${member}`),
    ),
  ];
}

/** What is wrong with the status of a HorizontalPodAutoscaler. */
export const autoscalerStatusViolations = (object: ApiObject): Violation[] =>
  ['currentReplicas', 'desiredReplicas'].flatMap(member =>
    notNegative(at(object, 'status'), member, `status.${member}`),
  );

/** What is wrong with the status of an Ingress. */
export const ingressStatusViolations = (object: ApiObject): Violation[] =>
  list(at(object, 'status', 'loadBalancer'), 'ingress').flatMap((point, i) => {
    const field = `status.loadBalancer.ingress[${i}]`;
    const name = text(point, 'hostname');
    return [
      ...ifSet(point, 'ip', `${field}.ip`, ipText),
      ...ifSet(point, 'hostname', `${field}.hostname`, dns1123Subdomain),
      ...(isIP(name) === 0 ? [] : [invalid(`${field}.hostname`, name, 'must be a DNS name, not an IP address')]),
    ];
  });

/** Resources of a node that are counted. */
const counted = (name: string): boolean => name === 'pods' || name.includes('/');

function amountViolations(name: string, amount: unknown, field: string): Violation[] {
  const quantity = quantityOf(amount);
  if (compareQuantities(quantity, ZERO_QUANTITY) < 0)
    return [invalid(field, String(amount), 'must be greater than or equal to 0')];
  return counted(name) && !isInteger(quantity)
    ? [invalid(field, new Literal(`resource.Quantity{s:${JSON.stringify(String(amount))}}`), 'must be an integer')]
    : [];
}

/** What is wrong with the status of a Node: it offers nothing negative, and has each address once. */
export function nodeStatusViolations(object: ApiObject): Violation[] {
  const status = at(object, 'status');
  const seen = new Set<string>();
  return [
    ...['capacity', 'allocatable'].flatMap(member =>
      entries(status, member).flatMap(([name, amount]) => amountViolations(name, amount, `status.${member}.${name}`)),
    ),
    ...list(status, 'addresses').flatMap((address, i) => {
      const key = `${text(address, 'type')} ${text(address, 'address')}`;
      const twice = seen.has(key);
      seen.add(key);
      return twice ? [duplicate(`status.addresses[${i}]`, address)] : [];
    }),
  ];
}

/** What is wrong with the status of a flow schema or a priority level. */
export function flowStatusViolations(object: ApiObject): Violation[] {
  const seen = new Set<string>();
  return list(at(object, 'status'), 'conditions').flatMap((condition, i) => {
    const [field, type] = [`status.conditions[${i}].type`, text(condition, 'type')];
    const found = seen.has(type) ? [duplicate(field, type)] : [];
    seen.add(type);
    return type === '' ? [...found, required(field, 'must not be empty')] : found;
  });
}

/** What is wrong with the status of an APIService. */
export const apiServiceStatusViolations = (object: ApiObject): Violation[] =>
  list(at(object, 'status'), 'conditions').flatMap((condition, i) =>
    oneOf(condition, 'status', `status.conditions[${i}].status`, ['True', 'False', 'Unknown']),
  );

const RESIZES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

/** Resources of a claim: storage, and such as others define, with a domain. */
function claimResourceViolations(field: string, name: string): Violation[] {
  const found = complaints(field, name, qualifiedName(name));
  return found.length > 0 || name === 'storage' || name.includes('/')
    ? found
    : [notSupported(field, name, ['storage'])];
}

/** What is wrong with the status of a PersistentVolumeClaim. */
export function claimStatusViolations(object: ApiObject): Violation[] {
  const status = at(object, 'status');
  const amounts = (member: string): Violation[] =>
    entries(status, member)
      .filter(([, amount]) => compareQuantities(quantityOf(amount), ZERO_QUANTITY) < 0)
      .map(([name, amount]) =>
        invalid(
          `status.${member}[${name}]`,
          Number((quantityOf(amount).nano - 999_999_999n) / 1_000_000_000n),
          'must be a valid resource quantity',
        ),
      );
  return [
    ...amounts('capacity'),
    ...amounts('allocatedResources'),
    ...entries(status, 'allocatedResources').flatMap(([name]) =>
      claimResourceViolations('status.allocatedResources', name),
    ),
    ...entries(status, 'allocatedResourceStatuses').flatMap(([name, value]) => [
      ...claimResourceViolations('status.allocatedResourceStatus', name),
      ...(RESIZES.includes(String(value))
        ? []
        : [notSupported('status.allocatedResourceStatus', new Literal(name), RESIZES)]),
    ]),
  ];
}
