import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import { recordAt, recordsAt, setDefault, stringAt, stringsAt, valueAt } from '../../../core/model/record.js';
import { setMatchDefaults } from '../shared/admissionRules.js';
import { AGE, type Cell, column, NAME, sortedEntries, stringCell } from '../shared/columns.js';

/**
 * A LabelSelector in the notation that Go's generated types print themselves in, which is what clients of this column
 * see.
 */
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
  // Whether the parameter has a namespace is not known here.
  if (name !== '') return `${namespace || '*'}/${name}`;
  return valueAt(reference, 'selector') === undefined ? '<unset>' : goLabelSelector(valueAt(reference, 'selector'));
};

/** Columns of bindings of admission policies. */
const COLUMNS: readonly Column[] = [
  NAME,
  column('PolicyName', stringCell('spec.policyName')),
  column('ParamRef', paramRefCell),
  AGE,
];

/** Rules of bindings of admission policies. */
export const policyBindingStrategy = (): Partial<Strategy> => ({
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  applyDefaults: object => {
    const match = recordAt(object, 'spec', 'matchResources');
    if (match) setMatchDefaults(match);
    const reference = recordAt(object, 'spec', 'paramRef');
    if (reference) setDefault(reference, 'parameterNotFoundAction', 'Deny');
  },
  columns: COLUMNS,
});

export const validatingAdmissionPolicyBinding = builtInKind(
  'admissionregistration.orchestrator.io/validatingadmissionpolicybindings',
  policyBindingStrategy,
);
