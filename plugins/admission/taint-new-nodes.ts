import { recordsAt, specOf } from '../../core/model/record.js';

import { mutatorPlugin } from './pod-draft.js';

/** Adds a taint to new nodes, so that no pods are assigned to them until they are ready. */
export default mutatorPlugin('taint-new-nodes', host => ({
  on: { groups: [''], resources: ['nodes'], operations: ['CREATE'] },
  mutate: (_change, draft) => {
    const key = host.naming.label('node.orchestrator.io/not-ready');
    const taints = recordsAt(specOf(draft), 'taints');
    if (taints.some(taint => taint.key === key && taint.effect === 'NoSchedule')) return;
    specOf(draft).taints = [...taints, { key, effect: 'NoSchedule' }];
  },
}));
