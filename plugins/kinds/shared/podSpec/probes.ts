import type { HTTPGetAction, LifecycleHandler, ProbeHandler, Container } from '../../../../kinds/v1.js';
import { toNumber } from '../../../../core/model/scalars.js';
import { patternText } from '../../../../core/model/names.js';
import { forbiddenField, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { portNumberComplaints, validatePortOrName } from '../ports.js';
import { toViolations, validateNotNegative, validateOneOf } from '../violations.js';

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

/** The actions of a probe or a hook. */
type Handler = Partial<LifecycleHandler & ProbeHandler>;

function validateHandler(owner: Handler, field: string, grace: number): Violation[] {
  const kinds = HANDLERS.filter(kind => owner[kind]);
  const [kind] = kinds;
  if (kind === undefined) return [required(field, 'must specify a handler type')];
  return [
    ...validateAction(owner, kind, `${field}.${kind}`, grace),
    ...kinds.slice(1).map(extra => forbiddenField(`${field}.${extra}`, 'may not specify more than 1 handler type')),
  ];
}

function validateAction(owner: Handler, kind: (typeof HANDLERS)[number], where: string, grace: number): Violation[] {
  switch (kind) {
    case 'exec':
      return (owner.exec?.command ?? []).length === 0 ? [required(`${where}.command`)] : [];
    case 'tcpSocket':
      return validatePortOrName(owner.tcpSocket?.port, `${where}.port`);
    case 'grpc': {
      const port = owner.grpc?.port ?? 0;
      return toViolations(`${where}.port`, port, portNumberComplaints(port));
    }
    case 'httpGet':
      return owner.httpGet ? validateHttp(owner.httpGet, where) : [];
    case 'sleep':
      return validateSleep(Number(owner.sleep?.seconds ?? 0), where, grace);
  }
}

function validateHttp(action: HTTPGetAction, where: string): Violation[] {
  const found = [
    ...((action.path ?? '') === '' ? [required(`${where}.path`)] : []),
    ...validatePortOrName(action.port, `${where}.port`),
    ...validateOneOf(action, 'scheme', `${where}.scheme`, ['HTTP', 'HTTPS']),
  ];
  for (const { name } of action.httpHeaders ?? []) {
    if (/^[-A-Za-z0-9]+$/.test(name)) continue;
    const why = patternText(
      "a valid HTTP header must consist of alphanumeric characters or '-'",
      '[-A-Za-z0-9]+',
      'X-Header-Name',
    );
    found.push(invalid(`${where}.httpHeaders`, name, why));
  }
  return found;
}

function validateSleep(seconds: number, where: string, grace: number): Violation[] {
  if (seconds > 0 && seconds <= grace) return [];
  const why = `must be greater than 0 and less than terminationGracePeriodSeconds (${grace}). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.`;
  return [invalid(where, seconds, why)];
}

function validateProbe(
  container: Container,
  member: 'livenessProbe' | 'readinessProbe' | 'startupProbe',
  field: string,
  grace: number,
): Violation[] {
  const owner = container[member];
  if (!owner) return [];
  const where = `${field}.${member}`;
  const found = validateHandler(owner, where, grace);
  for (const count of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const) {
    found.push(...validateNotNegative(owner, count, `${where}.${count}`));
  }
  const end = toNumber(owner.terminationGracePeriodSeconds);
  const endField = `${where}.terminationGracePeriodSeconds`;
  if (end !== undefined && end <= 0) found.push(invalid(endField, end, 'must be greater than 0'));
  if (member === 'readinessProbe') {
    if (end !== undefined) found.push(invalid(endField, end, 'must not be set for readinessProbes'));
    return found;
  }
  const success = owner.successThreshold;
  if (success !== 1) found.push(invalid(`${where}.successThreshold`, success ?? 0, 'must be 1'));
  return found;
}

/** Violations of the lifecycle hooks and probes of a container of a kind that may have them. */
export function validateLifecycle(container: Container, field: string, grace: number): Violation[] {
  const found: Violation[] = [];
  for (const hook of ['postStart', 'preStop'] as const) {
    const owner = container.lifecycle?.[hook];
    if (owner) found.push(...validateHandler(owner, `${field}.lifecycle.${hook}`, grace));
  }
  for (const member of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const)
    found.push(...validateProbe(container, member, field, grace));
  return found;
}
