import type {
  LocalSubjectAccessReview,
  SubjectAccessReview,
  NonResourceAttributes,
  ResourceAttributes,
} from '../../../../kinds/authorization/v1.js';
import type { ApiObject } from '../../../../core/model/object.js';
import { invalid, invalidObject, required, Verbatim, type Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import type { AccessReview } from './answer.js';
import { validateOperands, validateTerm } from '../labels.js';

const FIELD = 'spec.resourceAttributes';

/** The attributes of a path as messages show them. */
export const pathText = (attributes: NonResourceAttributes): Verbatim => {
  const [path, verb] = (['path', 'verb'] as const).map(member => JSON.stringify(attributes[member] ?? ''));
  return new Verbatim(`authorization.NonResourceAttributes{Path:${path}, Verb:${verb}}`);
};

/**
 * Throws 422 for faults of the fields of all access reviews, for the `subject` of those that have one, and for
 * `others`. The refusal names the `group`, in neutral names, and no kind.
 */
export function checkReview(
  review: AccessReview,
  naming: Naming,
  subject: readonly Violation[],
  others: readonly Violation[],
  group = 'authorization.orchestrator.io',
): readonly Violation[] {
  const resource = review.spec.resourceAttributes;
  const violations = [...attributeViolations(review), ...subject, ...selectorViolations(resource), ...others];
  if (violations.length === 0) return violations;
  throw invalidObject(naming.group(group), '', '', violations);
}

/** A review is about a resource or a path, and not about both. */
function attributeViolations(review: AccessReview): Violation[] {
  const resource = review.spec.resourceAttributes;
  const path = review.spec.nonResourceAttributes;
  const found: Violation[] = [];
  if (resource && path)
    found.push(
      invalid(
        'spec.nonResourceAttributes',
        pathText(path),
        'cannot be specified in combination with resourceAttributes',
      ),
    );
  if (!resource && !path)
    found.push(
      invalid(FIELD, undefined, 'exactly one of nonResourceAttributes or resourceAttributes must be specified'),
    );
  return found;
}

function selectorViolations(resource: ResourceAttributes | undefined): Violation[] {
  return [
    ...validateSelector(resource?.fieldSelector, 'fieldSelector', (term, field) => [
      ...(term.key === '' ? [required(`${field}.key`, 'must be specified')] : []),
      ...validateOperands(term, field),
    ]),
    ...validateSelector(resource?.labelSelector, 'labelSelector', validateTerm),
  ];
}

/** Unknown operators are accepted: clients may be newer than the server. */
function validateSelector<Term>(
  selector: { readonly rawSelector?: string; readonly requirements?: readonly Term[] } | undefined,
  member: string,
  validate: (term: Term, field: string) => Violation[],
): Violation[] {
  if (!selector) return [];
  const field = `${FIELD}.${member}`;
  const raw = selector.rawSelector ?? '';
  const terms = selector.requirements ?? [];
  const found: Violation[] = [];
  if (raw !== '' && terms.length > 0)
    found.push(invalid(`${field}.rawSelector`, raw, 'may not specified at the same time as requirements'));
  if (raw === '' && terms.length === 0)
    found.push(
      required(`${field}.requirements`, `when ${field} is specified, requirements or rawSelector is required`),
    );
  return [...found, ...terms.flatMap((term, i) => validate(term, `${field}.requirements[${i}]`))];
}

/** A review of another user has a user name or groups. */
export function subjectViolations(review: LocalSubjectAccessReview | SubjectAccessReview): Violation[] {
  const user = review.spec.user ?? '';
  if (user !== '' || (review.spec.groups ?? []).length > 0) return [];
  return [invalid('spec.user', user, 'at least one of user or group must be specified')];
}

/** Reviews are not stored: they may have no metadata except the `allowed` members and those that the server adds. */
export function metadataViolations({ metadata }: ApiObject, allowed: readonly string[], why: string): Violation[] {
  const ignored = ['managedFields', ...allowed];
  const given = Object.entries(metadata).filter(([member]) => !ignored.includes(member));
  return given.length === 0 ? [] : [invalid('metadata', Object.fromEntries(given), why)];
}
