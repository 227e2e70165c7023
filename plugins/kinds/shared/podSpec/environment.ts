import { dns1123Subdomain, patternText } from '../../../../core/model/names.js';
import { compareQuantities, quantityOf } from '../../../../core/model/quantity.js';
import { recordAt, recordsAt, stringAt, type UnknownRecord } from '../../../../core/model/record.js';
import { invalid, notSupported, required, type Violation } from '../../../../core/model/refusal.js';
import { toViolations } from '../violations.js';

const CONFIG_KEY = patternText(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  '[-._a-zA-Z0-9]+',
  'key.name',
  'KEY_NAME',
  'key-name',
);

const ENV_NAME = "a valid environment variable name must consist only of printable ASCII characters other than '='";

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

const KNOWN_FIELDS = new Set([
  ...ENV_FIELDS,
  'metadata.labels',
  'metadata.annotations',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

const ENV_RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

const validateEnvName = (name: string, field: string): Violation[] =>
  /^[ -<>-~]+$/.test(name) ? [] : [invalid(field, name, ENV_NAME)];

/** A key of a ConfigMap or Secret. */
export function validateKeyReference(key: string, field: string): Violation[] {
  if (key === '') return [required(field)];
  if (/^[-._a-zA-Z0-9]+$/.test(key))
    return key === '.' || key === '..' ? [invalid(field, key, `must not be '${key}'`)] : [];
  return [invalid(field, key, CONFIG_KEY)];
}

function validateFieldRef(reference: UnknownRecord, field: string): Violation[] {
  const path = stringAt(reference, 'fieldPath');
  if (path === '') return [required(`${field}.fieldPath`)];
  if (stringAt(reference, 'apiVersion') !== 'v1') {
    return [
      invalid(
        `${field}.fieldPath`,
        path,
        `error converting fieldPath: unsupported pod version: ${stringAt(reference, 'apiVersion')}`,
      ),
    ];
  }
  if (/^metadata\.(labels|annotations)\['[^']+'\]$/.test(path)) return [];
  if (!KNOWN_FIELDS.has(path))
    return [invalid(`${field}.fieldPath`, path, `error converting fieldPath: field label not supported: ${path}`)];
  return ENV_FIELDS.includes(path) ? [] : [notSupported(`${field}.fieldPath`, path, ENV_FIELDS)];
}

/** Divisors for amounts of CPU: whole numbers and thousandths. */
const CPU_DIVISORS = ['0', '1', '1m'].map(quantityOf);

function validateResourceFieldRef(reference: UnknownRecord, field: string): Violation[] {
  const resource = stringAt(reference, 'resource');
  if (resource === '') return [required(`${field}.resource`)];
  if (!ENV_RESOURCES.includes(resource) && !/^(limits|requests)\.hugepages-/.test(resource)) {
    return [notSupported(`${field}.resource`, resource, ENV_RESOURCES)];
  }
  const divisor = quantityOf(reference.divisor);
  if (resource.endsWith('.cpu') && !CPU_DIVISORS.some(one => compareQuantities(one, divisor) === 0)) {
    return [
      invalid(`${field}.divisor`, resource, "only divisor's values 1m and 1 are supported with the cpu resource"),
    ];
  }
  return [];
}

function validateValueFrom(variable: UnknownRecord, field: string): Violation[] {
  const source = recordAt(variable, 'valueFrom');
  if (!source) return [];
  const kinds = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'].filter(kind =>
    recordAt(source, kind),
  );
  const found: Violation[] = [];
  for (const kind of kinds) {
    const where = `${field}.${kind}`;
    const reference = recordAt(source, kind) ?? {};
    if (kind === 'fieldRef') found.push(...validateFieldRef(reference, where));
    else if (kind === 'resourceFieldRef') found.push(...validateResourceFieldRef(reference, where));
    else {
      found.push(
        ...toViolations(`${where}.name`, stringAt(reference, 'name'), dns1123Subdomain(stringAt(reference, 'name'))),
      );
      found.push(...validateKeyReference(stringAt(reference, 'key'), `${where}.key`));
    }
  }
  if (kinds.length === 0) {
    found.push(
      invalid(field, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'),
    );
  } else if (stringAt(variable, 'value') !== '')
    found.push(invalid(field, '', 'may not be specified when `value` is not empty'));
  else if (kinds.length > 1) found.push(invalid(field, '', 'may not have more than one field specified at a time'));
  return found;
}

/** Violations of the environment variables of a container and their sources. */
export function validateEnvironment(container: UnknownRecord, field: string): Violation[] {
  const found: Violation[] = [];
  for (const [i, variable] of recordsAt(container, 'env').entries()) {
    const where = `${field}.env[${i}]`;
    const name = stringAt(variable, 'name');
    found.push(...(name === '' ? [required(`${where}.name`)] : validateEnvName(name, `${where}.name`)));
    found.push(...validateValueFrom(variable, `${where}.valueFrom`));
  }
  for (const [i, source] of recordsAt(container, 'envFrom').entries()) {
    const where = `${field}.envFrom[${i}]`;
    const prefix = stringAt(source, 'prefix');
    if (prefix !== '') found.push(...validateEnvName(prefix, `${where}.prefix`));
    const kinds = ['configMapRef', 'secretRef'].filter(kind => recordAt(source, kind));
    for (const kind of kinds) {
      const name = stringAt(source, kind, 'name');
      found.push(
        ...(name === ''
          ? [required(`${where}.${kind}.name`)]
          : toViolations(`${where}.${kind}.name`, name, dns1123Subdomain(name))),
      );
    }
    if (kinds.length === 0)
      found.push(invalid(`${field}.envFrom`, '', 'must specify one of: `configMapRef` or `secretRef`'));
    if (kinds.length > 1)
      found.push(invalid(`${field}.envFrom`, '', 'may not have more than one field specified at a time'));
  }
  return found;
}
