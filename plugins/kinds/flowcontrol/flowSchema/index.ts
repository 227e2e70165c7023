import { builtInKind } from '../../../../core/api/resource.js';
import type { Column } from '../../../../core/api/strategy.js';
import type { ApiObject } from '../../../../core/model/object.js';
import { setDefaultForZero, specOf, stringAt } from '../../../../core/model/record.js';
import type { Violation } from '../../../../core/model/refusal.js';
import { AGE, column, conditionOf, integerCell, NAME, stringCell } from '../../shared/columns.js';
import { validateConditionTypes } from '../../shared/conditions.js';
import { WRITABLE_METADATA } from '../../shared/metadata.js';
import { validateFlowSchemaSpec } from './validation.js';

/** FlowSchemas with lower numbers are matched first. */
const precedenceOf = (schema: ApiObject): number => Number(specOf(schema).matchingPrecedence ?? 0);

const COLUMNS: readonly Column[] = [
  NAME,
  column('PriorityLevel', stringCell('spec.priorityLevelConfiguration.name')),
  column('MatchingPrecedence', integerCell('spec.matchingPrecedence')),
  column('DistinguisherMethod', stringCell('spec.distinguisherMethod.type', '<none>')),
  AGE,
  column('MissingPL', object => stringAt(conditionOf(object, 'Dangling'), 'status') || '?'),
];

/** Violations of a FlowSchema. */
const validateFlowSchema = (object: ApiObject): Violation[] => [
  ...validateFlowSchemaSpec(specOf(object), object.metadata.name ?? ''),
  ...validateConditionTypes(object),
];

/** FlowSchema. Tables list them in the order in which they are matched. */
export const flowSchema = builtInKind('flowcontrol.apiserver.orchestrator.io/flowschemas', () => ({
  hasGeneration: true,
  hasStatus: true,
  keptInStatus: WRITABLE_METADATA,
  validateCreate: validateFlowSchema,
  validateUpdate: validateFlowSchema,
  validateStatus: validateConditionTypes,
  applyDefaults: object => setDefaultForZero(specOf(object), 'matchingPrecedence', 1000),
  compareRows: (a, b) =>
    precedenceOf(a) - precedenceOf(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
  columns: COLUMNS,
}));
