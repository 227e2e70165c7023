import {
  isAbsent,
  isRecord,
  type Naming,
  nameOf,
  stringAt,
  type Target,
  type UnknownRecord,
  type User,
} from '../../../core/api/index.js';
import type { Requirement, Selector } from '../../../core/model/selectors/selector.js';

const KIND = 'SubjectAccessReview';

interface Term {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** The operators of selectors in reviews. Comparisons of numbers have none. */
const OPERATORS: Readonly<Record<Requirement['operator'], string | undefined>> = {
  '=': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
  gt: undefined,
  lt: undefined,
};

function termsOf(selector: Selector | undefined): readonly Term[] {
  return (selector ?? []).flatMap(({ key, operator, values }) => {
    const known = OPERATORS[operator];
    // Upstream leaves them out as well: the question is then about more objects.
    if (known === undefined) return [];
    return { key, operator: known, ...(values.length > 0 ? { values } : {}) };
  });
}

/** An object without the members that are empty. */
const filled = (members: UnknownRecord): UnknownRecord =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== '' && value !== undefined));

const selectorOf = (selector: Selector | undefined): { requirements: readonly Term[] } | undefined => {
  const requirements = termsOf(selector);
  return requirements.length > 0 ? { requirements } : undefined;
};

/** The spec of a review about a request, in the form of v1 and in the naming of the server. */
export interface ReviewSpec {
  readonly resourceAttributes?: UnknownRecord;
  readonly nonResourceAttributes?: UnknownRecord;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly uid?: string;
}

/** The attributes of a request as a review has them (spec, "Request attributes"), in upstream's order. */
export function specOf(user: User, target: Target, naming: Naming, withSelectors: boolean): ReviewSpec {
  const { name, groups, uid } = user;
  const extra = [...user.extra].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...(target.is === 'path'
      ? { nonResourceAttributes: filled({ path: target.path, verb: target.verb }) }
      : {
          resourceAttributes: filled({
            namespace: target.namespace,
            verb: target.verb,
            group: naming.group(target.group),
            version: target.version,
            resource: target.resource,
            subresource: target.subresource,
            name: nameOf(target),
            fieldSelector: withSelectors ? selectorOf(target.fieldSelector) : undefined,
            labelSelector: withSelectors ? selectorOf(target.labelSelector) : undefined,
          }),
        }),
    ...(name ? { user: name } : {}),
    ...(groups.length > 0 ? { groups } : {}),
    ...(extra.length > 0 ? { extra: Object.fromEntries(extra) } : {}),
    ...(uid ? { uid } : {}),
  };
}

/** The body of a review. v1beta1 has the groups as `group`. */
export function bodyOf(spec: ReviewSpec, apiVersion: string): string {
  const members = apiVersion.endsWith('/v1beta1')
    ? Object.fromEntries(Object.entries(spec).map(([key, value]) => [key === 'groups' ? 'group' : key, value]))
    : spec;
  return `${JSON.stringify({
    kind: KIND,
    apiVersion,
    metadata: { creationTimestamp: null },
    spec: members,
    status: { allowed: false },
  })}\n`;
}

/** The answer of a webhook. */
export interface Answered {
  readonly is: 'allow' | 'deny' | 'noOpinion';
  readonly reason: string;
}

function flagAt(status: UnknownRecord, name: string): boolean {
  const value = status[name];
  if (isAbsent(value)) return false;
  if (typeof value === 'boolean') return value;
  throw new Error(`the answer of the webhook is malformed: status.${name} must be true or false`);
}

/**
 * Reads the answer of a webhook; its spec is ignored. A request that is both allowed and denied is denied. Throws an
 * Error with the reason if the answer is of another version than the review, or malformed.
 */
export function readReview(answer: UnknownRecord, apiVersion: string): Answered {
  const given = stringAt(answer, 'apiVersion') || apiVersion;
  const kind = stringAt(answer, 'kind') || KIND;
  if (given !== apiVersion || kind !== KIND)
    throw new Error(`the webhook has answered with ${kind} of ${given}, and not of ${apiVersion}`);
  const status = answer['status'] ?? {};
  if (!isRecord(status)) throw new Error('the answer of the webhook is malformed: status must be an object');
  const reason = status['reason'] ?? '';
  if (typeof reason !== 'string')
    throw new Error('the answer of the webhook is malformed: status.reason must be a string');
  const isAllowed = flagAt(status, 'allowed');
  if (flagAt(status, 'denied')) return { is: 'deny', reason };
  return { is: isAllowed ? 'allow' : 'noOpinion', reason };
}
