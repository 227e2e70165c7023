import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApiObject, Decision, ResourceTarget } from '../../core/api/index.js';
import { EntryEvent } from '../../core/plugin/informers/entryEvent.js';
import { fakeHost } from '../../core/testing/index.js';
import { Entry } from '../../core/threads/entries/entry.js';
import { NODE_RULES } from '../../plugins/authz/bootstrap/componentRoles.js';
import { nodeAuthorizer } from '../../plugins/authz/node/authorize.js';
import { NodeGraph } from '../../plugins/authz/node/graph.js';
import { compileRules } from '../../plugins/authz/rbac/rules.js';
import { target, user } from './support.js';

const RULES = compileRules(NODE_RULES);
const node = (name: string) => user(`system:node:${name}`, 'system:nodes', 'system:authenticated');

function world() {
  const fake = fakeHost('pool', 'kubernetes');
  const authorizer = nodeAuthorizer(new NodeGraph(fake.host), RULES, fake.host);
  const decide = (name: string, members: Partial<ResourceTarget>): Decision =>
    authorizer.authorize(node(name), target({ namespace: 'shop', ...members }));
  return { fake, authorizer, decide, may: (...of: Parameters<typeof decide>) => decide(...of).is === 'allow' };
}
const pod = (name: string, nodeName: string, spec: object = {}, annotations?: Record<string, string>): ApiObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', ...(annotations ? { annotations } : {}) },
    spec: { ...(nodeName ? { nodeName } : {}), ...spec },
  }) as ApiObject;
const volume = (name: string, claim: string, source: object): ApiObject =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: { ...source, ...(claim ? { claimRef: { namespace: 'shop', name: claim } } : {}) },
  }) as ApiObject;

const SPEC = {
  serviceAccountName: 'clerk',
  imagePullSecrets: [{ name: 'pull' }],
  containers: [
    {
      env: [{ valueFrom: { secretKeyRef: { name: 'env' } } }, { valueFrom: { configMapKeyRef: { name: 'env-map' } } }],
      envFrom: [{ secretRef: { name: 'from' } }, { configMapRef: { name: 'from-map' } }],
    },
  ],
  initContainers: [{ envFrom: [{ secretRef: { name: 'init' } }] }],
  volumes: [
    { name: 'a', secret: { secretName: 'mounted' } },
    {
      name: 'b',
      projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'projected-map' } }] },
    },
    { name: 'c', persistentVolumeClaim: { claimName: 'claim' } },
    { name: 'd', ephemeral: {} },
    { name: 'e', csi: { nodePublishSecretRef: { name: 'csi' } } },
    { name: 'f', azureFile: { secretName: 'azure' } },
    { name: 'g', configMap: { name: 'mounted-map' } },
  ],
  resourceClaims: [{ name: 'x', resourceClaimName: 'device' }],
};

describe('a node', () => {
  test('updates the status of the claims of its pods, without reading it on its own', () => {
    const { fake, may } = world();
    fake.put('core/pods', pod('p', 'n1', SPEC));
    const status = { resource: 'persistentvolumeclaims', name: 'claim', subresource: 'status' };
    expect((['update', 'patch', 'get', 'delete'] as const).map(verb => may('n1', { ...status, verb }))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(may('n2', { ...status, verb: 'update' })).toBe(false);
  });

  test.each([
    ['secrets', ['pull', 'env', 'from', 'init', 'mounted', 'projected', 'csi', 'azure']],
    ['configmaps', ['env-map', 'from-map', 'mounted-map', 'projected-map']],
    ['persistentvolumeclaims', ['claim', 'p-d']],
  ])('reads the %s of its pods and no others [A376] [A377] [A378]', (resource, names) => {
    const { fake, may, decide } = world();
    fake.put('core/pods', pod('p', 'n1', SPEC));
    for (const name of names) {
      expect([name, may('n1', { resource, name }), may('n2', { resource, name })]).toEqual([name, true, false]);
      expect(may('n1', { resource, name, namespace: 'other' })).toBe(false);
    }
    expect(decide('n1', { resource, name: 'other' })).toMatchObject({
      reason: "no relationship found between node 'n1' and this object",
    });
    fake.delete('core/pods', 'shop', 'p');
    expect(names.some(name => may('n1', { resource, name }))).toBe(false);
  });

  test('reads resource claims, and creates tokens of the accounts, of its pods', () => {
    const { fake, may } = world();
    fake.put('core/pods', pod('p', 'n1', SPEC));
    expect(may('n1', { group: 'resource.orchestrator.io', resource: 'resourceclaims', name: 'device' })).toBe(true);
    const token = { verb: 'create', resource: 'serviceaccounts', subresource: 'token', name: 'clerk' } as const;
    expect([may('n1', token), may('n2', token), may('n1', { ...token, name: 'default' })]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('reads the volumes of its claims and their secrets, but not those of controllers [A379]', () => {
    const { fake, may } = world();
    const csi = {
      nodeStageSecretRef: { name: 'stage', namespace: 'vault' },
      controllerPublishSecretRef: { name: 'controller', namespace: 'vault' },
    };
    fake.put('core/persistentvolumes', volume('v', 'claim', { csi }));
    fake.put('core/persistentvolumes', volume('free', '', { csi: { nodeStageSecretRef: { name: 'free' } } }));
    const reads = (name: string, namespace = 'vault') => may('n1', { resource: 'secrets', name, namespace });
    expect(reads('stage')).toBe(false);
    fake.put('core/pods', pod('p', 'n1', SPEC));
    expect([reads('stage'), reads('controller'), reads('stage', 'shop'), reads('free', '')]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(may('n1', { resource: 'persistentvolumes', name: 'v', namespace: '' })).toBe(true);
    fake.put('core/persistentvolumes', volume('v', 'another', { csi }));
    expect(reads('stage')).toBe(false);
  });

  test('gains no access to secrets from mirror pods, which it can create itself', () => {
    const { fake, may } = world();
    fake.put('core/pods', pod('p', 'n1', SPEC, { 'kubernetes.io/config.mirror': 'x' }));
    expect(may('n1', { resource: 'secrets', name: 'mounted' })).toBe(false);
    expect(may('n1', { resource: 'pods', name: 'p' })).toBe(true);
  });

  test('reads its own node and pods, with the field selectors for them [A380] [A381]', () => {
    const { fake, may, decide } = world();
    fake.put('core/pods', pod('p', 'n1'));
    const byNode = (value: string) => [{ key: 'spec.nodeName', operator: '=', values: [value] }] as const;
    expect(may('n1', { resource: 'pods', verb: 'list', fieldSelector: byNode('n1'), namespace: '' })).toBe(true);
    expect(may('n1', { resource: 'pods', verb: 'watch', fieldSelector: byNode('n2') })).toBe(false);
    expect(may('n1', { resource: 'pods', verb: 'list' })).toBe(false);
    expect([may('n1', { resource: 'pods', name: 'p' }), may('n2', { resource: 'pods', name: 'p' })]).toEqual([
      true,
      false,
    ]);
    expect(may('n1', { resource: 'nodes', name: 'n1', namespace: '' })).toBe(true);
    expect(decide('n1', { resource: 'nodes', name: 'n2', namespace: '' })).toMatchObject({
      is: 'noOpinion',
      reason: "node 'n1' cannot read 'n2', only its own Node object",
    });
  });

  test('reads all nodes and pods without the gate of the selectors [A374] [A375]', () => {
    const fake = fakeHost('pool');
    fake.features.delete('AuthorizeNodeWithSelectors');
    const authorizer = nodeAuthorizer(new NodeGraph(fake.host), RULES, fake.host);
    for (const resource of ['pods', 'nodes'])
      expect(authorizer.authorize(node('n1'), target({ verb: 'list', resource })).is).toBe('allow');
  });

  test('must match the name of its user exactly; the authorizer has no opinion on other users [A389] [A390] [A391]', () => {
    const { fake, authorizer, may } = world();
    fake.put('core/pods', pod('p', 'n1', SPEC));
    expect(may('N1', { resource: 'secrets', name: 'mounted' })).toBe(false);
    const asked = target({ namespace: 'shop', resource: 'secrets', name: 'mounted' });
    for (const who of [user('system:node:n1'), user('n1', 'system:nodes'), user('admin', 'system:masters')])
      expect(authorizer.authorize(who, asked)).toEqual({ is: 'noOpinion' });
    expect(authorizer.authorize(node(''), asked)).toEqual({
      is: 'noOpinion',
      reason: 'unknown node for user "system:node:"',
    });
  });

  test('uses its own leases and storage node, services, endpoints, events and reviews [A372] [A373] [A384] [A385] [A386]', () => {
    const { may } = world();
    const lease = { group: 'coordination.orchestrator.io', resource: 'leases', namespace: 'kube-node-lease' } as const;
    expect(may('n1', { ...lease, verb: 'update', name: 'n1' })).toBe(true);
    expect(may('n1', { ...lease, verb: 'update', name: 'n2' })).toBe(false);
    expect(may('n1', { ...lease, verb: 'update', name: 'n1', namespace: 'shop' })).toBe(false);
    expect(may('n1', { group: 'storage.orchestrator.io', resource: 'csinodes', verb: 'update', name: 'n2' })).toBe(
      false,
    );
    expect(may('n1', { resource: 'services', verb: 'watch', namespace: '' })).toBe(true);
    expect(may('n1', { resource: 'endpoints', name: 'x' })).toBe(true);
    expect(may('n1', { resource: 'events', verb: 'create' })).toBe(true);
    expect(may('n1', { resource: 'events', verb: 'delete', name: 'x' })).toBe(false);
    const requests = { group: 'certificates.orchestrator.io', resource: 'certificatesigningrequests' };
    expect(may('n1', { ...requests, verb: 'create', namespace: '' })).toBe(true);
    expect(may('n1', { ...requests, verb: 'update', subresource: 'approval', name: 'x' })).toBe(false);
    for (const [group, resource] of [
      ['authentication', 'tokenreviews'],
      ['authorization', 'subjectaccessreviews'],
    ])
      expect(may('n1', { group: `${group}.orchestrator.io`, resource: resource!, verb: 'create' })).toBe(true);
  });

  test('gets fresh decisions where these depend on pods, and cached ones otherwise', () => {
    const { fake, decide } = world();
    fake.put('core/pods', pod('p', 'n1', SPEC));
    expect(decide('n1', { resource: 'secrets', name: 'mounted' }).dependsOn).toBe('never');
    expect(decide('n1', { resource: 'services', verb: 'list' }).dependsOn).toBeUndefined();
  });
});

const change = fc.record({
  name: fc.constantFrom('p', 'q', 'r'),
  on: fc.constantFrom('', 'n1', 'n2'),
  secret: fc.constantFrom('a', 'b'),
  claim: fc.constantFrom('c', 'd'),
  what: fc.constantFrom('pod', 'no pod', 'volume', 'no volume'),
});

test('after any changes, the decisions are those of a server that starts with the same objects', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), changes => {
      const changed = world();
      const stored = new Map<string, [string, ApiObject]>();
      for (const { name, on, secret, claim, what } of changes) {
        const storageName = what.endsWith('pod') ? 'core/pods' : 'core/persistentvolumes';
        const volumes = [{ secret: { secretName: secret } }, { persistentVolumeClaim: { claimName: claim } }];
        const object = what.endsWith('pod')
          ? pod(name, on, { volumes })
          : volume(name, claim, { rbd: { secretRef: { name: `of-${secret}` } } });
        if (what.startsWith('no')) {
          changed.fake.delete(storageName, object.metadata.namespace ?? '', name);
          stored.delete(`${storageName}/${name}`);
        } else {
          changed.fake.put(storageName, object);
          stored.set(`${storageName}/${name}`, [storageName, object]);
        }
        for (const node of ['n1', 'n2']) changed.may(node, { resource: 'secrets', name: 'a' });
      }
      const fresh = world();
      for (const [storageName, object] of stored.values()) fresh.fake.put(storageName, object);
      const decisions = ({ may }: ReturnType<typeof world>) =>
        ['n1', 'n2'].flatMap(on => ['a', 'b', 'of-a', 'of-b'].map(name => may(on, { resource: 'secrets', name })));
      expect(decisions(changed)).toEqual(decisions(fresh));
    }),
  );
});

test('strings of a member are found in the bytes of an object, whatever the strings and the bytes around them are', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', ':', '{', 'nodeName', 'é', '\n') });
  fc.assert(
    fc.property(text, text, text, (nodeName, label, annotation) => {
      const object = { metadata: { labels: { nodeName: label }, annotations: { x: annotation } }, spec: { nodeName } };
      const bytes = new TextEncoder().encode(JSON.stringify(object));
      const { buffer, byteOffset, length } = bytes;
      const event = new EntryEvent(new Entry('core/pods/a/b', 1, { buffer, byteOffset, length }), 'ADDED', 1);
      expect(event.stringsNamed('nodeName')).toEqual([label, nodeName]);
    }),
  );
});
