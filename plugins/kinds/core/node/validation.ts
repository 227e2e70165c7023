import type { Node, NodeAddress, NodeSpec, Taint } from '../../../../kinds/v1.js';
import { isIPv4 } from 'node:net';
import { labelValue, qualifiedName } from '../../../../core/model/names.js';
import { setDefault } from '../../../../core/model/record.js';
import { goStrings } from '../../../../core/model/text/goText.js';
import {
  duplicate,
  forbiddenField,
  invalid,
  required,
  Verbatim,
  type Violation,
} from '../../../../core/model/refusal.js';
import { cidrComplaints } from '../../shared/ipAddresses.js';
import { validateAmount } from '../../shared/values/resourceNames.js';
import { findRepeated } from '../../shared/values/repeated.js';
import { toViolations, validateIfSet, validateOneOf } from '../../shared/violations.js';

/** `podCIDR` is the first one of `podCIDRs`. If they differ, an older client has set the single field. */
export function alignPodCidrs(spec: NodeSpec): void {
  const [single, list] = [spec.podCIDR ?? '', spec.podCIDRs ?? []];
  if (single !== '' && list[0] !== single) spec.podCIDRs = [single];
  else if (list.length > 0) setDefault(spec, 'podCIDR', list[0]);
}

/** A node has at most one range of addresses of each family. */
function validatePodCidrs(spec: NodeSpec): Violation[] {
  const [ranges, field] = [spec.podCIDRs ?? [], 'spec.podCIDRs'];
  const found = ranges.flatMap((range, i) => toViolations(`${field}[${i}]`, range, cidrComplaints(range)));
  if (ranges.length < 2) return found;
  const wrong = ranges.findIndex(range => cidrComplaints(range).length > 0);
  if (wrong >= 0) {
    const why = `invalid CIDR[${wrong}]: <nil> (invalid CIDR address: ${ranges[wrong]})`;
    const message = `Internal error: invalid PodCIDRs. failed to check with dual stack with error:${why}`;
    found.push({ reason: 'InternalError', field, message });
  }
  const families = new Set(ranges.map(range => isIPv4(range.split('/')[0]!)));
  if (wrong >= 0 || ranges.length > 2 || families.size < 2)
    found.push(invalid(field, goStrings(ranges), 'may specify no more than one CIDR for each IP family'));
  const repeated = findRepeated(ranges);
  for (const [i, range] of ranges.entries()) if (repeated[i]) found.push(duplicate(`${field}[${i}]`, range));
  return found;
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** A taint as Go prints it in messages. */
const goTaint = (taint: Taint): Verbatim => {
  const [key, value, effect] = (['key', 'value', 'effect'] as const).map(member => JSON.stringify(taint[member] ?? ''));
  return new Verbatim(`core.Taint{Key:${key}, Value:${value}, Effect:${effect}, TimeAdded:<nil>}`);
};

/** Violations of taints, which are unique by key and effect. Upstream puts them into the metadata in messages. */
function validateTaints(spec: NodeSpec): Violation[] {
  const seen = new Set<string>();
  return (spec.taints ?? []).flatMap((taint, i) => {
    const field = `metadata.taints[${i}]`;
    const [key, effect] = [taint.key, taint.effect];
    const pair = JSON.stringify([key, effect]);
    const known = seen.has(pair);
    seen.add(pair);
    const twice = duplicate(field, goTaint(taint));
    return [
      ...toViolations(`${field}.key`, key, qualifiedName(key)),
      ...validateIfSet(taint, 'value', `${field}.value`, labelValue),
      ...(effect === '' ? [required(`${field}.effect`)] : validateOneOf(taint, 'effect', `${field}.effect`, EFFECTS)),
      ...(known ? [{ ...twice, message: `${twice.message}: taints must be unique by key and effect pair` }] : []),
    ];
  });
}

/** Checks the amounts of the resources of a node. */
const validateResources = (object: Node): Violation[] =>
  (['capacity', 'allocatable'] as const).flatMap(member =>
    Object.entries(object.status?.[member] ?? {}).flatMap(([name, amount]) =>
      validateAmount(name, amount, `status.${member}.${name}`),
    ),
  );

/** Violations of a node. */
export const validateNode = (object: Node): Violation[] => [
  ...validateTaints(object.spec),
  ...validateResources(object),
  ...validatePodCidrs(object.spec),
];

/** An address as Go prints it in messages. */
const goAddress = (address: NodeAddress): Verbatim => {
  const [type, text] = (['type', 'address'] as const).map(member => JSON.stringify(address[member]));
  return new Verbatim(`core.NodeAddress{Type:${type}, Address:${text}}`);
};

/** Violations of the status, including repeated addresses. */
export function validateNodeStatus(object: Node): Violation[] {
  const seen = new Set<string>();
  return [
    ...validateResources(object),
    ...(object.status?.addresses ?? []).flatMap((address, i) => {
      const key = `${address.type} ${address.address}`;
      const twice = seen.has(key);
      seen.add(key);
      return twice ? [duplicate(`status.addresses[${i}]`, goAddress(address))] : [];
    }),
  ];
}

/** Violations of an update: fields that a node agent or the network has set cannot change. */
export function validateNodeUpdate(object: Node, old: Node): Violation[] {
  const [now, before] = [object.spec, old.spec];
  const [ranges, given] = [now.podCIDRs ?? [], before.podCIDRs ?? []];
  const found = [...validateNode(object), ...validateNodeStatus(object)];
  const once = (what: string): string => `node updates may not change ${what} except from "" to valid`;
  if (given.length > 0 && JSON.stringify(ranges) !== JSON.stringify(given))
    found.push(forbiddenField('spec.podCIDRs', once('podCIDR')));
  const provider = before.providerID ?? '';
  if (provider !== '' && (now.providerID ?? '') !== provider)
    found.push(forbiddenField('spec.providerID', once('providerID')));
  if ((now.externalID ?? '') !== (before.externalID ?? ''))
    found.push(forbiddenField('spec.externalID', 'may not be updated'));
  return found;
}
