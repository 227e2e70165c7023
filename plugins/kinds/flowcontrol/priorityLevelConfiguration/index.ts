import type { PriorityLevelConfiguration, QueuingConfiguration } from '../../../../kinds/flowcontrol/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column } from '../../../../core/api/strategy.js';
import { setDefault, setDefaultForZero } from '../../../../core/model/record.js';
import type { Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import { AGE, type Cell, column, NAME } from '../../shared/columns.js';
import { validateConditionTypes } from '../../shared/conditions.js';
import { WRITABLE_METADATA } from '../../shared/metadata.js';
import { convertLevel, setShares, validateAnnotations } from './shares.js';
import { validateLevelSpec } from './validation.js';

const sharesCell: Cell<PriorityLevelConfiguration> = level => {
  const given = level.spec.limited?.nominalConcurrencyShares ?? level.spec.exempt?.nominalConcurrencyShares;
  return level.spec.type === 'Limited' && typeof given === 'number' ? given : '<none>';
};

const queuingCell =
  (name: keyof QueuingConfiguration): Cell<PriorityLevelConfiguration> =>
  level =>
    level.spec.limited?.limitResponse.queuing?.[name] ?? '<none>';

const COLUMNS: readonly Column<PriorityLevelConfiguration>[] = [
  NAME,
  column('Type', object => object.spec.type),
  column('NominalConcurrencyShares', sharesCell),
  column('Queues', queuingCell('queues')),
  column('HandSize', queuingCell('handSize')),
  column('QueueLengthLimit', queuingCell('queueLengthLimit')),
  AGE,
];

/** Violations of a PriorityLevelConfiguration. */
const validateLevel = (object: PriorityLevelConfiguration, naming: Naming): Violation[] => [
  ...validateAnnotations(object, naming),
  ...validateLevelSpec(object.spec, object.metadata.name ?? ''),
  ...validateConditionTypes(object),
];

/** PriorityLevelConfiguration. */
export const priorityLevelConfiguration = builtInKind<PriorityLevelConfiguration>(
  'flowcontrol.apiserver.orchestrator.io/prioritylevelconfigurations',
  naming => ({
    hasGeneration: true,
    revalidatesName: 'first',
    hasStatus: true,
    keptInStatus: WRITABLE_METADATA,
    validateCreate: object => validateLevel(object, naming),
    validateUpdate: object => validateLevel(object, naming),
    validateStatus: validateConditionTypes,
    applyDefaults: object => {
      const exempt = object.spec.exempt;
      if (exempt) {
        setDefault(exempt, 'nominalConcurrencyShares', 0);
        setDefault(exempt, 'lendablePercent', 0);
      }
      const limited = object.spec.limited;
      if (!limited) return;
      setShares(object, naming);
      setDefault(limited, 'lendablePercent', 0);
      const response = limited.limitResponse;
      const queuing = response.queuing;
      if (response.type !== 'Queue' || !queuing) return;
      setDefaultForZero(queuing, 'queues', 64);
      setDefaultForZero(queuing, 'handSize', 8);
      setDefaultForZero(queuing, 'queueLengthLimit', 50);
    },
    convert: (object, apiVersion) => convertLevel(object as PriorityLevelConfiguration, apiVersion, naming),
    columns: COLUMNS,
  }),
);
