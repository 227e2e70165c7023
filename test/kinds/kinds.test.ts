import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../core/model/object.js';
import { Refusal } from '../../core/model/refusal.js';
import { bindPod } from '../../plugins/kinds/core/pod/binding.js';
import { builtInStrategies } from './builtIn.js';
import { labelSelectorText } from '../../core/model/selectors/labelSelector.js';
import { create, contextWith, lines, object, strategyOf, update, decoded } from './helpers.js';
import type { Time } from '../../core/model/scalars.js';
import type { Binding, Pod } from '../../kinds/v1.js';

type Any = { [member: string]: unknown };
const specOf = (o: ApiObject): Any => o.spec as Any;
const app = { containers: [{ name: 'web', image: 'registry.example/web:3' }] };
const template = (more = {}) => ({ metadata: { labels: { run: 'web' } }, spec: { ...app, ...more } });
const selector = { matchLabels: { run: 'web' } };

describe('defaults of kinds [R127]', () => {
  it.each(Array.from(builtInStrategies('kubernetes').keys(), name => [name]))(
    '%s: defaulting an object again changes nothing',
    name => {
      const strategy = strategyOf(name);
      // Some kinds select only by labels.
      const isPlain = ['core/replicationcontrollers', 'core/services'].includes(name);
      const spec = { template: template(), selector: isPlain ? selector.matchLabels : selector };
      const given = object('K', { spec, subsets: [{ ports: [{ port: 1 }] }] });
      const once = decoded(name, given);
      strategy.applyDefaults(once);
      const twice = structuredClone(once);
      strategy.applyDefaults(twice);
      expect(twice).toEqual(once);
    },
  );
  it('a new pod is pending, and gets a quality-of-service class and the defaults of its containers', () => {
    const { made, violations } = create('core/pods', object('Pod', { spec: app }));
    expect(violations).toEqual([]);
    expect(made.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    expect(specOf(made)).toMatchObject({
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      enableServiceLinks: true,
    });
    expect(specOf(made).containers).toEqual([
      {
        name: 'web',
        image: 'registry.example/web:3',
        imagePullPolicy: 'IfNotPresent',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ]);
  });
  it.each([
    [{ limits: { cpu: '1', memory: '1Gi' } }, 'Guaranteed'],
    [{ requests: { cpu: '1' } }, 'Burstable'],
    [{ requests: { cpu: '0' } }, 'BestEffort'],
  ])('resources %j make a pod %s', (resources, qosClass) => {
    const { made } = create(
      'core/pods',
      object('Pod', { spec: { containers: [{ name: 'c', image: 'i', resources }] } }),
    );
    expect(made.status).toMatchObject({ qosClass });
  });
  it.each([
    ['a', 'Always'],
    ['a:latest', 'Always'],
    ['host:5000/a', 'Always'],
    ['host:5000/a:1', 'IfNotPresent'],
    ['a@sha256:00', 'IfNotPresent'],
    [`a@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
    [`a:latest@sha256:${'0'.repeat(64)}`, 'Always'],
    ['Host/a', 'Always'],
    ['Upper', 'IfNotPresent'],
    ['a b', 'IfNotPresent'],
    ['f'.repeat(64), 'IfNotPresent'],
    ['f'.repeat(300), 'IfNotPresent'],
  ])('image %s is pulled %s', (image, policy) => {
    const { made } = create('core/pods', object('Pod', { spec: { containers: [{ name: 'c', image }] } }));
    expect((made.spec as { containers: { imagePullPolicy: string }[] }).containers[0]?.imagePullPolicy).toBe(policy);
  });
  it('templates get no service links, pods do', () => {
    const { made } = create(
      'apps/deployments',
      object('Deployment', { spec: { selector, template: template() } }, 'apps/v1'),
    );
    expect(made.spec).toMatchObject({
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } },
    });
    expect((made.spec as { template: { spec: object } }).template.spec).not.toHaveProperty('enableServiceLinks');
  });
  it('a job selects its pods by the uid of the job', () => {
    const { made, violations } = create(
      'batch/jobs',
      object('Job', { spec: { template: { spec: { ...app, restartPolicy: 'Never' } } } }, 'batch/v1'),
    );
    expect(violations).toEqual([]);
    expect(made.spec).toMatchObject({ selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u1' } } });
    expect(made.metadata.labels).toMatchObject({ 'job-name': 'x', 'controller-uid': 'u1' });
  });
  it('stringData of a Secret is moved to data', () => {
    const { made } = create('core/secrets', object('Secret', { stringData: { a: 'b' } }));
    expect(made).toMatchObject({ data: { a: 'Yg==' }, type: 'Opaque' });
    expect(made).not.toHaveProperty('stringData');
  });
  it('new claims are pending', () => {
    const claim = create('core/persistentvolumeclaims', object('PersistentVolumeClaim', { spec: {} })).made;
    expect(claim.status).toEqual({ phase: 'Pending' });
  });
});

describe('services [R127]', () => {
  const make = (spec: object, taken: readonly ApiObject[] = []) =>
    create('core/services', object('Service', { spec }), contextWith(taken)).made;
  it('get an address of the range, and node ports if the type needs them', () => {
    const made = make({
      type: 'NodePort',
      ports: [
        { name: 't', port: 80 },
        { name: 'u', port: 80, protocol: 'UDP' },
      ],
    });
    const spec = made.spec as { clusterIP: string; clusterIPs: string[]; ports: { nodePort: number }[] };
    expect(spec.clusterIP).toMatch(/^10\.0\.\d+\.\d+$/);
    expect(spec.clusterIPs).toEqual([spec.clusterIP]);
    expect(spec.ports[0]?.nodePort).toBeGreaterThanOrEqual(30000);
    expect(spec.ports[1]?.nodePort).toBe(spec.ports[0]?.nodePort);
  });
  const other = object('Service', {
    spec: { type: 'NodePort', clusterIPs: ['10.0.3.4'], ports: [{ nodePort: 30123, protocol: 'TCP' }] },
  });
  other.metadata.uid = 'u2';
  it.each([
    [
      { clusterIP: '10.0.3.4', ports: [{ port: 1 }] },
      'failed to allocate IP 10.0.3.4: provided IP is already allocated',
    ],
    [
      { clusterIP: '10.9.0.1', ports: [{ port: 1 }] },
      'is not in the valid range. The range of valid IPs is 10.0.0.0/16',
    ],
    [{ type: 'NodePort', ports: [{ port: 1, nodePort: 30123 }] }, 'provided port is already allocated'],
    [{ type: 'NodePort', ports: [{ port: 1, nodePort: 80 }] }, 'The range of valid ports is 30000-32767'],
  ])('%j is refused: %s', (spec, why) => {
    expect(() => make(spec, [other])).toThrow(why);
  });
  it('keep their address in updates, and lose node ports with the type', () => {
    const old = make({ type: 'NodePort', ports: [{ port: 80 }] });
    const { made } = update('core/services', old, draft => {
      draft.spec = { type: 'ClusterIP', ports: [{ ...(old.spec as { ports: object[] }).ports[0] }] };
    });
    expect(made.spec).toMatchObject({ clusterIP: (old.spec as { clusterIP: string }).clusterIP });
    expect((made.spec as { ports: object[] }).ports[0]).not.toHaveProperty('nodePort');
  });
  it('without a selector and headless have both families', () => {
    expect(make({ clusterIP: 'None' }).spec).toMatchObject({
      ipFamilyPolicy: 'RequireDualStack',
      ipFamilies: ['IPv4', 'IPv6'],
    });
  });
});

describe('validation of pods', () => {
  const wrong = (spec: object): string[] => lines(create('core/pods', object('Pod', { spec })).violations);
  it.each([
    [{ containers: [] }, 'spec.containers: Required value'],
    [{ containers: [{ image: 'i' }] }, 'spec.containers[0].name: Required value'],
    [
      { ...app, dnsPolicy: 'None' },
      'spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None',
    ],
    [{ ...app, hostname: 'a.b' }, 'spec.hostname: Invalid value: "a.b": must not contain dots'],
    [
      { containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'gone', mountPath: '/m' }] }] },
      'spec.containers[0].volumeMounts[0].name: Not found: "gone"',
    ],
    [
      { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' }, requests: { cpu: '1500m' } } }] },
      'spec.containers[0].resources.requests: Invalid value: "1500m": must be less than or equal to cpu limit of 1',
    ],
    [
      { containers: [{ name: 'c', image: 'i', livenessProbe: {} }] },
      'spec.containers[0].livenessProbe: Required value: must specify a handler type',
    ],
    [
      { ...app, tolerations: [{ key: 'k', operator: 'Exists', value: 'v' }] },
      `spec.tolerations[0].operator: Invalid value: "v": value must be empty when \`operator\` is 'Exists'`,
    ],
  ])('%j: %s', (spec, line) => {
    expect(wrong(spec)).toContain(line);
  });
  const old = create('core/pods', object('Pod', { spec: { ...app, activeDeadlineSeconds: 50 } })).made;
  it.each([
    [
      'an image',
      (s: Any) => Object.assign(s, { containers: [{ ...(s.containers as object[])[0], image: 'new' }] }),
      [],
    ],
    ['a shorter deadline', (s: Any) => Object.assign(s, { activeDeadlineSeconds: 10 }), []],
    ['a longer deadline', (s: Any) => Object.assign(s, { activeDeadlineSeconds: 90 }), ['spec.activeDeadlineSeconds']],
    ['a restart policy', (s: Any) => Object.assign(s, { restartPolicy: 'Never' }), ['spec']],
    ['a second container', (s: Any) => (s.containers as object[]).push({ name: 'd', image: 'i' }), ['spec.containers']],
  ])('an update of %s', (_what, change, fields) => {
    expect(update('core/pods', old, draft => change(specOf(draft))).violations.map(v => v.field)).toEqual(fields);
  });
  it('have a grace period only while they run on a node', () => {
    const { gracePeriod } = strategyOf('core/pods');
    expect(gracePeriod(old, 20)).toBe(0);
    const running = object('Pod', {
      spec: { nodeName: 'n', terminationGracePeriodSeconds: 7 },
      status: { phase: 'Running' },
    });
    expect([gracePeriod(running, undefined), gracePeriod(running, 3), gracePeriod(running, -1)]).toEqual([7, 3, 1]);
  });
});

describe('immutable fields', () => {
  const bindings = 'rbac.authorization.orchestrator.io/rolebindings';
  it.each([
    [
      'apps/deployments',
      { spec: { selector, template: template() } },
      {
        spec: { selector: { matchLabels: { a: '1' } }, template: { ...template(), metadata: { labels: { a: '1' } } } },
      },
      ['spec.selector'],
    ],
    [
      'apps/statefulsets',
      { spec: { selector, template: template(), serviceName: 's' } },
      { spec: { selector, template: template(), serviceName: 't' } },
      ['spec'],
    ],
    ['core/secrets', { type: 'example.org/a' }, { type: 'example.org/b' }, ['type']],
    ['core/configmaps', { immutable: true, data: { a: '1' } }, { immutable: true, data: { a: '2' } }, ['data']],
    [bindings, { roleRef: { kind: 'Role', name: 'a' } }, { roleRef: { kind: 'Role', name: 'b' } }, ['roleRef']],
    ['storage.orchestrator.io/storageclasses', { provisioner: 'p' }, { provisioner: 'q' }, ['provisioner']],
    [
      'storage.orchestrator.io/storageclasses',
      { provisioner: 'p' },
      { provisioner: 'p', parameters: {} },
      ['parameters'],
    ],
    ['scheduling.orchestrator.io/priorityclasses', { value: 1 }, { value: 2 }, ['value']],
    ['node.orchestrator.io/runtimeclasses', { handler: 'a' }, { handler: 'b' }, ['handler']],
    [
      'core/persistentvolumeclaims',
      { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      { spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } } },
      ['spec'],
    ],
  ])('%s: %j', (kind, before, after, fields) => {
    const old = create(kind, object('K', before)).made;
    expect(
      update(kind, old, draft => Object.assign(draft, structuredClone(after))).violations.map(v => v.field),
    ).toEqual(fields);
  });
});

describe('properties of kinds', () => {
  it.each([
    ['core/pods', { returnsDeletedObject: true, hasStatus: true, hasGeneration: false }],
    ['core/services', { allowCreateOnUpdate: true, returnsDeletedObject: true }],
    ['batch/jobs', { orphansByDefault: true, hasGeneration: true }],
    ['coordination.orchestrator.io/leases', { allowCreateOnUpdate: true, allowUnconditionalUpdate: false }],
    ['rbac.authorization.orchestrator.io/roles', { allowCreateOnUpdate: true }],
    ['core/configmaps', { allowCreateOnUpdate: false, returnsDeletedObject: false, hasGeneration: false }],
  ])('%s [R141] [R145]: %j', (kind, expected) => {
    expect(strategyOf(kind)).toMatchObject(expected);
  });
  it.each([
    ['core/namespaces', 'a.b', false],
    ['core/services', '1a', false],
    ['core/pods', 'a.b', true],
    ['rbac.authorization.orchestrator.io/roles', 'system:x', true],
    ['rbac.authorization.orchestrator.io/roles', 'a/b', false],
    ['internal.apiserver.orchestrator.io/storageversions', 'example.com.things', true],
    ['internal.apiserver.orchestrator.io/storageversions', 'things', false],
    ['internal.apiserver.orchestrator.io/storageversions', 'example.com.1', false],
  ])('%s may have the name %s: %s [R020]', (kind, name, good) => {
    expect(strategyOf(kind).checkName(name, false).length === 0).toBe(good);
  });
  it('a trailing dash is valid in generateName', () => {
    expect(strategyOf('core/namespaces').checkName('a-', true)).toEqual([]);
  });
  it('events have one form per group', () => {
    const { convert } = strategyOf('core/events');
    const newer = object(
      'Event',
      { regarding: { name: 'p' }, note: 'hi', reportingController: 'c' },
      'events.k8s.io/v1',
    );
    const old = convert?.(newer, 'v1') as ApiObject;
    expect(old).toMatchObject({ involvedObject: { name: 'p' }, message: 'hi', reportingComponent: 'c' });
    expect(convert?.(old, 'events.k8s.io/v1')).toEqual(newer);
  });
  it('autoscalers in the older version have the remaining members in annotations', () => {
    const { convert } = strategyOf('autoscaling/horizontalpodautoscalers');
    const metric = { name: 'm', selector: { matchLabels: { a: 'b' } } };
    const describedObject = { kind: 'Service', name: 's' };
    const average = { type: 'AverageValue', averageValue: '1' };
    const utilization = { type: 'Utilization', averageUtilization: 60 };
    const metrics = [
      { type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '3' } } },
      { type: 'External', external: { metric, target: average } },
      { type: 'Object', object: { describedObject, metric, target: { type: 'Value', value: '1k' } } },
      { type: 'Object', object: { describedObject, metric: { name: 'm' }, target: average } },
      { type: 'Pods', pods: { metric, target: average } },
      { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target: utilization } },
      { type: 'Resource', resource: { name: 'cpu', target: average } },
      { type: 'Resource', resource: { name: 'cpu', target: utilization } },
    ];
    const currentMetrics = [
      { type: 'Object', object: { describedObject, metric, current: { value: '0', averageValue: '2' } } },
      { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1', averageUtilization: 7 } } },
    ];
    const newer = object(
      'HorizontalPodAutoscaler',
      { spec: { maxReplicas: 3, metrics }, status: { currentReplicas: 0, desiredReplicas: 0, currentMetrics } },
      'autoscaling/v2',
    );
    const older = convert?.(newer, 'autoscaling/v1') as ApiObject;
    expect(older.spec).toEqual({ maxReplicas: 3, targetCPUUtilizationPercentage: 60 });
    expect(older.status).toEqual({ currentReplicas: 0, desiredReplicas: 0, currentCPUUtilizationPercentage: 7 });
    const carried = (what: string): unknown =>
      JSON.parse(older.metadata.annotations![`autoscaling.alpha.kubernetes.io/${what}`]!);
    const selector = { matchLabels: { a: 'b' } };
    expect(carried('metrics')).toEqual([
      { type: 'External', external: { metricName: 'm', targetValue: '3' } },
      { type: 'External', external: { metricName: 'm', metricSelector: selector, targetAverageValue: '1' } },
      { type: 'Object', object: { target: describedObject, metricName: 'm', targetValue: '1k', selector } },
      {
        type: 'Object',
        object: { target: describedObject, metricName: 'm', targetValue: '0', averageValue: '1' },
      },
      { type: 'Pods', pods: { metricName: 'm', targetAverageValue: '1', selector } },
      { type: 'ContainerResource', containerResource: { name: 'cpu', targetAverageUtilization: 60, container: 'c' } },
      { type: 'Resource', resource: { name: 'cpu', targetAverageValue: '1' } },
    ]);
    expect(carried('current-metrics')).toHaveLength(2);
    expect(convert?.(older, 'autoscaling/v2')).toEqual(newer);
  });
  it.each(['[{bad', '{}', '[1]', 'null'])(
    'an autoscaler of v1 loses the annotation %s, which is not a list of metrics',
    text => {
      const { applyDefaults } = strategyOf('autoscaling/horizontalpodautoscalers');
      const name = 'autoscaling.alpha.kubernetes.io/metrics';
      const older = object('HorizontalPodAutoscaler', { spec: { maxReplicas: 3 } }, 'autoscaling/v1');
      older.metadata = { name: 'x', annotations: { [name]: text } };
      applyDefaults?.(older);
      expect(older.metadata.annotations).toBeUndefined();
      expect(older.spec).toEqual({ maxReplicas: 3, minReplicas: 1, targetCPUUtilizationPercentage: 80 });
    },
  );
  it.each([
    [{ podCIDR: '10.1.0.0/24' }, { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] }],
    [{ podCIDRs: ['10.1.0.0/24'] }, { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] }],
    [
      { podCIDR: 'a', podCIDRs: ['b'] },
      { podCIDR: 'a', podCIDRs: ['a'] },
    ],
    [{}, {}],
  ])('the address ranges of a node begin with the first: %j', (spec, expected) => {
    const node = object('Node', { spec });
    strategyOf('core/nodes').applyDefaults?.(node);
    expect(node.spec).toEqual(expected);
  });
  it('the text of a selector is sorted by its keys', () => {
    const matchExpressions = [
      { key: 'c', operator: 'NotIn', values: ['y', 'x'] },
      { key: 'b', operator: 'DoesNotExist' },
    ];
    expect(labelSelectorText({ matchLabels: { d: '1' }, matchExpressions })).toBe('!b,c notin (x,y),d=1');
  });
});

describe('binding of pods [R153x]', () => {
  const binding = object('Binding', { target: { kind: 'Node', name: 'node-1' } }) as Binding;
  const pod = decoded<Pod>('core/pods', object('Pod', { spec: {}, status: { phase: 'Pending' } }));
  binding.metadata = { name: 'x' };
  it('sets the node and the condition', () => {
    const bound = bindPod(pod, binding, 'x', '2024-01-01T00:00:00Z' as Time);
    expect(bound.spec).toEqual({ containers: null, nodeName: 'node-1' });
    expect(bound.status).toMatchObject({ conditions: [{ type: 'PodScheduled', status: 'True' }] });
    expect(pod.spec).toEqual({ containers: null });
  });
  it.each([
    ['y', {}, 400],
    ['x', { spec: { nodeName: 'other' } }, 409],
    ['x', { spec: { schedulingGates: [{ name: 'g' }] } }, 409],
  ])('with the name %s, a pod with %j: %d', (name, more, code) => {
    const refused = (() => {
      try {
        return bindPod({ ...pod, ...more } as Pod, binding, name, '' as Time);
      } catch (refusal) {
        return refusal;
      }
    })();
    expect(refused).toBeInstanceOf(Refusal);
    expect((refused as Refusal).code).toBe(code);
  });
});
