import { dns1123Label } from '../../../../core/model/names.js';
import { numberAt, recordAt, recordsAt, stringAt, type UnknownRecord } from '../../../../core/model/record.js';
import { duplicate, forbiddenField, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { toViolations } from '../violations.js';

/** Violations of each volume, in the order of the volumes. */
export function validateVolumes(pod: UnknownRecord, field: string): Violation[][] {
  const names = new Set<string>();
  return recordsAt(pod, 'volumes').map((volume, i) => {
    const where = `${field}.volumes[${i}]`;
    const found: Violation[] = [];
    const name = stringAt(volume, 'name');
    if (name === '') found.push(required(`${where}.name`));
    else found.push(...toViolations(`${where}.name`, name, dns1123Label(name)));
    if (name !== '' && names.has(name)) found.push(duplicate(`${where}.name`, name));
    names.add(name);
    const sources = Object.keys(volume).filter(member => member !== 'name' && recordAt(volume, member));
    for (const extra of sources.slice(1))
      found.push(forbiddenField(`${where}.${extra}`, 'may not specify more than 1 volume type'));
    return [...found, ...validateVolumeSource(volume, where)];
  });
}

const NEEDED: readonly (readonly [source: string, member: string])[] = [
  ['secret', 'secretName'],
  ['configMap', 'name'],
  ['persistentVolumeClaim', 'claimName'],
  ['nfs', 'server'],
  ['nfs', 'path'],
  ['hostPath', 'path'],
  ['csi', 'driver'],
];

function validateVolumeSource(volume: UnknownRecord, where: string): Violation[] {
  const found: Violation[] = [];
  for (const [source, member] of NEEDED) {
    const owner = recordAt(volume, source);
    if (owner && stringAt(owner, member) === '') found.push(required(`${where}.${source}.${member}`));
  }
  for (const source of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    const mode = numberAt(volume, source, 'defaultMode');
    if (mode !== undefined && (mode < 0 || mode > 0o777)) {
      found.push(
        invalid(`${where}.${source}.defaultMode`, mode, 'must be a number between 0 and 0777 (octal), both inclusive'),
      );
    }
    for (const [i, item] of recordsAt(volume, source, 'items').entries()) {
      if (source !== 'downwardAPI' && stringAt(item, 'key') === '')
        found.push(required(`${where}.${source}.items[${i}].key`));
      if (stringAt(item, 'path') === '') found.push(required(`${where}.${source}.items[${i}].path`));
    }
  }
  for (const [i, source] of recordsAt(volume, 'projected', 'sources').entries()) {
    const field = `${where}.projected.sources[${i}].serviceAccountToken.expirationSeconds`;
    const seconds = numberAt(source, 'serviceAccountToken', 'expirationSeconds');
    if (seconds !== undefined && seconds < 600)
      found.push(invalid(field, seconds, 'may not specify a duration less than 10 minutes'));
    if (seconds !== undefined && seconds > 2 ** 32)
      found.push(invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  const path = stringAt(volume, 'hostPath', 'path');
  if (path.split('/').includes('..')) found.push(invalid(`${where}.hostPath.path`, path, "must not contain '..'"));
  return found;
}
