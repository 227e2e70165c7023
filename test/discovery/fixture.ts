import type { Strategy } from '../../core/api/strategy.js';
import type { Group, GroupVersion, Registry, Resource, Subresource } from '../../core/schema/resource.js';

const STRATEGY: Strategy = {
  checkName: () => [],
  hasGeneration: true,
  hasStatus: true,
  allowCreateOnUpdate: false,
  allowUnconditionalUpdate: true,
  returnsDeletedObject: false,
  orphansByDefault: false,
  applyDefaults: () => {},
  prepareCreate: () => {},
  prepareUpdate: () => {},
  prepareStatus: () => {},
  validateCreate: () => [],
  validateUpdate: () => [],
  validateStatus: () => [],
  gracePeriod: () => 0,
  selectableFields: new Map(),
  fieldAliases: new Map(),
};

/** A subresource, by default in the group of its parent. */
export const sub = (
  name: string,
  kind: string,
  verbs: readonly string[],
  group = 'apps',
  version = 'v1',
): Subresource => ({
  name,
  kind,
  group,
  version,
  verbs,
});

/** A resource with the usual verbs. */
export function resource(group: string, version: string, kind: string, rest: Partial<Resource> = {}): Resource {
  const plural = rest.plural ?? `${kind.toLowerCase()}s`;
  return {
    group,
    version,
    apiVersion: group ? `${group}/${version}` : version,
    plural,
    singular: kind.toLowerCase(),
    kind,
    listKind: `${kind}List`,
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
    subresources: new Map(),
    type: { is: 'struct', id: `${group || 'core'}.${version}.${kind}`, typeMeta: true, fields: [], field: new Map() },
    stored: true,
    builtIn: true,
    storageName: `${group || 'core'}/${plural}`,
    storageApiVersion: group ? `${group}/${version}` : version,
    strategy: STRATEGY,
    ...rest,
  };
}

const groupVersion = (group: string, version: string, resources: readonly Resource[], served = true): GroupVersion => ({
  group,
  version,
  apiVersion: group ? `${group}/${version}` : version,
  stability: 'ga',
  served,
  resources: new Map(resources.map(r => [r.plural, r])),
});

/** A registry of a few resources, sufficient for discovery. */
export function fixtureRegistry(generation = 1): Registry {
  const deployments = resource('apps', 'v1', 'Deployment', {
    shortNames: ['deploy'],
    categories: ['all'],
    subresources: new Map([
      ['status', sub('status', 'Deployment', ['get', 'update', 'patch'])],
      ['scale', sub('scale', 'Scale', ['get', 'update', 'patch'], 'autoscaling', 'v1')],
    ]),
  });
  const widgets = resource('toys.example.com', 'v1', 'Widget', {
    builtIn: false,
    subresources: new Map([
      ['scale', sub('scale', 'Scale', ['get', 'patch', 'update'], 'autoscaling', 'v1')],
      ['status', sub('status', 'Widget', ['get', 'patch', 'update'], 'toys.example.com')],
    ]),
  });
  const hpa = (version: string): Resource =>
    resource('autoscaling', version, 'HorizontalPodAutoscaler', { storageApiVersion: 'autoscaling/v2' });
  const groups: Group[] = [
    {
      name: '',
      priority: 18000,
      preferred: 'v1',
      versions: [
        groupVersion('', 'v1', [
          resource('', 'v1', 'Pod'),
          resource('', 'v1', 'Binding', { stored: false, verbs: ['create'] }),
        ]),
      ],
    },
    {
      name: 'toys.example.com',
      priority: 1000,
      preferred: 'v1',
      versions: [groupVersion('toys.example.com', 'v1', [widgets])],
    },
    {
      name: 'apps',
      priority: 17800,
      preferred: 'v1',
      versions: [groupVersion('apps', 'v1', [deployments, resource('apps', 'v1', 'ControllerRevision')])],
    },
    {
      name: 'autoscaling',
      priority: 17500,
      preferred: 'v2',
      versions: [
        groupVersion('autoscaling', 'v2', [hpa('v2')]),
        groupVersion('autoscaling', 'v1', [hpa('v1')]),
        groupVersion('autoscaling', 'v2beta1', [], false),
      ],
    },
    {
      name: 'off.example.com',
      priority: 10,
      preferred: 'v1',
      versions: [groupVersion('off.example.com', 'v1', [], false)],
    },
  ];
  const byName = new Map(groups.map(group => [group.name, group]));
  return {
    generation,
    groups: byName,
    find: (group, version, plural) =>
      byName
        .get(group)
        ?.versions.find(v => v.version === version && v.served)
        ?.resources.get(plural),
    byKind: () => undefined,
    stored: [],
  };
}
