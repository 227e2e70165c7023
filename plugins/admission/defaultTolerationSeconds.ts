import type { Pod, Toleration } from '../../kinds/v1.js';

import { mutatorPlugin, POD_CREATES } from './podDraft.js';

const SECONDS = 300;

const tolerates = (toleration: Toleration, key: string): boolean =>
  (!toleration.key || toleration.key === key) && (!toleration.effect || toleration.effect === 'NoExecute');

/**
 * Adds tolerations with which pods stay for five minutes on a node that does not respond, unless a pod has such
 * tolerations.
 */
export default mutatorPlugin('default-toleration-seconds', host => ({
  on: { ...POD_CREATES, operations: ['CREATE', 'UPDATE'] },
  mutate: (_change, draft) => {
    const pod = (draft as Pod).spec;
    const tolerations = [...(pod.tolerations ?? [])];
    for (const condition of ['not-ready', 'unreachable']) {
      const key = host.naming.label(`node.orchestrator.io/${condition}`);
      if (tolerations.some(toleration => tolerates(toleration, key))) continue;
      tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: SECONDS });
    }
    if (tolerations.length > 0) pod.tolerations = tolerations;
  },
}));
