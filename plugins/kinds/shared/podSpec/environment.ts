import type { EphemeralContainer, EnvVar } from '../../../../kinds/v1.js';
import { dns1123Subdomain, patternText } from '../../../../core/model/names.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { toViolations } from '../violations.js';
import { ENVIRONMENT_FIELDS, validateFieldRef, validateResourceFieldRef } from './volumes/fieldReferences.js';

const CONFIG_KEY = patternText(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  '[-._a-zA-Z0-9]+',
  'key.name',
  'KEY_NAME',
  'key-name',
);

const ENV_NAME = "a valid environment variable name must consist only of printable ASCII characters other than '='";

const validateEnvName = (name: string, field: string): Violation[] =>
  /^[ -<>-~]+$/.test(name) ? [] : [invalid(field, name, ENV_NAME)];

const LONGEST_KEY = 253;

/** A key of a ConfigMap or Secret. */
function validateKeyReference(key: string, field: string): Violation[] {
  if (key === '') return [required(field)];
  if (Buffer.byteLength(key) > LONGEST_KEY)
    return [invalid(field, key, `must be no more than ${LONGEST_KEY} characters`)];
  if (/^[-._a-zA-Z0-9]+$/.test(key))
    return key === '.' || key === '..' ? [invalid(field, key, `must not be '${key}'`)] : [];
  return [invalid(field, key, CONFIG_KEY)];
}

function validateValueFrom(variable: EnvVar, field: string): Violation[] {
  const source = variable.valueFrom;
  if (!source) return [];
  const kinds = (['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'] as const).filter(
    kind => source[kind],
  );
  const found: Violation[] = [];
  if (source.fieldRef) found.push(...validateFieldRef(source.fieldRef, `${field}.fieldRef`, ENVIRONMENT_FIELDS));
  if (source.resourceFieldRef)
    found.push(...validateResourceFieldRef(source.resourceFieldRef, `${field}.resourceFieldRef`, false));
  for (const kind of ['configMapKeyRef', 'secretKeyRef'] as const) {
    const reference = source[kind];
    if (!reference) continue;
    const name = reference.name ?? '';
    found.push(
      ...toViolations(`${field}.${kind}.name`, name, dns1123Subdomain(name)),
      ...validateKeyReference(reference.key, `${field}.${kind}.key`),
    );
  }
  if (kinds.length === 0) {
    found.push(
      invalid(field, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'),
    );
  } else if ((variable.value ?? '') !== '')
    found.push(invalid(field, '', 'may not be specified when `value` is not empty'));
  else if (kinds.length > 1) found.push(invalid(field, '', 'may not have more than one field specified at a time'));
  return found;
}

/** Violations of the environment variables of a container and their sources. */
export function validateEnvironment(container: EphemeralContainer, field: string): Violation[] {
  const found: Violation[] = [];
  for (const [i, variable] of (container.env ?? []).entries()) {
    const where = `${field}.env[${i}]`;
    const name = variable.name;
    found.push(...(name === '' ? [required(`${where}.name`)] : validateEnvName(name, `${where}.name`)));
    found.push(...validateValueFrom(variable, `${where}.valueFrom`));
  }
  for (const [i, source] of (container.envFrom ?? []).entries()) {
    const where = `${field}.envFrom[${i}]`;
    const prefix = source.prefix ?? '';
    if (prefix !== '') found.push(...validateEnvName(prefix, `${where}.prefix`));
    const kinds = (['configMapRef', 'secretRef'] as const).filter(kind => source[kind]);
    for (const kind of kinds) {
      const name = source[kind]?.name ?? '';
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
