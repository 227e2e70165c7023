import { toNewerMetrics } from '../../../../plugins/kinds/autoscaling/horizontalPodAutoscaler/metricForms.js';
import {
  DEFAULT_SHARES,
  keepsZeroAnnotation,
} from '../../../../plugins/kinds/flowcontrol/priorityLevelConfiguration/shares.js';
import { isRecord, recordAt, recordsAt, stringAt, type UnknownRecord } from '../../../model/record.js';
import { dropMember, ensure, fill, type Rewrite, rename, Unconvertible } from './rewrite.js';

/** HorizontalPodAutoscaler v2beta1, whose metrics have the form of the annotations of v1. */
export const autoscaler: Rewrite = object => {
  for (const [member, list, side] of [
    ['spec', 'metrics', 'target'],
    ['status', 'currentMetrics', 'current'],
  ] as const) {
    const part = recordAt(object, member);
    if (part && Array.isArray(part[list])) part[list] = toNewerMetrics(recordsAt(part, list) as never, side);
  }
};

/** PodDisruptionBudget: an empty selector selected nothing in v1beta1, and selects everything in v1. */
export const disruptionBudget: Rewrite = object => {
  const selector = recordAt(object, 'spec', 'selector');
  if (selector && Object.keys(selector).length === 0) dropMember(object, 'spec', 'selector');
};

/** SubjectAccessReview and LocalSubjectAccessReview. */
export const accessReview: Rewrite = object => rename(ensure(object, 'spec'), 'group', 'groups');

/** CertificateSigningRequest: signer and usages must be given. */
export const signingRequest: Rewrite = object => {
  const spec = ensure(object, 'spec');
  if (stringAt(spec, 'signerName') === '')
    throw new Unconvertible('spec.signerName', 'is required in v1: name the signer of the certificate');
  fill(spec, 'usages', ['digital signature', 'key encipherment']);
};

/** PriorityLevelConfiguration: a share of 0 meant the default, except with an annotation. */
export const priorityLevel: Rewrite = (object, naming) => {
  const limited = recordAt(object, 'spec', 'limited');
  if (!limited) return;
  rename(limited, 'assuredConcurrencyShares', 'nominalConcurrencyShares');
  const annotation = keepsZeroAnnotation(naming);
  const keepsZero = recordAt(object, 'metadata', 'annotations')?.[annotation] !== undefined;
  if (limited['nominalConcurrencyShares'] === 0 && !keepsZero) limited['nominalConcurrencyShares'] = DEFAULT_SHARES;
  dropMember(object, 'metadata', 'annotations', annotation);
};

/** Events: the members of the older form, which new objects must not have, and those that replace them. */
const EVENT_MEMBERS: readonly (readonly [from: readonly string[], to: readonly string[]])[] = [
  [['deprecatedFirstTimestamp'], ['eventTime']],
  [['deprecatedLastTimestamp'], ['series', 'lastObservedTime']],
  [['deprecatedCount'], ['series', 'count']],
  [['deprecatedSource', 'component'], ['reportingController']],
  [['deprecatedSource', 'host'], ['reportingInstance']],
];

/** A time with six decimals, as in the members of the newer form. */
const microTime = (value: unknown): unknown =>
  typeof value === 'string' ? value.replace(/^([0-9T:-]{19})Z$/, '$1.000000Z') : value;

function takeMember(object: UnknownRecord, path: readonly string[]): unknown {
  const [member = '', inner] = path;
  const value = inner === undefined ? object[member] : recordAt(object, member)?.[inner];
  dropMember(object, ...path);
  return value;
}

/** Event of the group events. */
export const event: Rewrite = object => {
  const isSeries = isRecord(object['series']) || Number(object['deprecatedCount'] ?? 0) > 1;
  for (const [from, [to = '', inner]] of EVENT_MEMBERS) {
    const value = takeMember(object, from);
    if (value === undefined || value === null || (inner !== undefined && !isSeries)) continue;
    if (inner === undefined) fill(object, to, to === 'eventTime' ? microTime(value) : value);
    else fill(ensure(object, to), inner, microTime(value));
  }
  dropMember(object, 'series', 'state');
};
