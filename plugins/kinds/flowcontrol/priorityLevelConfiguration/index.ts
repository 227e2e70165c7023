import { builtInKind } from '../../../../core/api/resource.js';
import type { Column } from '../../../../core/api/strategy.js';
import type { ApiObject } from '../../../../core/model/object.js';
import {
  ensureRecord,
  recordAt,
  setDefault,
  setDefaultForZero,
  specOf,
  valueAt,
} from '../../../../core/model/record.js';
import type { Violation } from '../../../../core/model/refusal.js';
import { AGE, type Cell, column, integerCell, NAME, stringCell } from '../../shared/columns.js';
import { validateConditionTypes } from '../../shared/conditions.js';
import { WRITABLE_METADATA } from '../../shared/metadata.js';
import { validateLevelSpec } from './validation.js';

const sharesCell: Cell = level => {
  const given =
    valueAt(level, 'spec', 'limited', 'nominalConcurrencyShares') ??
    valueAt(level, 'spec', 'exempt', 'nominalConcurrencyShares');
  return valueAt(level, 'spec', 'type') === 'Limited' && typeof given === 'number' ? given : '<none>';
};

const queuingCell = (name: string): Cell => integerCell(`spec.limited.limitResponse.queuing.${name}`, '<none>');

const COLUMNS: readonly Column[] = [
  NAME,
  column('Type', stringCell('spec.type')),
  column('NominalConcurrencyShares', sharesCell),
  column('Queues', queuingCell('queues')),
  column('HandSize', queuingCell('handSize')),
  column('QueueLengthLimit', queuingCell('queueLengthLimit')),
  AGE,
];

/** Violations of a PriorityLevelConfiguration. */
const validateLevel = (object: ApiObject): Violation[] => [
  ...validateLevelSpec(specOf(object), object.metadata.name ?? ''),
  ...validateConditionTypes(object),
];

/** PriorityLevelConfiguration. */
export const priorityLevelConfiguration = builtInKind(
  'flowcontrol.apiserver.orchestrator.io/prioritylevelconfigurations',
  () => ({
    hasGeneration: true,
    hasStatus: true,
    keptInStatus: WRITABLE_METADATA,
    validateCreate: validateLevel,
    validateUpdate: validateLevel,
    validateStatus: validateConditionTypes,
    applyDefaults: object => {
      const exempt = recordAt(object, 'spec', 'exempt');
      if (exempt) {
        setDefault(exempt, 'nominalConcurrencyShares', 0);
        setDefault(exempt, 'lendablePercent', 0);
      }
      const limited = recordAt(object, 'spec', 'limited');
      if (!limited) return;
      setDefault(limited, 'nominalConcurrencyShares', 30);
      setDefault(limited, 'lendablePercent', 0);
      const response = ensureRecord(limited, 'limitResponse');
      const queuing = recordAt(response, 'queuing');
      if (response.type !== 'Queue' || !queuing) return;
      setDefaultForZero(queuing, 'queues', 64);
      setDefaultForZero(queuing, 'handSize', 8);
      setDefaultForZero(queuing, 'queueLengthLimit', 50);
    },
    columns: COLUMNS,
  }),
);
