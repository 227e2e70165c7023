import type { EphemeralContainer, Container } from '../../../../kinds/v1.js';
import { dns1123Label } from '../../../../core/model/names.js';
import { duplicate, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { validateEnvironment } from './environment.js';
import { validateResources } from './resources.js';
import { validateContainerSecurity } from './securityContext.js';
import { validateMounts, type Volumes } from './volumes/volumeMounts.js';
import { portNameComplaints, portNumberComplaints } from '../ports.js';
import { toViolations, validateIfSet, validateOneOf } from '../violations.js';

/** The context of the validation of containers: the valid volumes of the pod, and members of its spec. */
export interface PodContext {
  readonly volumes: Volumes;
  readonly grace: number;
  /** Whether the containers are those of a pod, and not of a template. */
  readonly ofPod: boolean;
}

/** Checks that containers that use the network of the host have the same ports inside and outside. */
export const validateHostNetworkPorts = (containers: readonly Container[], field: string): Violation[] =>
  containers.flatMap((container, i) =>
    (container.ports ?? []).flatMap((port, j) => {
      const host = port.hostPort ?? 0;
      return host === 0 || host === port.containerPort
        ? []
        : [
            invalid(
              `${field}[${i}].ports[${j}].hostPort`,
              host,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          ];
    }),
  );

/** Collects the host ports of containers in `seen`, and reports those that are there already. */
export const validateUniqueHostPorts = (container: Container, field: string, seen: Set<string>): Violation[] =>
  (container.ports ?? []).flatMap((port, i) => {
    const host = port.hostPort ?? 0;
    if (host === 0) return [];
    const key = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${host}`;
    const known = seen.has(key);
    seen.add(key);
    return known ? [duplicate(`${field}.ports[${i}].hostPort`, key)] : [];
  });

function validatePorts(container: EphemeralContainer, field: string): Violation[] {
  const found: Violation[] = [];
  const names = new Set<string>();
  for (const [i, port] of (container.ports ?? []).entries()) {
    const where = `${field}.ports[${i}]`;
    const name = port.name ?? '';
    if (name !== '') {
      const wrong = portNameComplaints(name);
      found.push(...toViolations(`${where}.name`, name, wrong));
      if (wrong.length === 0 && names.has(name)) found.push(duplicate(`${where}.name`, name));
      names.add(name);
    }
    const number = port.containerPort;
    if (number === 0) found.push(required(`${where}.containerPort`));
    else found.push(...toViolations(`${where}.containerPort`, number, portNumberComplaints(number)));
    const host = port.hostPort ?? 0;
    if (host !== 0) found.push(...toViolations(`${where}.hostPort`, host, portNumberComplaints(host)));
    if ((port.protocol ?? '') === '') found.push(required(`${where}.protocol`));
    else found.push(...validateOneOf(port, 'protocol', `${where}.protocol`, ['SCTP', 'TCP', 'UDP']));
  }
  return found;
}

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];

/** Violations of a container in any of the lists. */
export function validateContainer(container: EphemeralContainer, field: string, context: PodContext): Violation[] {
  const name = container.name;
  const image = container.image ?? '';
  const found: Violation[] =
    name === '' ? [required(`${field}.name`)] : validateIfSet(container, 'name', `${field}.name`, dns1123Label);
  if (image === '') found.push(required(`${field}.image`));
  else if (context.ofPod && image !== image.trim())
    found.push(invalid(`${field}.image`, image, 'must not have leading or trailing whitespace'));
  found.push(
    ...validateOneOf(container, 'terminationMessagePolicy', `${field}.terminationMessagePolicy`, MESSAGE_POLICIES),
    ...validatePorts(container, field),
    ...validateEnvironment(container, field),
    ...validateMounts(container, field, context.volumes),
    ...validateOneOf(container, 'imagePullPolicy', `${field}.imagePullPolicy`, PULL_POLICIES),
    ...validateResources(container.resources, `${field}.resources`),
    ...validateContainerSecurity(container, field),
  );
  return found;
}
