import { textIn, type TextMember } from '../../shared/values/members.js';
import type { MutatingAdmissionPolicySpec, ParamKind } from '../../../../kinds/admissionregistration/v1alpha1.js';
import type {
  ValidatingAdmissionPolicy,
  AuditAnnotation,
  Validation,
  ValidatingAdmissionPolicySpec,
} from '../../../../kinds/admissionregistration/v1.js';
import type { Type } from '../../../../core/cel/index.js';
import { dns1035Label, dns1123Subdomain, qualifiedName } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { duplicate, invalid, required, Verbatim, type Violation } from '../../../../core/model/refusal.js';
import { engine } from '../../../../core/schema/custom/engine.js';
import type { ExpressionScope } from '../../../../core/schema/expressions/environment.js';
import { variableType } from '../../../../core/schema/expressions/variables.js';
import { validateFailurePolicy, validateMatchResources } from '../../shared/admission/admissionRules.js';
import { type ExpressionChecks, validateMatchConditions } from '../../shared/admission/expressions.js';
import { validateConditions } from '../../shared/conditions.js';
import { findRepeated } from '../../shared/values/repeated.js';
import { toViolations, validateEach, validateOneOf } from '../../shared/violations.js';

/** Violations of the kind of a policy's parameters. */
export function validateParamKind(kind: ParamKind): Violation[] {
  const [apiVersion, name] = [kind.apiVersion ?? '', kind.kind ?? ''];
  const field = 'spec.paramKind.apiVersion';
  const slash = apiVersion.indexOf('/');
  const [group, version] = [apiVersion.slice(0, Math.max(slash, 0)), apiVersion.slice(slash + 1)];
  const found: Violation[] = [];
  if (apiVersion === '') found.push(required(field));
  else if (version.includes('/'))
    found.push(invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  else {
    if (group !== '') found.push(...toViolations(field, group, dns1123Subdomain(group)));
    found.push(...toViolations(field, version, dns1035Label(version)));
  }
  if (name === '') return [...found, required('spec.paramKind.kind')];
  const wrong = dns1035Label(name.toLowerCase());
  return wrong.length === 0
    ? found
    : [
        ...found,
        invalid('spec.paramKind.kind', name, `may have mixed case, but should otherwise match: ${wrong.join(', ')}`),
      ];
}

/** Violations of the match constraints of a policy. */
export function validateConstraints(spec: ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec): Violation[] {
  const match = spec.matchConstraints;
  if (!match) return [required('spec.matchConstraints')];
  return [
    ...validateMatchResources(match, 'spec.matchConstraints'),
    ...((match.resourceRules ?? []).length === 0 ? [required('spec.matchConstraints.resourceRules')] : []),
  ];
}

/** Checks the expression in `member`, which must be set. Its value may have any of `types`, or any type if empty. */
function validateExpression<T extends object>(
  owner: T,
  member: TextMember<T>,
  field: string,
  types: readonly Type[],
  scope: ExpressionScope,
  checks: ExpressionChecks,
): Violation[] {
  const text = textIn(owner, member);
  return text.trim() === ''
    ? [required(`${field}.${member}`, `${member} is not specified`)]
    : checks.validate(text, types, `${field}.${member}`, scope);
}

const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;

const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'as break const continue else false for function if import in let loop namespace null package return true var ' +
    'void while'
  ).split(' '),
);

function validateVariableName(name: string, field: string): Violation[] {
  if (name.trim() === '') return [required(field, 'name is not specified')];
  return IDENTIFIER.test(name) && !KEYWORDS.has(name)
    ? []
    : [invalid(field, name, 'name is not a valid CEL identifier')];
}

/** Checks the variables, each of which may use those before it, and returns their types by name. */
export function validateVariables(
  spec: ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec,
  scope: ExpressionScope,
  checks: ExpressionChecks,
): { violations: Violation[]; types: ReadonlyMap<string, Type> | undefined } {
  const types = new Map<string, Type>();
  const violations = validateEach(spec, 'variables', 'spec.variables', (variable, field) => {
    const [name, text] = [variable.name, variable.expression];
    const found = validateVariableName(name, `${field}.name`);
    if (text.trim() === '') return [...found, required(`${field}.expression`, 'expression is not specified')];
    const inner = { ...scope, variables: new Map(types) };
    const compiled = checks.compile(text, inner);
    const { cel } = engine();
    types.set(name, variableType(cel, compiled.type ?? cel.DYN));
    return [...found, ...checks.validate(text, [], `${field}.expression`, inner, compiled)];
  });
  return { violations, types: (spec.variables ?? []).length > 0 ? types : undefined };
}

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

function validateMessage(validation: Validation, field: string): Violation[] {
  const message = validation.message ?? '';
  if (message === '') return [];
  if (message.trim() === '') return [invalid(field, message, 'message must be non-empty if specified')];
  return /[\r\n]/.test(message.trim()) ? [invalid(field, message, 'message must not contain line breaks')] : [];
}

function validateValidation(
  validation: Validation,
  field: string,
  scope: ExpressionScope,
  checks: ExpressionChecks,
): Violation[] {
  const { BOOL, STRING } = engine().cel;
  const text = validation.messageExpression ?? '';
  const at = `${field}.messageExpression`;
  const found = validateExpression(validation, 'expression', field, [BOOL], scope, checks);
  if (text !== '' && text.trim() === '') found.push(invalid(at, text, 'must be non-empty if specified'));
  else if (text !== '') found.push(...checks.validate(text, [STRING], at, { ...scope, authorizer: false }));
  return [
    ...found,
    ...validateMessage(validation, `${field}.message`),
    ...(isAbsent(validation.reason) ? [] : validateOneOf(validation, 'reason', `${field}.reason`, REASONS)),
  ];
}

/** The largest number of audit annotations of a policy. */
const MOST_ANNOTATIONS = 20;

/** The longest expression for the value of an audit annotation, in bytes. */
const LONGEST_VALUE_EXPRESSION = 5 * 1024;

function validateValueExpression(
  annotation: AuditAnnotation,
  field: string,
  scope: ExpressionScope,
  checks: ExpressionChecks,
): Violation[] {
  const { STRING, NULL } = engine().cel;
  return Buffer.byteLength(annotation.valueExpression.trim()) > LONGEST_VALUE_EXPRESSION
    ? [required(`${field}.valueExpression`, `must not exceed ${LONGEST_VALUE_EXPRESSION} bytes in length`)]
    : validateExpression(annotation, 'valueExpression', field, [STRING, NULL], scope, checks);
}

function validateAnnotations(
  object: ValidatingAdmissionPolicy,
  scope: ExpressionScope,
  checks: ExpressionChecks,
): Violation[] {
  const annotations = object.spec.auditAnnotations ?? [];
  const keys = annotations.map(annotation => annotation.key);
  const owner = object.metadata.name ?? '';
  const shown = new Verbatim('[]admissionregistration.AuditAnnotation{}');
  const repeated = findRepeated(keys);
  const most = `must not have more than ${MOST_ANNOTATIONS} auditAnnotations`;
  return [
    ...(annotations.length > MOST_ANNOTATIONS ? [invalid('spec.auditAnnotations', shown, most)] : []),
    ...annotations.flatMap((annotation, i) => {
      const field = `spec.auditAnnotations[${i}]`;
      const key = keys[i]!;
      const full = `${owner}/${key}`;
      return [
        ...(owner === ''
          ? [invalid(`${field}.key`, key, 'requires metadata.name be non-empty')]
          : toViolations(`${field}.key`, full, qualifiedName(full))),
        ...validateValueExpression(annotation, field, scope, checks),
        ...(repeated[i] ? [duplicate(`${field}.key`, key)] : []),
      ];
    }),
  ];
}

const AT_LEAST_ONE = 'validations or auditAnnotations must contain at least one item';

/** Violations of a ValidatingAdmissionPolicy. */
export function validatePolicy(object: ValidatingAdmissionPolicy, checks: ExpressionChecks): Violation[] {
  const spec = object.spec;
  const paramKind = spec.paramKind;
  const scope = { params: paramKind !== undefined, authorizer: true };
  const { violations, types } = validateVariables(spec, scope, checks);
  const found = [
    ...validateFailurePolicy(spec, 'spec'),
    ...(paramKind ? validateParamKind(paramKind) : []),
    ...validateConstraints(spec),
    ...validateMatchConditions(spec, 'spec.matchConditions', scope, checks),
    ...violations,
  ];
  if ((spec.validations ?? []).length === 0 && (spec.auditAnnotations ?? []).length === 0)
    return [...found, required('spec.validations', AT_LEAST_ONE), required('spec.auditAnnotations', AT_LEAST_ONE)];
  const inner = { ...scope, variables: types };
  return [
    ...found,
    ...validateEach(spec, 'validations', 'spec.validations', (validation, field) =>
      validateValidation(validation, field, inner, checks),
    ),
    ...validateAnnotations(object, inner, checks),
  ];
}

/** Violations of a write to the status of a policy: results of type checks, and conditions. */
export function validatePolicyStatus({ status }: ValidatingAdmissionPolicy): Violation[] {
  const warnings = (status?.typeChecking?.expressionWarnings ?? []).flatMap(({ warning, fieldRef }, i) => {
    const field = `status.typeChecking.expressionWarnings[${i}]`;
    return [
      ...(warning === '' ? [required(`${field}.warning`)] : []),
      ...(fieldRef === '' ? [required(`${field}.fieldRef`)] : []),
    ];
  });
  return [...warnings, ...validateConditions(status?.conditions ?? [], 'status.conditions')];
}
