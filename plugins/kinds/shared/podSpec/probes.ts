import { patternText } from '../../../../core/model/names.js';
import {
  numberAt,
  recordAt,
  recordsAt,
  stringAt,
  stringsAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import { forbiddenField, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { portNumberComplaints, validatePortOrName } from '../ports.js';
import { toViolations, validateNotNegative, validateOneOf } from '../violations.js';

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

function validateHandler(owner: UnknownRecord, field: string, grace: number): Violation[] {
  const kinds = HANDLERS.filter(kind => recordAt(owner, kind));
  if (kinds.length === 0) return [required(field, 'must specify a handler type')];
  const found: Violation[] = kinds
    .slice(1)
    .map(kind => forbiddenField(`${field}.${kind}`, 'may not specify more than 1 handler type'));
  const kind = kinds[0];
  const body = recordAt(owner, kind ?? '') ?? {};
  const where = `${field}.${kind}`;
  if (kind === 'exec' && stringsAt(body, 'command').length === 0) found.push(required(`${where}.command`));
  if (kind === 'tcpSocket') found.push(...validatePortOrName(body, 'port', `${where}.port`));
  if (kind === 'grpc')
    found.push(
      ...toViolations(`${where}.port`, numberAt(body, 'port') ?? 0, portNumberComplaints(numberAt(body, 'port'))),
    );
  if (kind === 'httpGet') {
    if (stringAt(body, 'path') === '') found.push(required(`${where}.path`));
    found.push(
      ...validatePortOrName(body, 'port', `${where}.port`),
      ...validateOneOf(body, 'scheme', `${where}.scheme`, ['HTTP', 'HTTPS']),
    );
    for (const header of recordsAt(body, 'httpHeaders')) {
      const name = stringAt(header, 'name');
      if (!/^[-A-Za-z0-9]+$/.test(name)) {
        const why = patternText(
          "a valid HTTP header must consist of alphanumeric characters or '-'",
          '[-A-Za-z0-9]+',
          'X-Header-Name',
        );
        found.push(invalid(`${where}.httpHeaders`, name, why));
      }
    }
  }
  const seconds = numberAt(body, 'seconds') ?? 0;
  if (kind === 'sleep' && (seconds <= 0 || seconds > grace)) {
    const why = `must be greater than 0 and less than terminationGracePeriodSeconds (${grace}). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.`;
    found.push(invalid(where, seconds, why));
  }
  return found;
}

function validateProbe(container: UnknownRecord, member: string, field: string, grace: number): Violation[] {
  const owner = recordAt(container, member);
  if (!owner) return [];
  const where = `${field}.${member}`;
  const found = validateHandler(owner, where, grace);
  for (const count of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ]) {
    found.push(...validateNotNegative(owner, count, `${where}.${count}`));
  }
  const end = numberAt(owner, 'terminationGracePeriodSeconds');
  const endField = `${where}.terminationGracePeriodSeconds`;
  if (end !== undefined && end <= 0) found.push(invalid(endField, end, 'must be greater than 0'));
  if (member === 'readinessProbe') {
    if (end !== undefined) found.push(invalid(endField, end, 'must not be set for readinessProbes'));
    return found;
  }
  const success = numberAt(owner, 'successThreshold');
  if (success !== 1) found.push(invalid(`${where}.successThreshold`, success ?? 0, 'must be 1'));
  return found;
}

/** Violations of the lifecycle hooks and probes of a container that may have them. */
export function validateLifecycle(container: UnknownRecord, field: string, grace: number): Violation[] {
  const found: Violation[] = [];
  for (const hook of ['postStart', 'preStop']) {
    const owner = recordAt(container, 'lifecycle', hook);
    if (owner) found.push(...validateHandler(owner, `${field}.lifecycle.${hook}`, grace));
  }
  for (const member of ['livenessProbe', 'readinessProbe', 'startupProbe'])
    found.push(...validateProbe(container, member, field, grace));
  return found;
}
