import type { Pod } from '../../../kinds/v1.js';
import { qualifiedName } from '../../../core/model/names.js';
import type { Naming } from '../../../core/naming.js';

import { mutatorPlugin, POD_CREATES } from '../podDraft.js';

/** Whether nodes offer a resource beside those of the system: it has a domain of somebody else. */
const isExtended = (name: string, { label }: Naming): boolean =>
  name.includes('/') &&
  !name.includes(label('orchestrator.io/')) &&
  !name.startsWith('requests.') &&
  qualifiedName(`requests.${name}`).length === 0;

/**
 * Lets pods that request an extended resource run on nodes with a taint of its name, which keeps other pods away from
 * nodes with rare devices.
 */
export default mutatorPlugin('extended-resource-toleration', ({ naming }) => ({
  on: { ...POD_CREATES, operations: ['CREATE', 'UPDATE'] },
  mutate: (_change, draft) => {
    const pod = (draft as Pod).spec;
    const requested = [...(pod.containers ?? []), ...(pod.initContainers ?? [])].flatMap(({ resources }) =>
      Object.keys(resources.requests ?? {}).filter(name => isExtended(name, naming)),
    );
    for (const key of [...new Set(requested)].sort()) {
      const isPresent = (pod.tolerations ?? []).some(
        toleration =>
          toleration.key === key &&
          toleration.operator === 'Exists' &&
          toleration.effect === 'NoSchedule' &&
          !toleration.value,
      );
      if (!isPresent) pod.tolerations = [...(pod.tolerations ?? []), { key, operator: 'Exists', effect: 'NoSchedule' }];
    }
  },
}));
