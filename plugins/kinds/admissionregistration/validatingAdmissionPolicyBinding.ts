import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import { dns1123Subdomain, pathSegment } from '../../../core/model/names.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  recordAt,
  recordsAt,
  specOf,
  stringAt,
  stringsAt,
  type UnknownRecord,
  valueAt,
} from '../../../core/model/record.js';
import { goStrings } from '../../../core/model/goText.js';
import {
  duplicate,
  forbiddenField,
  invalid,
  notSupported,
  required,
  Verbatim,
  type Violation,
} from '../../../core/model/refusal.js';
import { setMatchDefaults, validateMatchResources } from '../shared/admissionRules.js';
import { AGE, type Cell, column, NAME, sortedEntries, stringCell } from '../shared/columns.js';
import { validateSelector } from '../shared/labels.js';
import { validateIfSet, validateOneOf, validateRequired } from '../shared/violations.js';

/** Formats a LabelSelector as Go prints a struct, as clients see it in this column. */
function goLabelSelector(selector: unknown): string {
  const labels = sortedEntries(selector, 'matchLabels').map(([key, value]) => `${key}: ${stringAt(value)},`);
  const expressions = recordsAt(selector, 'matchExpressions').map(expression => {
    const [key, operator] = ['key', 'operator'].map(name => stringAt(expression, name));
    const values = stringsAt(expression, 'values').join(' ');
    return `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values}],},`;
  });
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}

const paramRefCell: Cell = binding => {
  const reference = valueAt(binding, 'spec', 'paramRef');
  if (reference === undefined || reference === null) return '<unset>';
  const namespace = stringAt(reference, 'namespace');
  const name = stringAt(reference, 'name');
  // The kind of the parameter is unknown, and so is its scope.
  if (name !== '') return `${namespace || '*'}/${name}`;
  return valueAt(reference, 'selector') === undefined ? '<unset>' : goLabelSelector(valueAt(reference, 'selector'));
};

const COLUMNS: readonly Column[] = [
  NAME,
  column('PolicyName', stringCell('spec.policyName')),
  column('ParamRef', paramRefCell),
  AGE,
];

/** The common strategy of the bindings of both kinds of policy. */
export const policyBindingStrategy = (): Partial<Strategy> => ({
  hasGeneration: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  applyDefaults: object => {
    const match = recordAt(object, 'spec', 'matchResources');
    if (match) setMatchDefaults(match);
  },
  columns: COLUMNS,
});

const EXCLUSIVE = 'name and selector are mutually exclusive';

function validateParamRef(reference: UnknownRecord): Violation[] {
  const field = 'spec.paramRef';
  const [name, selector] = [stringAt(reference, 'name'), recordAt(reference, 'selector')];
  const action = stringAt(reference, 'parameterNotFoundAction');
  const found: Violation[] = [];
  if (name !== '' && selector)
    found.push(forbiddenField(`${field}.name`, EXCLUSIVE), forbiddenField(`${field}.selector`, EXCLUSIVE));
  if (name === '' && !selector) found.push(required(field, 'one of name or selector must be specified'));
  return [
    ...found,
    ...validateIfSet(reference, 'name', `${field}.name`, pathSegment),
    ...validateSelector(selector, `${field}.selector`),
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
    if (!ACTIONS.includes(action)) return [notSupported(`${field}[${i}]`, action, ACTIONS)];
    return actions.indexOf(action) < i ? [duplicate(`${field}[${i}]`, action)] : [];
  });
  if (!actions.includes('Deny') || !actions.includes('Warn')) return found;
  const shown = new Verbatim(goStrings(actions).text.replace('string', 'admissionregistration.ValidationAction'));
  const why =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and ' +
    'headers serves no purpose)';
  return [...found, invalid(field, shown, why)];
}

/** Violations of what the bindings of both kinds of policy have. */
export function validatePolicyBinding(object: ApiObject): Violation[] {
  const spec = specOf(object);
  const [reference, match] = [recordAt(spec, 'paramRef'), recordAt(spec, 'matchResources')];
  return [
    ...validateRequired(spec, 'policyName', 'spec.policyName', dns1123Subdomain),
    ...(reference ? validateParamRef(reference) : []),
    ...(match ? validateMatchResources(match, 'spec.matchResources') : []),
  ];
}

/** Violations of a ValidatingAdmissionPolicyBinding. */
const validateBinding = (object: ApiObject): Violation[] => [
  ...validatePolicyBinding(object),
  ...validateActions(stringsAt(object, 'spec', 'validationActions')),
];

/** ValidatingAdmissionPolicyBinding. */
export const validatingAdmissionPolicyBinding = builtInKind(
  'admissionregistration.orchestrator.io/validatingadmissionpolicybindings',
  () => ({ ...policyBindingStrategy(), validateCreate: validateBinding, validateUpdate: validateBinding }),
);
