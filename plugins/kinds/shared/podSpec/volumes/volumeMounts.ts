import type { EphemeralContainer, VolumeMount } from '../../../../../kinds/v1.js';
import { isAbsent, type UnknownRecord } from '../../../../../core/model/record.js';
import { forbiddenField, invalid, notFoundField, required, type Violation } from '../../../../../core/model/refusal.js';
import { validateOneOf } from '../../violations.js';

/** Volumes of a pod by name. */
export type Volumes = ReadonlyMap<string, UnknownRecord>;

/** Checks that the mounts and devices of a container use volumes of its pod. */
export function validateMounts(container: EphemeralContainer, field: string, volumes: Volumes): Violation[] {
  const found: Violation[] = [];
  const paths = new Set<string>();
  const devices = container.volumeDevices ?? [];
  for (const [i, mount] of (container.volumeMounts ?? []).entries()) {
    const where = `${field}.volumeMounts[${i}]`;
    const [name, path] = [mount.name, mount.mountPath];
    if (name === '') found.push(required(`${where}.name`));
    if (!volumes.has(name)) found.push(notFoundField(`${where}.name`, name));
    if (path === '') found.push(required(`${where}.mountPath`));
    if (paths.has(path)) found.push(invalid(`${where}.mountPath`, path, 'must be unique'));
    paths.add(path);
    if (devices.some(device => device.name === name))
      found.push(invalid(`${where}.name`, name, 'must not already exist in volumeDevices'));
    if (devices.some(device => device.devicePath === path))
      found.push(invalid(`${where}.mountPath`, path, 'must not already exist as a path in volumeDevices'));
    found.push(...validateSubPath(mount, `${field}.volumeMounts`, where));
    found.push(...validatePropagation(mount, container, `${field}.volumeMounts`));
  }
  return [...found, ...validateDevices(container, field, volumes)];
}

const BLOCK_SOURCES = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';

function validateDevices(container: EphemeralContainer, field: string, volumes: Volumes): Violation[] {
  const found: Violation[] = [];
  const mounts = container.volumeMounts ?? [];
  const [names, paths] = [new Set<string>(), new Set<string>()];
  for (const [i, device] of (container.volumeDevices ?? []).entries()) {
    const where = `${field}.volumeDevices[${i}]`;
    const [name, path] = [device.name, device.devicePath];
    const volume = volumes.get(name);
    if (name === '') found.push(required(`${where}.name`));
    if (names.has(name)) found.push(invalid(`${where}.name`, name, 'must be unique'));
    if (!volume) found.push(notFoundField(`${where}.name`, name));
    else if (!volume.persistentVolumeClaim && !volume.ephemeral)
      found.push(invalid(`${where}.name`, name, BLOCK_SOURCES));
    if (path === '') found.push(required(`${where}.devicePath`));
    if (paths.has(path)) found.push(invalid(`${where}.devicePath`, path, 'must be unique'));
    if (path.split('/').includes('..'))
      found.push(invalid(`${where}.devicePath`, path, "can not contain backsteps ('..')"));
    else paths.add(path);
    if (mounts.some(mount => mount.name === name))
      found.push(invalid(`${where}.name`, name, 'must not already exist in volumeMounts'));
    if (mounts.some(mount => mount.mountPath === path))
      found.push(invalid(`${where}.devicePath`, path, 'must not already exist as a path in volumeMounts'));
    if (name !== '') names.add(name);
  }
  return found;
}

function validateSubPath(mount: VolumeMount, field: string, where: string): Violation[] {
  const found: Violation[] = [];
  for (const member of ['subPath', 'subPathExpr'] as const) {
    const value = mount[member] ?? '';
    if (value === '') continue;
    if (member === 'subPathExpr' && (mount.subPath ?? '') !== '') {
      found.push(invalid(`${where}.subPathExpr`, value, 'subPathExpr and subPath are mutually exclusive'));
    }
    if (value.startsWith('/')) found.push(invalid(`${field}.${member}`, value, 'must be a relative path'));
    if (value.split('/').includes('..')) found.push(invalid(`${field}.${member}`, value, "must not contain '..'"));
  }
  return found;
}

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];

function validatePropagation(mount: VolumeMount, container: EphemeralContainer, field: string): Violation[] {
  const value = mount.mountPropagation ?? '';
  const found = isAbsent(mount.mountPropagation)
    ? []
    : validateOneOf(mount, 'mountPropagation', `${field}.mountPropagation`, PROPAGATIONS);
  if (value === 'Bidirectional' && container.securityContext?.privileged !== true) {
    found.push(
      forbiddenField(
        `${field}.mountPropagation`,
        'Bidirectional mount propagation is available only to privileged containers',
      ),
    );
  }
  return [...found, ...validateRecursive(mount, `${field}.recursiveReadOnly`)];
}

/** Checks that only a mount that is read-only and does not propagate mounts makes the mounts below it read-only too. */
function validateRecursive(mount: VolumeMount, field: string): Violation[] {
  const value = mount.recursiveReadOnly;
  if (isAbsent(value) || value === 'Disabled') return [];
  if (value !== 'Enabled' && value !== 'IfPossible')
    return validateOneOf(mount, 'recursiveReadOnly', field, ['Disabled', 'Enabled', 'IfPossible']);
  const isPrivate = isAbsent(mount.mountPropagation) || mount.mountPropagation === 'None';
  return [
    ...(mount.readOnly === true ? [] : [forbiddenField(field, 'may only be specified when readOnly is true')]),
    ...(isPrivate
      ? []
      : [forbiddenField(field, 'may only be specified when mountPropagation is None or not specified')]),
  ];
}
