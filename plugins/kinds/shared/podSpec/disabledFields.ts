import type { PodSpec } from '../../../../kinds/v1.js';
import { isAbsent } from '../../../../core/model/record.js';
import { CONTAINER_LISTS } from './containerLists.js';

/** Removes the volumes with images, whose feature gate is off in the release, and the mounts of these volumes. */
export function removeImageVolumes(pod: PodSpec): void {
  const volumes = pod.volumes ?? [];
  const removed = volumes.filter(volume => volume.image);
  if (removed.length === 0) return;
  const names = new Set(removed.map(volume => volume.name));
  const kept = volumes.filter(volume => !removed.includes(volume));
  if (kept.length > 0) pod.volumes = kept;
  else delete pod.volumes;
  for (const list of CONTAINER_LISTS) {
    for (const container of pod[list] ?? []) {
      const mounts = (container.volumeMounts ?? []).filter(mount => !names.has(mount.name));
      if (mounts.length > 0) container.volumeMounts = mounts;
      else delete container.volumeMounts;
    }
  }
}

/** Resets `procMount`, which clients cannot choose because its feature gate is off in the release. */
export function resetProcMount(pod: PodSpec): void {
  for (const list of CONTAINER_LISTS) {
    for (const container of pod[list] ?? []) {
      const context = container.securityContext;
      if (context && !isAbsent(context.procMount)) context.procMount = 'Default';
    }
  }
}
