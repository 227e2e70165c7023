import type { Toleration } from '../../../kinds/v1.js';
import type { RuntimeClass, Scheduling } from '../../../kinds/node/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { writeJson } from '../../../core/model/text/jsonText.js';
import { dns1123Label } from '../../../core/model/names.js';
import { duplicate, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, NAME } from '../shared/columns.js';
import { validateLabels } from '../shared/labels.js';
import { validateResources } from '../shared/podSpec/resources.js';
import { validateTolerations } from '../shared/podSpec/scheduling.js';
import { findRepeated } from '../shared/values/repeated.js';
import { validateImmutable, validateText } from '../shared/violations.js';

/** The same text for tolerations that are equal: empty members are the same as absent ones. */
const tolerationText = (toleration: Toleration): string =>
  writeJson([
    ...(['key', 'operator', 'value', 'effect'] as const).map(member => toleration[member] ?? ''),
    toleration.tolerationSeconds ?? null,
  ]);

/** Checks that no toleration of the class is given twice. */
function validateDistinct(tolerations: readonly Toleration[], field: string): Violation[] {
  return findRepeated(tolerations.map(tolerationText)).flatMap((isRepeated, i) =>
    isRepeated ? [duplicate(`${field}[${i}]`, new Verbatim('core.Toleration{}'))] : [],
  );
}

function validateScheduling(scheduling: Scheduling | undefined): Violation[] {
  const tolerations = scheduling?.tolerations ?? [];
  const field = 'scheduling.tolerations';
  return [
    ...validateLabels(Object.entries(scheduling?.nodeSelector ?? {}), 'scheduling.nodeSelector'),
    // Upstream repeats the name of the list in the field.
    ...validateTolerations(tolerations, `${field}.tolerations`),
    ...validateDistinct(tolerations, field),
  ];
}

/** Violations of a RuntimeClass. */
const validateRuntimeClass = (object: RuntimeClass): Violation[] => [
  ...validateText(object, 'handler', 'handler', dns1123Label),
  ...validateResources({ limits: object.overhead?.podFixed }, 'overhead'),
  ...validateScheduling(object.scheduling),
];

const COLUMNS: readonly Column<RuntimeClass>[] = [NAME, column('Handler', object => object.handler), AGE];

/** RuntimeClass. Its handler is immutable. */
export const runtimeClass = builtInKind<RuntimeClass>('node.orchestrator.io/runtimeclasses', () => ({
  revalidatesName: true,
  allowCreateOnUpdate: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  validateCreate: validateRuntimeClass,
  validateUpdate: (object, old) => [
    ...validateRuntimeClass(object),
    ...validateImmutable(object, old, 'handler', 'handler'),
  ],
  columns: COLUMNS,
}));
