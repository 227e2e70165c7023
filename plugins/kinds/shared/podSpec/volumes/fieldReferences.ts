import type { Quantity } from '../../../../../core/model/scalars.js';
import type { ObjectFieldSelector, ResourceFieldSelector } from '../../../../../kinds/v1.js';
import { qualifiedName } from '../../../../../core/model/names.js';
import { canonicalQuantity, quantityOf, ZERO_QUANTITY, compareQuantities } from '../../../../../core/model/quantity.js';
import { invalid, notSupported, required, type Violation } from '../../../../../core/model/refusal.js';
import { toViolations } from '../../violations.js';

/** Paths of fields that a reference to a field of the pod may have anywhere. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.host',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

/** Fields that environment variables may have as their value. */
export const ENVIRONMENT_FIELDS = [
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

/** Fields that files of volumes may have as their content. */
export const FILE_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** The parts of `OWNER['KEY']`; undefined for other paths. */
function splitSubscript(path: string): { readonly owner: string; readonly key: string } | undefined {
  const at = path.indexOf("['", 1);
  if (at < 0 || path.length < at + 4 || !path.endsWith("']")) return undefined;
  return { owner: path.slice(0, at), key: path.slice(at + 2, -2) };
}

/** Fields that have keys, with the form of a key. */
const KEYED: ReadonlyMap<string, (key: string) => string> = new Map([
  ['metadata.annotations', key => key.toLowerCase()],
  ['metadata.labels', key => key],
]);

/** Violations of a reference to a field of the pod, which must be one of `supported` or a label or annotation. */
export function validateFieldRef(
  reference: ObjectFieldSelector,
  field: string,
  supported: readonly string[],
): Violation[] {
  const [version, path] = [reference.apiVersion ?? '', reference.fieldPath];
  if (version === '') return [required(`${field}.apiVersion`)];
  if (path === '') return [required(`${field}.fieldPath`)];
  const refuse = (why: string): Violation[] => [
    invalid(`${field}.fieldPath`, path, `error converting fieldPath: ${why}`),
  ];
  if (version !== 'v1') return refuse(`unsupported pod version: ${version}`);
  const subscript = splitSubscript(path);
  if (subscript) {
    const form = KEYED.get(subscript.owner);
    return form
      ? toViolations(field, subscript.key, qualifiedName(form(subscript.key)))
      : refuse(`field label does not support subscript: ${path}`);
  }
  if (!KNOWN_FIELDS.has(path)) return refuse(`field label not supported: ${path}`);
  const name = path === 'spec.host' ? 'spec.nodeName' : path;
  return supported.includes(name) ? [] : [notSupported(`${field}.fieldPath`, name, supported)];
}

const RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

const BYTES = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** The valid divisors of the amount of a resource, with the words for the resource in messages. */
function unitsOf(resource: string): { readonly units: readonly string[]; readonly what: string } | undefined {
  const name = resource.replace(/^(limits|requests)\./, '');
  if (name === 'cpu') return { units: ['1m', '1'], what: 'cpu' };
  if (name === 'memory') return { units: BYTES, what: 'memory' };
  if (name === 'ephemeral-storage') return { units: BYTES, what: 'local ephemeral storage' };
  return name.startsWith('hugepages-') ? { units: BYTES, what: 'hugepages' } : undefined;
}

function validateDivisor(resource: string, divisor: Quantity, field: string): Violation[] {
  const units = unitsOf(resource);
  if (!units || compareQuantities(quantityOf(divisor), ZERO_QUANTITY) === 0) return [];
  const text = canonicalQuantity(divisor, () => {
    throw new TypeError(`${field}.divisor is not a quantity`);
  });
  if (units.units.includes(text)) return [];
  const list = units.what === 'cpu' ? '1m and 1' : units.units.join(', ');
  const why = `only divisor's values ${list} are supported with the ${units.what} resource`;
  return [invalid(`${field}.divisor`, resource, why)];
}

/** Violations of a reference to the resources of a container. In volumes, it must name the container. */
export function validateResourceFieldRef(
  reference: ResourceFieldSelector,
  field: string,
  inVolume: boolean,
): Violation[] {
  const { resource } = reference;
  const found: Violation[] = [];
  if (inVolume && (reference.containerName ?? '') === '') found.push(required(`${field}.containerName`));
  else if (resource === '') found.push(required(`${field}.resource`));
  else if (!RESOURCES.includes(resource) && !/^(limits|requests)\.hugepages-/.test(resource))
    found.push(notSupported(`${field}.resource`, resource, RESOURCES));
  return [...found, ...validateDivisor(resource, reference.divisor, field)];
}
