import { mutatorPlugin } from './podDraft.js';

/** The finalizers with which the controllers keep volumes and claims that are in use. */
const FINALIZERS = new Map([
  ['persistentvolumes', 'orchestrator.io/pv-protection'],
  ['persistentvolumeclaims', 'orchestrator.io/pvc-protection'],
]);

/** Adds a finalizer to new volumes and claims, which keeps them for as long as they are in use. */
export default mutatorPlugin('storage-protection', host => ({
  on: { groups: [''], resources: [...FINALIZERS.keys()], operations: ['CREATE'] },
  mutate({ target }, { metadata }) {
    const finalizer = host.naming.label(FINALIZERS.get(target.resource)!);
    const finalizers = metadata.finalizers ?? [];
    if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
  },
}));
