import type { Node } from '../../kinds/v1.js';
import { mutatorPlugin } from './podDraft.js';

/** Adds a taint to new nodes, so that no pods are assigned to them until they are ready. */
export default mutatorPlugin('taint-new-nodes', host => ({
  on: { groups: [''], resources: ['nodes'], operations: ['CREATE'] },
  mutate: (_change, draft) => {
    const key = host.naming.label('node.orchestrator.io/not-ready');
    const { spec } = draft as Node;
    const taints = spec.taints ?? [];
    if (taints.some(taint => taint.key === key && taint.effect === 'NoSchedule')) return;
    spec.taints = [...taints, { key, effect: 'NoSchedule' }];
  },
}));
