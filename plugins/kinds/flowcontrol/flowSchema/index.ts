import type { FlowSchema } from '../../../../kinds/flowcontrol/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column } from '../../../../core/api/strategy.js';
import { setDefaultForZero } from '../../../../core/model/record.js';
import type { Violation } from '../../../../core/model/refusal.js';
import { AGE, column, conditionOf, NAME } from '../../shared/columns.js';
import { validateConditionTypes } from '../../shared/conditions.js';
import { WRITABLE_METADATA } from '../../shared/metadata.js';
import { validateFlowSchemaSpec } from './validation.js';

/** FlowSchemas with lower numbers are matched first. */
const precedenceOf = (schema: FlowSchema): number => Number(schema.spec.matchingPrecedence);

const COLUMNS: readonly Column<FlowSchema>[] = [
  NAME,
  column('PriorityLevel', object => object.spec.priorityLevelConfiguration.name),
  column('MatchingPrecedence', object => object.spec.matchingPrecedence),
  column('DistinguisherMethod', object => object.spec.distinguisherMethod?.type || '<none>'),
  AGE,
  column('MissingPL', object => (conditionOf(object, 'Dangling')?.status ?? '') || '?'),
];

/** Violations of a FlowSchema. */
const validateFlowSchema = (object: FlowSchema): Violation[] => [
  ...validateFlowSchemaSpec(object.spec, object.metadata.name ?? ''),
  ...validateConditionTypes(object),
];

/** FlowSchema. Tables list them in the order in which they are matched. */
export const flowSchema = builtInKind<FlowSchema>('flowcontrol.apiserver.orchestrator.io/flowschemas', () => ({
  hasGeneration: true,
  revalidatesName: 'first',
  hasStatus: true,
  keptInStatus: WRITABLE_METADATA,
  validateCreate: validateFlowSchema,
  validateUpdate: validateFlowSchema,
  validateStatus: validateConditionTypes,
  applyDefaults: object => setDefaultForZero(object.spec, 'matchingPrecedence', 1000),
  compareRows: (a, b) =>
    precedenceOf(a) - precedenceOf(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
  columns: COLUMNS,
}));
