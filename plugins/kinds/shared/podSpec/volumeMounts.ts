import { recordAt, recordsAt, stringAt, type UnknownRecord } from '../../../../core/model/record.js';
import { forbiddenField, invalid, notFoundField, required, type Violation } from '../../../../core/model/refusal.js';
import { validateOneOf } from '../violations.js';

/** Volumes of a pod by name. */
export type Volumes = ReadonlyMap<string, UnknownRecord>;

/** Checks that the mounts and devices of a container use volumes of its pod. */
export function validateMounts(container: UnknownRecord, field: string, volumes: Volumes): Violation[] {
  const found: Violation[] = [];
  const paths = new Set<string>();
  for (const [i, mount] of recordsAt(container, 'volumeMounts').entries()) {
    const where = `${field}.volumeMounts[${i}]`;
    const [name, path] = [stringAt(mount, 'name'), stringAt(mount, 'mountPath')];
    if (name === '') found.push(required(`${where}.name`));
    if (!volumes.has(name)) found.push(notFoundField(`${where}.name`, name));
    if (path === '') found.push(required(`${where}.mountPath`));
    if (paths.has(path)) found.push(invalid(`${where}.mountPath`, path, 'must be unique'));
    paths.add(path);
    found.push(...validateSubPath(mount, `${field}.volumeMounts`, where));
    found.push(...validatePropagation(mount, container, `${field}.volumeMounts`));
  }
  for (const [i, device] of recordsAt(container, 'volumeDevices').entries()) {
    const where = `${field}.volumeDevices[${i}]`;
    const [name, path] = [stringAt(device, 'name'), stringAt(device, 'devicePath')];
    if (name === '') found.push(required(`${where}.name`));
    const volume = volumes.get(name);
    if (!volume) found.push(notFoundField(`${where}.name`, name));
    else if (!recordAt(volume, 'persistentVolumeClaim') && !recordAt(volume, 'ephemeral')) {
      found.push(
        invalid(
          `${where}.name`,
          name,
          'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ),
      );
    }
    if (path === '') found.push(required(`${where}.devicePath`));
    else if (path.split('/').includes('..'))
      found.push(invalid(`${where}.devicePath`, path, "can not contain backsteps ('..')"));
  }
  return found;
}

function validateSubPath(mount: UnknownRecord, field: string, where: string): Violation[] {
  const found: Violation[] = [];
  for (const member of ['subPath', 'subPathExpr']) {
    const value = stringAt(mount, member);
    if (value === '') continue;
    if (member === 'subPathExpr' && stringAt(mount, 'subPath') !== '') {
      found.push(invalid(`${where}.subPathExpr`, value, 'subPathExpr and subPath are mutually exclusive'));
    }
    if (value.startsWith('/')) found.push(invalid(`${field}.${member}`, value, 'must be a relative path'));
    if (value.split('/').includes('..')) found.push(invalid(`${field}.${member}`, value, "must not contain '..'"));
  }
  return found;
}

function validatePropagation(mount: UnknownRecord, container: UnknownRecord, field: string): Violation[] {
  const value = stringAt(mount, 'mountPropagation');
  const found = validateOneOf(
    mount,
    'mountPropagation',
    `${field}.mountPropagation`,
    ['Bidirectional', 'HostToContainer', 'None'],
    false,
  );
  if (value === 'Bidirectional' && recordAt(container, 'securityContext')?.privileged !== true) {
    found.push(
      forbiddenField(
        `${field}.mountPropagation`,
        'Bidirectional mount propagation is available only to privileged containers',
      ),
    );
  }
  const readOnly = stringAt(mount, 'recursiveReadOnly');
  if (readOnly !== '' && readOnly !== 'Disabled' && mount.readOnly !== true) {
    found.push(forbiddenField(`${field}.recursiveReadOnly`, 'may only be specified when readOnly is true'));
  }
  return found;
}
