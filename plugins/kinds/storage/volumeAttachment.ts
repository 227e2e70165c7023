import type { VolumeAttachment, VolumeAttachmentSource } from '../../../kinds/storage/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { dns1123Subdomain } from '../../../core/model/names.js';
import { isAbsent } from '../../../core/model/record.js';
import { forbiddenField, invalid, required, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, NAME } from '../shared/columns.js';
import { validateDriverName } from '../shared/volumes/csiDrivers.js';
import { isUnchanged } from '../shared/values/equality.js';
import { WRITABLE_METADATA } from '../shared/metadata.js';
import { validateInlineVolumeSpec } from '../shared/volumes/volumeSpec.js';
import { validatePresent, validateRequired, validateText } from '../shared/violations.js';

const COLUMNS: readonly Column<VolumeAttachment>[] = [
  NAME,
  column('Attacher', object => object.spec.attacher, { format: 'name' }),
  column('PV', object => object.spec.source.persistentVolumeName ?? ''),
  column('Node', object => object.spec.nodeName),
  column('Attached', object => object.status?.attached ?? false, { type: 'boolean' }),
  AGE,
];

const EXACTLY_ONE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

/** Checks that the source is either the name of a volume or a volume itself. */
function validateSource(source: VolumeAttachmentSource): Violation[] {
  const [name, inline] = [source.persistentVolumeName, source.inlineVolumeSpec];
  if (isAbsent(name) && isAbsent(inline)) return [required('spec.source', EXACTLY_ONE)];
  if (!isAbsent(name) && !isAbsent(inline)) return [forbiddenField('spec.source', EXACTLY_ONE)];
  const spec = source.inlineVolumeSpec;
  if (spec) return validateInlineVolumeSpec(spec, 'spec.source.inlineVolumeSpec');
  return name === ''
    ? [required('spec.source.persistentVolumeName', 'must specify non empty persistentVolumeName')]
    : [];
}

/** Violations of a VolumeAttachment, except for the names in a new one. */
const validateAttachment = (object: VolumeAttachment): Violation[] => [
  ...validateRequired(object.spec, 'attacher', 'spec.attacher'),
  ...validateSource(object.spec.source),
  ...validateText(object.spec, 'nodeName', 'spec.nodeName', dns1123Subdomain),
];

/** Checks the names in a new VolumeAttachment. */
const validateNames = (object: VolumeAttachment): Violation[] => [
  ...validateDriverName(object.spec.attacher, 'spec.attacher'),
  ...validatePresent(object.spec.source, 'persistentVolumeName', 'spec.source.persistentVolumeName', dns1123Subdomain),
];

const validateUnchanged = (object: VolumeAttachment, old: VolumeAttachment): Violation[] =>
  isUnchanged(object.spec, old.spec)
    ? []
    : [invalid('spec', new Verbatim('storage.VolumeAttachmentSpec{}'), 'field is immutable')];

/** VolumeAttachment. */
export const volumeAttachment = builtInKind<VolumeAttachment>('storage.orchestrator.io/volumeattachments', () => ({
  revalidatesName: 'first',
  returnsDeletedObject: true,
  hasStatus: true,
  allowUnconditionalUpdate: false,
  keptInStatus: WRITABLE_METADATA,
  validateCreate: object => [...validateAttachment(object), ...validateNames(object)],
  validateUpdate: (object, old) => [...validateAttachment(object), ...validateUnchanged(object, old)],
  columns: COLUMNS,
}));
