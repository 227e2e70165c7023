import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import { recordAt, recordsAt, setDefault, stringAt, stringsAt, valueAt } from '../../../core/model/record.js';
import { setMatchDefaults } from '../shared/admissionRules.js';
import { AGE, type Cell, column, NAME, sortedEntries, stringCell } from '../shared/columns.js';

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
    const reference = recordAt(object, 'spec', 'paramRef');
    if (reference) setDefault(reference, 'parameterNotFoundAction', 'Deny');
  },
  columns: COLUMNS,
});

/** ValidatingAdmissionPolicyBinding. */
export const validatingAdmissionPolicyBinding = builtInKind(
  'admissionregistration.orchestrator.io/validatingadmissionpolicybindings',
  policyBindingStrategy,
);
