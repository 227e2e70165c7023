import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { AGE, booleanCell, column, NAME, stringCell } from '../shared/columns.js';
import { restoreMetadata } from '../shared/metadata.js';

const COLUMNS: readonly Column[] = [
  NAME,
  column('Attacher', stringCell('spec.attacher'), { format: 'name' }),
  column('PV', stringCell('spec.source.persistentVolumeName')),
  column('Node', stringCell('spec.nodeName')),
  column('Attached', booleanCell('status.attached'), { type: 'boolean' }),
  AGE,
];

/** VolumeAttachment. */
export const volumeAttachment = builtInKind('storage.orchestrator.io/volumeattachments', () => ({
  returnsDeletedObject: true,
  hasStatus: true,
  allowUnconditionalUpdate: false,
  prepareStatus: restoreMetadata,
  columns: COLUMNS,
}));
