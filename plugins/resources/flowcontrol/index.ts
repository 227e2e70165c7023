import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { at, fill, fillZero, into, spec } from '../record.js';
import type { KindTable } from '../strategies.js';
import { keepMetadata } from '../status-metadata.js';
import { flowStatusViolations } from '../validation/statuses.js';

/** The lower, the earlier a flow schema is tried. */
const precedence = (schema: ApiObject): number => Number(spec(schema).matchingPrecedence ?? 0);

const flowSchema = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  prepareStatus: keepMetadata,
  validateStatus: flowStatusViolations,
  defaults: object => fillZero(spec(object), 'matchingPrecedence', 1000),
  rowOrder: (a, b) => precedence(a) - precedence(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
});

const priorityLevel = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  prepareStatus: keepMetadata,
  validateStatus: flowStatusViolations,
  defaults: object => {
    const exempt = at(object, 'spec', 'exempt');
    if (exempt) {
      fill(exempt, 'nominalConcurrencyShares', 0);
      fill(exempt, 'lendablePercent', 0);
    }
    const limited = at(object, 'spec', 'limited');
    if (!limited) return;
    fill(limited, 'nominalConcurrencyShares', 30);
    fill(limited, 'lendablePercent', 0);
    const response = into(limited, 'limitResponse');
    if (response.type !== 'Queue') return;
    const queuing = into(response, 'queuing');
    fillZero(queuing, 'queues', 64);
    fillZero(queuing, 'handSize', 8);
    fillZero(queuing, 'queueLengthLimit', 50);
  },
});

/** Kinds of priority and fairness. */
export const flowKinds: KindTable = {
  'flowcontrol.apiserver.orchestrator.io/flowschemas': flowSchema,
  'flowcontrol.apiserver.orchestrator.io/prioritylevelconfigurations': priorityLevel,
};
