import type { NewerSource, SourceName } from './metricForms.js';
import type { MetricTarget, MetricSpec, CrossVersionObjectReference } from '../../../../kinds/autoscaling/v2.js';
import { dns1123Label, pathSegment, qualifiedName } from '../../../../core/model/names.js';
import { quantityOf } from '../../../../core/model/quantity.js';
import { isAbsent } from '../../../../core/model/record.js';
import {
  forbiddenField,
  invalid,
  notSupported,
  required,
  Verbatim,
  type Violation,
} from '../../../../core/model/refusal.js';
import { validateResourceName } from '../../shared/podSpec/resources.js';
import { goQuantity, toViolations, validateRequired } from '../../shared/violations.js';

const validateName = (owner: { readonly name?: string } | undefined, what: string, field: string): Violation[] => {
  const name = owner?.name ?? '';
  return name === ''
    ? [required(`${field}.name`, `must specify a ${what} name`)]
    : what === 'metric'
      ? toViolations(`${field}.name`, name, pathSegment(name))
      : [];
};

/** Checks a reference to an object of a kind that can have any version. */
export const validateTarget = (reference: CrossVersionObjectReference | undefined, field: string): Violation[] => [
  ...validateRequired(reference, 'kind', `${field}.kind`, pathSegment),
  ...validateRequired(reference, 'name', `${field}.name`, pathSegment),
];

const TARGET_TYPES = ['Utilization', 'Value', 'AverageValue'];

const validatePositive = (target: MetricTarget, member: 'value' | 'averageValue', field: string): Violation[] =>
  isAbsent(target[member]) || quantityOf(target[member]).nano > 0n
    ? []
    : [invalid(`${field}.${member}`, goQuantity(target[member]), 'must be positive')];

function validateMetricTarget(target: MetricTarget, field: string): Violation[] {
  const { type, averageUtilization: utilization } = target;
  return [
    ...(type === '' ? [required(`${field}.type`, 'must specify a metric target type')] : []),
    ...(TARGET_TYPES.includes(type)
      ? []
      : [invalid(`${field}.type`, type, 'must be either Utilization, Value, or AverageValue')]),
    ...validatePositive(target, 'value', field),
    ...validatePositive(target, 'averageValue', field),
    ...(utilization !== undefined && utilization < 1
      ? [invalid(`${field}.averageUtilization`, utilization, 'must be greater than 0')]
      : []),
  ];
}

const NO_TARGET: MetricTarget = { type: '' };

/** The target of a source, valid or not. */
const targetOf = (source: NewerSource): MetricTarget => source.target ?? NO_TARGET;

/** Checks that a target is either a value or a share of the requests of the pods. */
function validateResourceTarget(target: MetricTarget, field: string): Violation[] {
  const [value, utilization] = [target.averageValue, target.averageUtilization];
  if (isAbsent(value) && isAbsent(utilization))
    return [required(`${field}.averageUtilization`, 'must set either a target raw value or a target utilization')];
  return isAbsent(value) || isAbsent(utilization)
    ? []
    : [forbiddenField(`${field}.averageValue`, 'may not set both a target raw value and a target utilization')];
}

const isUnset = (target: MetricTarget, ...members: (keyof MetricTarget)[]): boolean =>
  members.every(member => isAbsent(target[member]));

type SourceCheck = (source: NewerSource, field: string) => Violation[];

const validateObjectSource: SourceCheck = (source, field) => [
  ...validateTarget(source.describedObject, `${field}.describedObject`),
  ...validateName(source.metric, 'metric', `${field}.metric`),
  ...validateMetricTarget(targetOf(source), `${field}.target`),
  ...(isUnset(targetOf(source), 'value', 'averageValue')
    ? [required(`${field}.target.averageValue`, 'must set either a target value or averageValue')]
    : []),
];

const validateExternalSource: SourceCheck = (source, field) => {
  const target = targetOf(source);
  const both = !isUnset(target, 'value') && !isUnset(target, 'averageValue');
  return [
    ...validateName(source.metric, 'metric', `${field}.metric`),
    ...validateMetricTarget(target, `${field}.target`),
    ...(isUnset(target, 'value', 'averageValue')
      ? [required(`${field}.target.averageValue`, 'must set either a target value for metric or a per-pod target')]
      : []),
    ...(both
      ? [forbiddenField(`${field}.target.value`, 'may not set both a target value for metric and a per-pod target')]
      : []),
  ];
};

const validatePodsSource: SourceCheck = (source, field) => [
  ...validateName(source.metric, 'metric', `${field}.metric`),
  ...validateMetricTarget(targetOf(source), `${field}.target`),
  ...(isUnset(targetOf(source), 'averageValue')
    ? [required(`${field}.target.averageValue`, 'must specify a positive target averageValue')]
    : []),
];

const validateResourceSource: SourceCheck = (source, field) => [
  ...validateName(source, 'resource', field),
  ...validateMetricTarget(targetOf(source), `${field}.target`),
  ...validateResourceTarget(targetOf(source), `${field}.target`),
];

/** Checks the name of a resource of containers. A malformed one is also reported for not being such a resource. */
function validateContainerResource(name: string, field: string): Violation[] {
  const malformed = toViolations(field, name, qualifiedName(name));
  if (malformed.length === 0) return validateResourceName(name, field);
  const why = name.includes('/')
    ? "doesn't follow extended resource name standard"
    : 'must be a standard resource for containers';
  return [...malformed, invalid(field, new Verbatim(name), why)];
}

const validateContainerSource: SourceCheck = (source, field) => {
  const [name, container] = [source.name ?? '', source.container ?? ''];
  return [
    ...validateName(source, 'resource', field),
    ...(name === '' ? [] : validateContainerResource(name, `${field}.name`)),
    ...(container === ''
      ? [required(`${field}.container`, 'must specify a container')]
      : toViolations(`${field}.container`, container, dns1123Label(container))),
    ...validateMetricTarget(targetOf(source), `${field}.target`),
    ...validateResourceTarget(targetOf(source), `${field}.target`),
  ];
};

/** The members with sources, with the type of metric and the check of each. Only the first source is checked. */
const SOURCES: readonly (readonly [member: SourceName, type: string, check: SourceCheck])[] = [
  ['object', 'Object', validateObjectSource],
  ['external', 'External', validateExternalSource],
  ['pods', 'Pods', validatePodsSource],
  ['resource', 'Resource', validateResourceSource],
  ['containerResource', 'ContainerResource', validateContainerSource],
];

/** Violations of a metric. */
export function validateMetric(metric: MetricSpec, field: string): Violation[] {
  const type = metric.type;
  const expected = SOURCES.find(([, name]) => name === type);
  const found: Violation[] = type === '' ? [required(`${field}.type`, 'must specify a metric source type')] : [];
  const unknown = notSupported(`${field}.type`, type, SOURCES.map(([, name]) => name).sort());
  if (!expected) found.push(unknown);
  const present = SOURCES.filter(([member]) => !isAbsent(metric[member]));
  if (present[0]) {
    const [member, , check] = present[0];
    found.push(...check(metric[member] ?? {}, `${field}.${member}`));
  }
  if (!expected) found.push(unknown);
  else if (!present.includes(expected))
    found.push(required(`${field}.${expected[0]}`, 'must populate information for the given metric source'));
  if (present.length > 1)
    for (const [member] of present.filter(source => source !== expected))
      found.push(forbiddenField(`${field}.${member}`, 'must populate the given metric source only'));
  return found;
}
