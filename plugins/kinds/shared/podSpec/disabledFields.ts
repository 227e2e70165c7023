import { isAbsent, recordAt, recordsAt, stringAt, type UnknownRecord } from '../../../../core/model/record.js';
import { CONTAINER_LISTS } from './containerLists.js';

/** Removes the volumes with images, and the mounts of these volumes. */
function removeImageVolumes(pod: UnknownRecord): void {
  const volumes = recordsAt(pod, 'volumes');
  const removed = volumes.filter(volume => recordAt(volume, 'image'));
  if (removed.length === 0) return;
  const names = new Set(removed.map(volume => stringAt(volume, 'name')));
  const kept = volumes.filter(volume => !removed.includes(volume));
  if (kept.length > 0) pod.volumes = kept;
  else delete pod.volumes;
  for (const list of CONTAINER_LISTS) {
    for (const container of recordsAt(pod, list)) {
      const mounts = recordsAt(container, 'volumeMounts').filter(mount => !names.has(stringAt(mount, 'name')));
      if (mounts.length > 0) container.volumeMounts = mounts;
      else delete container.volumeMounts;
    }
  }
}

/** Resets what clients cannot set because its feature gate is off in the release. The schema drops single fields. */
export function clearDisabledFields(pod: UnknownRecord): void {
  removeImageVolumes(pod);
  for (const list of CONTAINER_LISTS) {
    for (const container of recordsAt(pod, list)) {
      const context = recordAt(container, 'securityContext');
      if (context && !isAbsent(context.procMount)) context.procMount = 'Default';
    }
  }
}
