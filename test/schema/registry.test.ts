import { describe, expect, it } from 'vitest';
import { namingOf } from '../../core/naming.js';
import { buildRegistry } from '../../core/schema/registry/registry.js';
import { compareVersions } from '../../core/schema/registry/versionNames.js';
import type { Resource } from '../../core/schema/resource.js';
import { completeStrategy } from '../../core/schema/registry/strategyDefaults.js';
import { groupRows } from '../../core/schema/table/resources.js';
import { findType, typeOf, typesOfPackage } from '../../core/schema/table/types.js';

const build = (name: 'neutral' | 'kubernetes' = 'neutral', extra?: Resource[]) =>
  buildRegistry({ naming: namingOf(name), strategies: () => undefined, generation: 1, extra });

describe('the table', () => {
  it('resolves every field of every type of every package', () => {
    for (const group of groupRows())
      for (const version of group.versions)
        for (const id of typesOfPackage(version.package))
          for (const field of typeOf(id).fields) {
            expect(field.name, id).toMatch(/^[$A-Za-z]/);
            expect(['scalar', 'list', 'map', 'struct']).toContain(field.type.is);
          }
  });

  it('has a type and a list type for every resource', () => {
    for (const group of build().groups.values())
      for (const version of group.versions)
        for (const resource of version.resources.values()) {
          expect(resource.type.typeMeta).toBe(true);
          if (resource.verbs.includes('list')) expect(resource.listType?.field.get('items')).toBeDefined();
        }
  });

  it('inlines embedded structs, and records where protobuf nests them', () => {
    const volume = typeOf('core.v1.Volume');
    expect(volume.fields[0]?.name).toBe('name');
    expect(volume.field.get('hostPath')?.inlinedFrom).toEqual({
      number: 2,
      protoName: 'volumeSource',
      type: 'core.v1.VolumeSource',
    });
    const rule = typeOf('admissionregistration.v1.NamedRuleWithOperations').field.get('apiGroups');
    expect(rule?.inlinedFrom?.inner?.protoName).toBe('rule');
  });

  it('has wrappers, unions, enums, merge strategies and alternatives', () => {
    const extra = typeOf('authorization.v1.SubjectAccessReviewSpec').field.get('extra')?.type;
    expect(extra).toMatchObject({ is: 'map', of: { is: 'list', wrapper: 'authorization.v1.ExtraValue' } });
    expect(typeOf('core.v1.SeccompProfile').union?.discriminator).toBe('type');
    expect(typeOf('core.v1.ContainerPort').field.get('protocol')?.type).toMatchObject({ enum: ['TCP', 'UDP', 'SCTP'] });
    expect(typeOf('core.v1.Container').field.get('ports')?.merge).toMatchObject({
      listType: 'map',
      keys: ['containerPort', 'protocol'],
      patchMergeKey: 'containerPort',
    });
    expect(typeOf('apiextensions.v1.JSONSchemaPropsOrBool').alternatives).toBe('bool');
    expect(findType('core.v1.Nothing')).toBeUndefined();
    expect(findType('nothing')).toBeUndefined();
  });
});

describe('the registry', () => {
  it('has neutral or upstream names and neutral storage names', () => {
    const upstream = build('kubernetes').find('rbac.authorization.k8s.io', 'v1', 'roles');
    const neutral = build().find('rbac.authorization.orchestrator.io', 'v1', 'roles');
    expect(upstream?.apiVersion).toBe('rbac.authorization.k8s.io/v1');
    expect(upstream?.storageName).toBe('rbac.authorization.orchestrator.io/roles');
    expect(neutral?.storageName).toBe(upstream?.storageName);
  });

  it('shares the storage of both Event groups and of both autoscaling versions', () => {
    const registry = build();
    const event = registry.find('events.orchestrator.io', 'v1', 'events');
    expect([event?.storageName, event?.storageApiVersion]).toEqual(['core/events', 'v1']);
    const scaler = registry.find('autoscaling', 'v1', 'horizontalpodautoscalers');
    expect(scaler?.storageApiVersion).toBe('autoscaling/v2');
    const names = registry.stored.map(resource => resource.storageName);
    expect(new Set(names).size).toBe(names.length);
    expect(registry.stored.find(r => r.storageName === 'core/events')?.apiVersion).toBe('v1');
  });

  it('contains disabled versions without serving them, and enables them by a setting', () => {
    const alpha = build()
      .groups.get('storage.orchestrator.io')
      ?.versions.find(v => v.version === 'v1alpha1');
    expect(alpha?.served).toBe(false);
    expect(build().find('storage.orchestrator.io', 'v1alpha1', 'volumeattributesclasses')).toBeUndefined();
    const on = buildRegistry({
      naming: namingOf('neutral'),
      strategies: () => undefined,
      generation: 2,
      enablement: { versions: { 'storage.orchestrator.io/v1alpha1': true }, resources: {}, minor: 32 },
    });
    expect(on.find('storage.orchestrator.io', 'v1alpha1', 'volumeattributesclasses')).toBeDefined();
  });

  it('marks virtual kinds, finds kinds by name and completes strategies', () => {
    const registry = build();
    expect(registry.find('', 'v1', 'bindings')?.stored).toBe(false);
    expect(registry.find('', 'v1', 'componentstatuses')?.stored).toBe(false);
    expect(registry.byKind('apps/v1', 'Deployment')?.plural).toBe('deployments');
    expect(registry.find('apps', 'v1', 'deployments')?.strategy.hasStatus).toBe(true);
    expect(registry.find('', 'v1', 'configmaps')?.strategy.hasStatus).toBe(false);
    expect(registry.find('apps', 'v1', 'deployments')?.subresources.get('scale')).toMatchObject({
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
    });
  });

  it('adds custom resources in their own groups, with the most stable version preferred', () => {
    const base = build().find('', 'v1', 'configmaps')!;
    const custom = (version: string): Resource => ({
      ...base,
      group: 'example.com',
      version,
      apiVersion: `example.com/${version}`,
      plural: 'widgets',
      kind: 'Widget',
      builtIn: false,
      type: base.type,
      storageName: 'example.com/widgets',
      storageApiVersion: 'example.com/v1',
      strategy: completeStrategy(),
    });
    const registry = build('neutral', [custom('v1beta1'), custom('v1')]);
    expect(registry.groups.get('example.com')?.preferred).toBe('v1');
    expect(registry.stored.filter(r => r.storageName === 'example.com/widgets').map(r => r.version)).toEqual(['v1']);
  });

  it('orders versions by stability, then number', () => {
    const sorted = ['foo', 'v1alpha1', 'v2', 'v11beta2', 'v1', 'v10', 'v12alpha1', 'bar'].sort(compareVersions);
    expect(sorted).toEqual(['v10', 'v2', 'v1', 'v11beta2', 'v12alpha1', 'v1alpha1', 'bar', 'foo']);
  });
});
