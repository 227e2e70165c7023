import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { ensureRecord, recordAt, setDefault, setDefaultForZero, valueAt } from '../../../core/model/record.js';
import { AGE, type Cell, column, integerCell, NAME, stringCell } from '../shared/columns.js';
import { validateConditionTypes } from '../shared/conditions.js';
import { restoreMetadata } from '../shared/metadata.js';

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

/** PriorityLevelConfiguration. */
export const priorityLevelConfiguration = builtInKind(
  'flowcontrol.apiserver.orchestrator.io/prioritylevelconfigurations',
  () => ({
    hasGeneration: true,
    hasStatus: true,
    prepareStatus: restoreMetadata,
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
      if (response.type !== 'Queue') return;
      const queuing = ensureRecord(response, 'queuing');
      setDefaultForZero(queuing, 'queues', 64);
      setDefaultForZero(queuing, 'handSize', 8);
      setDefaultForZero(queuing, 'queueLengthLimit', 50);
    },
    columns: COLUMNS,
  }),
);
