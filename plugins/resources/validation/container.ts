import { dns1123Label, dns1123Subdomain, patternText, qualifiedName } from '../../../core/model/names.js';
import {
  duplicate,
  forbiddenField,
  invalid,
  notFoundField,
  notSupported,
  required,
  type Violation,
  Literal,
} from '../../../core/model/refusal.js';
import { compareQuantities, isInteger, quantityOf, ZERO_QUANTITY } from '../../../core/model/quantity.js';
import { absent, at, entries, get, list, num, type Rec, strings, text } from '../record.js';
import { complaints, ifSet, notNegative, oneOf, portName, portNumber, portOrName, userId } from './checks.js';

/** What containers of one pod have to be checked against. */
export interface PodContext {
  readonly volumes: ReadonlyMap<string, Rec>;
  readonly hostNetwork: boolean;
  readonly grace: number;
}

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

const envName = (name: string, field: string): Violation[] =>
  /^[ -<>-~]+$/.test(name) ? [] : [invalid(field, name, ENV_NAME)];

/** A key of a ConfigMap or Secret. */
export function configKey(key: string, field: string): Violation[] {
  if (key === '') return [required(field)];
  if (/^[-._a-zA-Z0-9]+$/.test(key))
    return key === '.' || key === '..' ? [invalid(field, key, `must not be '${key}'`)] : [];
  return [invalid(field, key, CONFIG_KEY)];
}

function fieldRef(reference: Rec, field: string): Violation[] {
  const path = text(reference, 'fieldPath');
  if (path === '') return [required(`${field}.fieldPath`)];
  if (text(reference, 'apiVersion') !== 'v1') {
    return [
      invalid(
        `${field}.fieldPath`,
        path,
        `error converting fieldPath: unsupported pod version: ${text(reference, 'apiVersion')}`,
      ),
    ];
  }
  if (/^metadata\.(labels|annotations)\['[^']+'\]$/.test(path)) return [];
  if (!KNOWN_FIELDS.has(path))
    return [invalid(`${field}.fieldPath`, path, `error converting fieldPath: field label not supported: ${path}`)];
  return ENV_FIELDS.includes(path) ? [] : [notSupported(`${field}.fieldPath`, path, ENV_FIELDS)];
}

/** What amounts of processors may be shown in: as they are, or thousandths. */
const CPU_DIVISORS = ['0', '1', '1m'].map(quantityOf);

function resourceRef(reference: Rec, field: string): Violation[] {
  const resource = text(reference, 'resource');
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

function valueFrom(variable: Rec, field: string): Violation[] {
  const source = at(variable, 'valueFrom');
  if (!source) return [];
  const kinds = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'].filter(kind => at(source, kind));
  const found: Violation[] = [];
  for (const kind of kinds) {
    const where = `${field}.${kind}`;
    const reference = at(source, kind) ?? {};
    if (kind === 'fieldRef') found.push(...fieldRef(reference, where));
    else if (kind === 'resourceFieldRef') found.push(...resourceRef(reference, where));
    else {
      found.push(...complaints(`${where}.name`, text(reference, 'name'), dns1123Subdomain(text(reference, 'name'))));
      found.push(...configKey(text(reference, 'key'), `${where}.key`));
    }
  }
  if (kinds.length === 0) {
    found.push(
      invalid(field, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'),
    );
  } else if (text(variable, 'value') !== '')
    found.push(invalid(field, '', 'may not be specified when `value` is not empty'));
  else if (kinds.length > 1) found.push(invalid(field, '', 'may not have more than one field specified at a time'));
  return found;
}

function environment(container: Rec, field: string): Violation[] {
  const found: Violation[] = [];
  for (const [i, variable] of list(container, 'env').entries()) {
    const where = `${field}.env[${i}]`;
    const name = text(variable, 'name');
    found.push(...(name === '' ? [required(`${where}.name`)] : envName(name, `${where}.name`)));
    found.push(...valueFrom(variable, `${where}.valueFrom`));
  }
  for (const [i, source] of list(container, 'envFrom').entries()) {
    const where = `${field}.envFrom[${i}]`;
    const prefix = text(source, 'prefix');
    if (prefix !== '') found.push(...envName(prefix, `${where}.prefix`));
    const kinds = ['configMapRef', 'secretRef'].filter(kind => at(source, kind));
    for (const kind of kinds) {
      const name = text(at(source, kind), 'name');
      found.push(
        ...(name === ''
          ? [required(`${where}.${kind}.name`)]
          : complaints(`${where}.${kind}.name`, name, dns1123Subdomain(name))),
      );
    }
    if (kinds.length === 0)
      found.push(invalid(`${field}.envFrom`, '', 'must specify one of: `configMapRef` or `secretRef`'));
    if (kinds.length > 1)
      found.push(invalid(`${field}.envFrom`, '', 'may not have more than one field specified at a time'));
  }
  return found;
}

function ports(container: Rec, field: string, hostNetwork: boolean): Violation[] {
  const found: Violation[] = [];
  const names = new Set<string>();
  for (const [i, port] of list(container, 'ports').entries()) {
    const where = `${field}.ports[${i}]`;
    const name = text(port, 'name');
    if (name !== '') {
      const wrong = portName(name);
      found.push(...complaints(`${where}.name`, name, wrong));
      if (wrong.length === 0 && names.has(name)) found.push(duplicate(`${where}.name`, name));
      names.add(name);
    }
    const number = num(port, 'containerPort') ?? 0;
    if (number === 0) found.push(required(`${where}.containerPort`));
    else found.push(...complaints(`${where}.containerPort`, number, portNumber(number)));
    const host = num(port, 'hostPort') ?? 0;
    if (host !== 0) found.push(...complaints(`${where}.hostPort`, host, portNumber(host)));
    if (hostNetwork && host !== 0 && host !== number) {
      found.push(invalid(`${where}.hostPort`, host, 'must match `containerPort` when `hostNetwork` is true'));
    }
    if (text(port, 'protocol') === '') found.push(required(`${where}.protocol`));
    else found.push(...oneOf(port, 'protocol', `${where}.protocol`, ['SCTP', 'TCP', 'UDP']));
  }
  return found;
}

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

function handler(owner: Rec, field: string, grace: number): Violation[] {
  const kinds = HANDLERS.filter(kind => at(owner, kind));
  if (kinds.length === 0) return [required(field, 'must specify a handler type')];
  const found: Violation[] = kinds
    .slice(1)
    .map(kind => forbiddenField(`${field}.${kind}`, 'may not specify more than 1 handler type'));
  const kind = kinds[0];
  const body = at(owner, kind ?? '') ?? {};
  const where = `${field}.${kind}`;
  if (kind === 'exec' && strings(body, 'command').length === 0) found.push(required(`${where}.command`));
  if (kind === 'tcpSocket') found.push(...portOrName(body, 'port', `${where}.port`));
  if (kind === 'grpc')
    found.push(...complaints(`${where}.port`, num(body, 'port') ?? 0, portNumber(num(body, 'port'))));
  if (kind === 'httpGet') {
    if (text(body, 'path') === '') found.push(required(`${where}.path`));
    found.push(
      ...portOrName(body, 'port', `${where}.port`),
      ...oneOf(body, 'scheme', `${where}.scheme`, ['HTTP', 'HTTPS']),
    );
    for (const header of list(body, 'httpHeaders')) {
      const name = text(header, 'name');
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
  const seconds = num(body, 'seconds') ?? 0;
  if (kind === 'sleep' && (seconds <= 0 || seconds > grace)) {
    const why = `must be greater than 0 and less than terminationGracePeriodSeconds (${grace}). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.`;
    found.push(invalid(where, seconds, why));
  }
  return found;
}

function probe(container: Rec, member: string, field: string, grace: number): Violation[] {
  const owner = at(container, member);
  if (!owner) return [];
  const where = `${field}.${member}`;
  const found = handler(owner, where, grace);
  for (const count of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ]) {
    found.push(...notNegative(owner, count, `${where}.${count}`));
  }
  const end = num(owner, 'terminationGracePeriodSeconds');
  if (member === 'readinessProbe') {
    if (end !== undefined)
      found.push(invalid(`${where}.terminationGracePeriodSeconds`, end, 'must not be set for readinessProbes'));
    return found;
  }
  if (end !== undefined && end <= 0)
    found.push(invalid(`${where}.terminationGracePeriodSeconds`, end, 'must be greater than 0'));
  const success = num(owner, 'successThreshold');
  if (success !== 1) found.push(invalid(`${where}.successThreshold`, success ?? 0, 'must be 1'));
  return found;
}

function mounts(container: Rec, field: string, context: PodContext): Violation[] {
  const found: Violation[] = [];
  const paths = new Set<string>();
  for (const [i, mount] of list(container, 'volumeMounts').entries()) {
    const where = `${field}.volumeMounts[${i}]`;
    const [name, path] = [text(mount, 'name'), text(mount, 'mountPath')];
    if (name === '') found.push(required(`${where}.name`));
    if (!context.volumes.has(name)) found.push(notFoundField(`${where}.name`, name));
    if (path === '') found.push(required(`${where}.mountPath`));
    if (paths.has(path)) found.push(invalid(`${where}.mountPath`, path, 'must be unique'));
    paths.add(path);
    found.push(...subPath(mount, `${field}.volumeMounts`, where));
    found.push(...propagation(mount, container, `${field}.volumeMounts`));
  }
  for (const [i, device] of list(container, 'volumeDevices').entries()) {
    const where = `${field}.volumeDevices[${i}]`;
    const [name, path] = [text(device, 'name'), text(device, 'devicePath')];
    if (name === '') found.push(required(`${where}.name`));
    const volume = context.volumes.get(name);
    if (!volume) found.push(notFoundField(`${where}.name`, name));
    else if (!at(volume, 'persistentVolumeClaim') && !at(volume, 'ephemeral')) {
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

function subPath(mount: Rec, field: string, where: string): Violation[] {
  const found: Violation[] = [];
  for (const member of ['subPath', 'subPathExpr']) {
    const value = text(mount, member);
    if (value === '') continue;
    if (member === 'subPathExpr' && text(mount, 'subPath') !== '') {
      found.push(invalid(`${where}.subPathExpr`, value, 'subPathExpr and subPath are mutually exclusive'));
    }
    if (value.startsWith('/')) found.push(invalid(`${field}.${member}`, value, 'must be a relative path'));
    if (value.split('/').includes('..')) found.push(invalid(`${field}.${member}`, value, "must not contain '..'"));
  }
  return found;
}

function propagation(mount: Rec, container: Rec, field: string): Violation[] {
  const value = text(mount, 'mountPropagation');
  const found = oneOf(
    mount,
    'mountPropagation',
    `${field}.mountPropagation`,
    ['Bidirectional', 'HostToContainer', 'None'],
    false,
  );
  if (value === 'Bidirectional' && at(container, 'securityContext')?.privileged !== true) {
    found.push(
      forbiddenField(
        `${field}.mountPropagation`,
        'Bidirectional mount propagation is available only to privileged containers',
      ),
    );
  }
  const readOnly = text(mount, 'recursiveReadOnly');
  if (readOnly !== '' && readOnly !== 'Disabled' && mount.readOnly !== true) {
    found.push(forbiddenField(`${field}.recursiveReadOnly`, 'may only be specified when readOnly is true'));
  }
  return found;
}

const STANDARD = new Set(['cpu', 'memory', 'ephemeral-storage']);
const isPlain = (name: string): boolean => STANDARD.has(name) || name.startsWith('hugepages-');
const isExtended = (name: string): boolean => name.includes('/');

function resourceName(name: string, field: string): Violation[] {
  const found = complaints(field, name, qualifiedName(name)).map(v => ({
    ...v,
    message: v.message.replace(JSON.stringify(name), name),
  }));
  if (found.length > 0) return found;
  if (!isExtended(name) && !isPlain(name)) {
    const unqualified = [
      'pods',
      'services',
      'storage',
      'requests.cpu',
      'requests.memory',
      'limits.cpu',
      'limits.memory',
    ].includes(name)
      ? []
      : ['must be a standard resource type or fully qualified'];
    return [...unqualified, 'must be a standard resource for containers'].map(why => ({
      reason: 'FieldValueInvalid' as const,
      field,
      message: `Invalid value: ${name}: ${why}`,
    }));
  }
  return [];
}

/** What is wrong with requests and limits; `where` is the field of the resources. */
function resourceViolations(resources: Rec | undefined, where: string): Violation[] {
  const found: Violation[] = [];
  const limits = at(resources, 'limits');
  for (const kind of ['limits', 'requests']) {
    for (const [name, amount] of entries(resources, kind)) {
      const field = `${where}.${kind}[${name}]`;
      found.push(...resourceName(name, field));
      if (compareQuantities(quantityOf(amount), ZERO_QUANTITY) < 0)
        found.push(invalid(field, String(amount), 'must be greater than or equal to 0'));
      else if (isExtended(name) && !isInteger(quantityOf(amount)))
        found.push(
          invalid(field, new Literal(`resource.Quantity{s:${JSON.stringify(String(amount))}}`), 'must be an integer'),
        );
    }
  }
  for (const [name, amount] of entries(resources, 'requests')) {
    const limit = get(limits, name);
    const strict = isExtended(name) || name.startsWith('hugepages-');
    const over = compareQuantities(quantityOf(amount), quantityOf(limit));
    if (absent(limit)) {
      if (strict) found.push(required(`${where}.limits`, 'Limit must be set for non overcommitable resources'));
    } else if (strict && over !== 0) {
      found.push(invalid(`${where}.requests`, String(amount), `must be equal to ${name} limit of ${String(limit)}`));
    } else if (!strict && over > 0) {
      found.push(
        invalid(`${where}.requests`, String(amount), `must be less than or equal to ${name} limit of ${String(limit)}`),
      );
    }
  }
  const all = [...entries(resources, 'limits'), ...entries(resources, 'requests')].map(([name]) => name);
  if (all.some(name => name.startsWith('hugepages-')) && !all.some(name => name === 'cpu' || name === 'memory')) {
    found.push(forbiddenField(where, 'HugePages require cpu or memory'));
  }
  return found;
}

function security(container: Rec, field: string): Violation[] {
  const context = at(container, 'securityContext');
  if (!context) return [];
  const where = `${field}.securityContext`;
  const found = [
    ...userId(context, 'runAsUser', `${where}.runAsUser`),
    ...userId(context, 'runAsGroup', `${where}.runAsGroup`),
  ];
  found.push(...profiles(context, where));
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged === true) {
      found.push(invalid(where, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'));
    }
    if (strings(at(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN')) {
      found.push(
        invalid(where, context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'),
      );
    }
  }
  for (const member of ['gmsaCredentialSpec', 'runAsUserName']) {
    if (at(context, 'windowsOptions')?.[member] === '') {
      found.push(invalid(`${where}.windowsOptions.${member}`, '', `${member} cannot be an empty string`));
    }
  }
  return found;
}

/** Seccomp and AppArmor profiles, alike for pods and containers. */
export function profiles(context: Rec, where: string): Violation[] {
  const found: Violation[] = [];
  for (const [member, word] of [
    ['seccompProfile', 'seccomp'],
    ['appArmorProfile', 'AppArmor'],
  ] as const) {
    const profile = at(context, member);
    if (!profile) continue;
    const local = text(profile, 'type') === 'Localhost';
    found.push(...oneOf(profile, 'type', `${where}.${member}.type`, ['Localhost', 'RuntimeDefault', 'Unconfined']));
    if (local && text(profile, 'localhostProfile') === '') {
      found.push(required(`${where}.${member}.localhostProfile`, `must be set when ${word} type is Localhost`));
    }
    if (!local && !absent(profile.localhostProfile)) {
      found.push(
        invalid(
          `${where}.${member}.localhostProfile`,
          profile.localhostProfile,
          `can only be set when ${word} type is Localhost`,
        ),
      );
    }
  }
  return found;
}

/** What is wrong with a container, wherever it stands in the pod. */
export function containerViolations(container: Rec, field: string, context: PodContext): Violation[] {
  const name = text(container, 'name');
  const image = text(container, 'image');
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
    ...resourceViolations(at(container, 'resources'), `${field}.resources`),
    ...security(container, field),
  );
  return found;
}

/** Probes and lifecycle hooks of a container that may have them. */
export function lifeViolations(container: Rec, field: string, grace: number): Violation[] {
  const found: Violation[] = [];
  for (const hook of ['postStart', 'preStop']) {
    const owner = at(container, 'lifecycle', hook);
    if (owner) found.push(...handler(owner, `${field}.lifecycle.${hook}`, grace));
  }
  for (const member of ['livenessProbe', 'readinessProbe', 'startupProbe'])
    found.push(...probe(container, member, field, grace));
  return found;
}
