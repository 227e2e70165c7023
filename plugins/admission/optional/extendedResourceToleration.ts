import type { Pod, Toleration } from '../../../kinds/v1.js';

import { isDeviceResource } from '../resourceQuota/usage/deviceResource.js';
import { mutatorPlugin, POD_CREATES } from '../podDraft.js';

/**
 * Lets pods that request an extended resource run on nodes with a taint of its name, which keeps other pods away from
 * nodes with rare devices.
 */
export default mutatorPlugin('extended-resource-toleration', ({ naming }) => ({
  on: { ...POD_CREATES, operations: ['CREATE', 'UPDATE'] },
  mutate: (_change, draft) => {
    const pod = (draft as Pod).spec;
    const requested = [...(pod.containers ?? []), ...(pod.initContainers ?? [])].flatMap(({ resources }) =>
      Object.keys(resources.requests ?? {}).filter(name => isDeviceResource(name, naming)),
    );
    const isToleration = ({ operator, effect, value }: Toleration): boolean =>
      operator === 'Exists' && effect === 'NoSchedule' && !value;
    const tolerated = new Set((pod.tolerations ?? []).filter(isToleration).map(({ key }) => key));
    const missing = [...new Set(requested)].filter(key => !tolerated.has(key)).sort();
    if (missing.length === 0) return;
    const added = missing.map((key): Toleration => ({ key, operator: 'Exists', effect: 'NoSchedule' }));
    pod.tolerations = [...(pod.tolerations ?? []), ...added];
  },
}));
