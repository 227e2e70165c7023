import type { MutatingAdmissionPolicyBinding } from '../../../kinds/admissionregistration/v1alpha1.js';
import type { LabelSelector } from '../../../kinds/meta/v1.js';
import type { ValidatingAdmissionPolicyBinding, ParamRef } from '../../../kinds/admissionregistration/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import { dns1123Subdomain, pathSegment } from '../../../core/model/names.js';
import { goStrings } from '../../../core/model/text/goText.js';
import {
  duplicate,
  forbiddenField,
  invalid,
  notSupported,
  required,
  Verbatim,
  type Violation,
} from '../../../core/model/refusal.js';
import { setMatchDefaults, validateMatchResources } from '../shared/admission/admissionRules.js';
import { AGE, type Cell, column, NAME, sortedEntries } from '../shared/columns.js';
import { validateSelector } from '../shared/labels.js';
import { setIfAbsent } from '../shared/values/defaults.js';
import { validateIfSet, validateOneOf, validateRequired } from '../shared/violations.js';

/** Formats a LabelSelector as Go prints a struct, as clients see it in this column. */
function goLabelSelector(selector: LabelSelector): string {
  const labels = sortedEntries(selector.matchLabels).map(([key, value]) => `${key}: ${value},`);
  const expressions = (selector.matchExpressions ?? []).map(expression => {
    const { key, operator } = expression;
    const values = (expression.values ?? []).join(' ');
    return `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values}],},`;
  });
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}

/** Rules common to the bindings of both kinds of policy. */
type Binding = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding;

const paramRefCell: Cell<Binding> = binding => {
  const reference = binding.spec.paramRef;
  if (reference === undefined || reference === null) return '<unset>';
  const namespace = reference.namespace ?? '';
  const name = reference.name ?? '';
  // The kind of the parameter is unknown, and so is its scope.
  if (name !== '') return `${namespace || '*'}/${name}`;
  return reference.selector === undefined ? '<unset>' : goLabelSelector(reference.selector);
};

const COLUMNS: readonly Column<Binding>[] = [
  NAME,
  column('PolicyName', object => object.spec.policyName ?? ''),
  column('ParamRef', paramRefCell),
  AGE,
];

/** The common strategy of the bindings of both kinds of policy. */
export const policyBindingStrategy = (): Partial<Strategy<Binding>> => ({
  hasGeneration: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  applyDefaults: ({ apiVersion, spec: { matchResources, paramRef } }) => {
    if (matchResources) setMatchDefaults(matchResources);
    // Later versions require the member.
    if (paramRef && apiVersion.endsWith('/v1alpha1')) setIfAbsent(paramRef, 'parameterNotFoundAction', 'Deny');
  },
  columns: COLUMNS,
});

const EXCLUSIVE = 'name and selector are mutually exclusive';

function validateParamRef(reference: ParamRef): Violation[] {
  const field = 'spec.paramRef';
  const [name, selector] = [reference.name ?? '', reference.selector];
  const action = reference.parameterNotFoundAction ?? '';
  const refuseBoth = (member: 'name' | 'selector'): Violation[] =>
    name !== '' && selector ? [forbiddenField(`${field}.${member}`, EXCLUSIVE)] : [];
  return [
    ...validateIfSet(reference, 'name', `${field}.name`, pathSegment),
    ...refuseBoth('name'),
    ...validateSelector(selector, `${field}.selector`),
    ...refuseBoth('selector'),
    ...(name === '' && !selector ? [required(field, 'one of name or selector must be specified')] : []),
    ...(action === ''
      ? [required(`${field}.parameterNotFoundAction`)]
      : validateOneOf(reference, 'parameterNotFoundAction', `${field}.parameterNotFoundAction`, ['Deny', 'Allow'])),
  ];
}

const ACTIONS = ['Audit', 'Deny', 'Warn'];

function validateActions(actions: readonly string[]): Violation[] {
  const field = 'spec.validationActions';
  if (actions.length === 0) return [required(field, 'at least one validation action is required')];
  const found = actions.flatMap((action, i) => {
    const at = `${field}[${i}]`;
    return [
      ...(ACTIONS.includes(action) ? [] : [notSupported(at, action, ACTIONS)]),
      ...(actions.indexOf(action) < i ? [duplicate(at, action)] : []),
    ];
  });
  if (!actions.includes('Deny') || !actions.includes('Warn')) return found;
  const shown = new Verbatim(goStrings(actions).text.replace('string', 'admissionregistration.ValidationAction'));
  const why =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and ' +
    'headers serves no purpose)';
  return [...found, invalid(field, shown, why)];
}

/** Violations in the fields that bindings of both kinds of policy have. */
export function validatePolicyBinding(object: Binding): Violation[] {
  const spec = object.spec;
  const [reference, match] = [spec.paramRef, spec.matchResources];
  return [
    ...validateRequired(spec, 'policyName', 'spec.policyName', dns1123Subdomain),
    ...(reference ? validateParamRef(reference) : []),
    ...(match ? validateMatchResources(match, 'spec.matchResources') : []),
  ];
}

/** Violations of a ValidatingAdmissionPolicyBinding. */
const validateBinding = (object: ValidatingAdmissionPolicyBinding): Violation[] => [
  ...validatePolicyBinding(object),
  ...validateActions(object.spec.validationActions ?? []),
];

/** ValidatingAdmissionPolicyBinding. */
export const validatingAdmissionPolicyBinding = builtInKind<ValidatingAdmissionPolicyBinding>(
  'admissionregistration.orchestrator.io/validatingadmissionpolicybindings',
  () => ({
    ...policyBindingStrategy(),
    revalidatesName: true,
    validateCreate: validateBinding,
    validateUpdate: validateBinding,
  }),
);
