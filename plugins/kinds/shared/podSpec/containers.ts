import { dns1123Label } from '../../../../core/model/names.js';
import { numberAt, recordAt, recordsAt, stringAt, type UnknownRecord } from '../../../../core/model/record.js';
import { duplicate, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { environment } from './environment.js';
import { resourceViolations } from './resources.js';
import { containerSecurity } from './securityContext.js';
import { mounts } from './volumeMounts.js';
import { portName, portNumber } from '../ports.js';
import { complaints, ifSet, oneOf } from '../violations.js';

/** What containers of one pod have to be checked against. */
export interface PodContext {
  readonly volumes: ReadonlyMap<string, UnknownRecord>;
  readonly hostNetwork: boolean;
  readonly grace: number;
}

function ports(container: UnknownRecord, field: string, hostNetwork: boolean): Violation[] {
  const found: Violation[] = [];
  const names = new Set<string>();
  for (const [i, port] of recordsAt(container, 'ports').entries()) {
    const where = `${field}.ports[${i}]`;
    const name = stringAt(port, 'name');
    if (name !== '') {
      const wrong = portName(name);
      found.push(...complaints(`${where}.name`, name, wrong));
      if (wrong.length === 0 && names.has(name)) found.push(duplicate(`${where}.name`, name));
      names.add(name);
    }
    const number = numberAt(port, 'containerPort') ?? 0;
    if (number === 0) found.push(required(`${where}.containerPort`));
    else found.push(...complaints(`${where}.containerPort`, number, portNumber(number)));
    const host = numberAt(port, 'hostPort') ?? 0;
    if (host !== 0) found.push(...complaints(`${where}.hostPort`, host, portNumber(host)));
    if (hostNetwork && host !== 0 && host !== number) {
      found.push(invalid(`${where}.hostPort`, host, 'must match `containerPort` when `hostNetwork` is true'));
    }
    if (stringAt(port, 'protocol') === '') found.push(required(`${where}.protocol`));
    else found.push(...oneOf(port, 'protocol', `${where}.protocol`, ['SCTP', 'TCP', 'UDP']));
  }
  return found;
}

/** What is wrong with a container, wherever it stands in the pod. */
export function containerViolations(container: UnknownRecord, field: string, context: PodContext): Violation[] {
  const name = stringAt(container, 'name');
  const image = stringAt(container, 'image');
  const found: Violation[] =
    name === '' ? [required(`${field}.name`)] : ifSet(container, 'name', `${field}.name`, dns1123Label);
  if (image === '') found.push(required(`${field}.image`));
  else if (image !== image.trim())
    found.push(invalid(`${field}.image`, image, 'must not have leading or trailing whitespace'));
  found.push(
    ...ports(container, field, context.hostNetwork),
    ...environment(container, field),
    ...mounts(container, field, context),
    ...oneOf(container, 'imagePullPolicy', `${field}.imagePullPolicy`, ['Always', 'IfNotPresent', 'Never']),
    ...oneOf(container, 'terminationMessagePolicy', `${field}.terminationMessagePolicy`, [
      'FallbackToLogsOnError',
      'File',
    ]),
    ...resourceViolations(recordAt(container, 'resources'), `${field}.resources`),
    ...containerSecurity(container, field),
  );
  return found;
}
