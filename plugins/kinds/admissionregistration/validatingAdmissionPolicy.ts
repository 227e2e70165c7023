import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import { ensureRecord, recordAt, setDefault, stringAt, valueAt } from '../../../core/model/record.js';
import { setMatchDefaults } from '../shared/admissionRules.js';
import { AGE, type Cell, column, countColumn, NAME } from '../shared/columns.js';
import { restoreMetadata } from '../shared/metadata.js';

/** Rules of admission policies. */
export const policyStrategy = (mutating: boolean): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: !mutating,
  prepareStatus: restoreMetadata,
  allowUnconditionalUpdate: false,
  applyDefaults: object => {
    const spec = ensureRecord(object, 'spec');
    setDefault(spec, 'failurePolicy', 'Fail');
    const match = recordAt(spec, 'matchConstraints');
    if (match) setMatchDefaults(match);
  },
  columns: mutating ? columnsOf('Mutations', 'spec.mutations') : columnsOf('Validations', 'spec.validations'),
});

const paramKindCell: Cell = policy => {
  const kind = valueAt(policy, 'spec', 'paramKind');
  return kind === undefined || kind === null ? '<unset>' : `${stringAt(kind, 'apiVersion')}/${stringAt(kind, 'kind')}`;
};

/** Columns of admission policies; `of` names what a policy holds at `path`. */
const columnsOf = (of: string, path: string): readonly Column[] => [
  NAME,
  countColumn(of, path),
  column('ParamKind', paramKindCell),
  AGE,
];

export const validatingAdmissionPolicy = builtInKind(
  'admissionregistration.orchestrator.io/validatingadmissionpolicies',
  () => policyStrategy(false),
);
