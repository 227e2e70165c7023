import type { Strategy } from '../../../core/api/strategy.js';
import type { Naming } from '../../../core/naming.js';
import { labelName } from '../naming-rules.js';
import { at, into, spec, strings, text } from '../record.js';

/** Rules of Namespaces: they end through the finalizer list in their spec, which only `finalize` writes. */
export const namespace = (naming: Naming): Partial<Strategy> => {
  const finalizer = naming.group('orchestrator.io') === 'k8s.io' ? 'kubernetes' : 'orchestrator';
  const nameLabel = naming.label('orchestrator.io/metadata.name');
  return {
    checkName: labelName,
    hasStatus: true,
    defaults: object => {
      if (object.metadata.name) object.metadata.labels = { ...object.metadata.labels, [nameLabel]: object.metadata.name };
    },
    prepareCreate: object => {
      object.status = { phase: 'Active' };
      const finalizers = strings(spec(object), 'finalizers');
      if (!finalizers.includes(finalizer)) spec(object).finalizers = [...finalizers, finalizer];
    },
    prepareUpdate: (object, old) => {
      into(object, 'spec').finalizers = strings(at(old, 'spec'), 'finalizers');
    },
    heldBy: object => strings(at(object, 'spec'), 'finalizers'),
    onDeletion: object => {
      into(object, 'status').phase = 'Terminating';
      delete object.metadata.deletionGracePeriodSeconds;
    },
    subresources: new Map([
      [
        'finalize',
        (body, current) => {
          const finalized = structuredClone(current);
          into(finalized, 'spec').finalizers = strings(at(body, 'spec'), 'finalizers');
          return finalized;
        },
      ],
    ]),
    selectableFields: new Map([['status.phase', object => text(at(object, 'status'), 'phase')]]),
  };
};
