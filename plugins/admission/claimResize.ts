import type { Frozen } from '../../core/model/object.js';
import type { StorageClass } from '../../kinds/storage/v1.js';
import type { PersistentVolumeClaim } from '../../kinds/v1.js';
import { type Validator, validator } from '../../core/api/admission.js';
import type { Informer, Host } from '../../core/api/host.js';
import { definePlugin } from '../../core/api/plugin.js';
import type { Plugin } from '../../core/api/point.js';
import { compareQuantities, quantityOf } from '../../core/model/quantity.js';
import { forbiddenError, parseNothing } from './podDraft.js';

const CLAIMS = { group: '', resource: 'persistentvolumeclaims' };

/** A claim as validators see it. */
type Claim = Frozen<PersistentVolumeClaim>;

const sizeOf = (claim: Claim | undefined) => quantityOf(claim?.spec.resources.requests?.storage);

/** Allows a claim to grow only if it is bound, and if its storage class allows its volumes to be expanded. */
function resizing(host: Host<'pool'>): Validator {
  const classes = host.informer('storage.orchestrator.io/storageclasses') as Informer<StorageClass>;
  const oldForm = host.naming.label('volume.beta.orchestrator.io/storage-class');
  const classOf = ({ metadata, spec }: Claim): string => metadata.annotations?.[oldForm] ?? spec.storageClassName ?? '';
  return {
    on: { groups: [CLAIMS.group], resources: [CLAIMS.resource], operations: ['UPDATE'] },
    validate({ target, old: before }, after) {
      const [old, claim] = [before as Claim | undefined, after as Claim | undefined];
      if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return [];
      const refuse = (why: string): Error => forbiddenError(CLAIMS, target.name, why);
      if (!old || !claim || old.status?.phase !== 'Bound')
        throw refuse('Only bound persistent volume claims can be expanded');
      const name = classOf(claim);
      const found = name !== '' && name === classOf(old) ? classes.get('', name) : undefined;
      if (found?.allowVolumeExpansion !== true)
        throw refuse(
          'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
        );
      return [];
    },
  };
}

/** Claims of storage grow only where their storage class permits it. */
export default definePlugin<undefined>({
  name: 'claim-resize',
  parse: parseNothing,
  contribute: () => [validator.of(resizing)],
}) satisfies Plugin<undefined>;
