import type { Registry, Resource } from '../resource.js';

/** Kinds that upstream registers in every version of every group. */
const OPTIONS: ReadonlySet<string> = new Set([
  ...['Create', 'Update', 'Patch', 'Delete', 'Get', 'List'].map(verb => `${verb}Options`),
  'WatchEvent',
]);
/** Kinds of answers, which upstream registers in the version `v1`. */
const ANSWERS: ReadonlySet<string> = new Set(['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList']);

/** The type into which upstream decodes all versions of a built-in kind, as its messages name it: `core.Pod`. */
export const internalType = ({ storageName, type, kind }: Resource): string =>
  `${storageName.startsWith('core/') ? 'core' : packageOf(type.id)}.${kind}`;

/** `apps` of `apps.v1.Deployment`. */
export const packageOf = (typeId: string): string => typeId.slice(0, typeId.indexOf('.'));

/** Upstream serves these groups in separate servers, which know no other kinds. */
const SERVERS: readonly string[] = ['apiextensions', 'apiregistration'];
const serverOf = (type: string): string => SERVERS.find(name => type.startsWith(`${name}.`)) ?? '';

/**
 * The type into which upstream decodes an object that claims this kind and version, on a path whose bodies have the
 * type `expected`; undefined for a kind that is not known there.
 */
export function decodedType(
  registry: Registry,
  expected: string,
  apiVersion: string,
  kind: string,
): string | undefined {
  const slash = apiVersion.indexOf('/');
  const version = apiVersion.slice(slash + 1);
  const known = registry.groups
    .get(slash < 0 ? '' : apiVersion.slice(0, slash))
    ?.versions.find(one => one.version === version);
  if (!known?.package || serverOf(known.package) !== serverOf(expected)) return undefined;
  if (OPTIONS.has(kind) || (apiVersion === 'v1' && ANSWERS.has(kind))) return `v1.${kind}`;
  if (known.otherKinds?.includes(kind)) return `${packageOf(known.package)}.${kind}`;
  for (const resource of known.resources.values()) {
    if (!resource.builtIn) continue;
    if (resource.kind === kind) return internalType(resource);
    if (resource.listType && resource.listKind === kind) return `${internalType(resource)}List`;
  }
  return undefined;
}
