import { TypeMismatch } from '../../core/schema/decode/decode.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { humanDuration, showCell } from '../../core/model/age.js';
import type { ApiObject } from '../../core/model/object.js';
import { namingOf } from '../../core/naming.js';
import { buildRegistry } from '../../core/schema/registry/registry.js';
import { columnsOf } from '../kinds/builtIn.js';
import { decoded, decodedOnly } from '../kinds/helpers.js';

const NOW = Date.parse('2024-01-01T12:00:00Z');
const CREATED = '2024-01-01T11:58:30Z';

const object = (rest: object, metadata: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x', creationTimestamp: CREATED, ...metadata },
  ...rest,
});
const cells = (storageName: string, value: ApiObject): unknown[] =>
  columnsOf(storageName, 'kubernetes')?.map(column => showCell(column.cell(decoded(storageName, value)), NOW)) ?? [];

/** The object that the decoder makes of members, or of none if they do not have the types of the kind. */
function decodedOrEmpty(storageName: string, rest: object): ApiObject {
  try {
    return decodedOnly(storageName, object(rest));
  } catch (error) {
    if (!(error instanceof TypeMismatch)) throw error;
    return decodedOnly(storageName, object({}));
  }
}

describe('ages', () => {
  it.each([
    [-5_000, '<invalid>'],
    [-500, '0s'],
    [0, '0s'],
    [119_000, '119s'],
    [120_000, '2m'],
    [330_000, '5m30s'],
    [600_000, '10m'],
    [179 * 60_000, '179m'],
    [3 * 3600_000, '3h'],
    [3 * 3600_000 + 60_000, '3h1m'],
    [8 * 3600_000, '8h'],
    [47 * 3600_000, '47h'],
    [48 * 3600_000, '2d'],
    [51 * 3600_000, '2d3h'],
    [8 * 24 * 3600_000, '8d'],
    [729 * 24 * 3600_000, '729d'],
    [730 * 24 * 3600_000, '2y'],
    [731 * 24 * 3600_000, '2y1d'],
    [8 * 365 * 24 * 3600_000, '8y'],
  ])('%i ms is %s', (ms, expected) => {
    expect(humanDuration(ms)).toBe(expected);
  });
});

describe('other kinds [R058]', () => {
  it.each<[string, ApiObject, unknown[]]>([
    [
      'apps/deployments',
      object({
        spec: {
          replicas: 3,
          selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'e', operator: 'Exists' }] },
          template: {
            spec: {
              containers: [
                { name: 'c', image: 'c:1' },
                { name: 'd', image: 'd:1' },
              ],
            },
          },
        },
        status: { readyReplicas: 2, updatedReplicas: 1, availableReplicas: 2 },
      }),
      ['x', '2/3', 1, 2, '90s', 'c,d', 'c:1,d:1', 'a=b,e'],
    ],
    [
      'apps/controllerrevisions',
      object(
        { revision: 12 },
        { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid: 'u', controller: true }] },
      ),
      ['x', 'statefulset.apps/s', 12, '90s'],
    ],
    [
      'batch/cronjobs',
      object({
        spec: {
          schedule: '@hourly',
          suspend: false,
          jobTemplate: { spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } } },
        },
        status: {},
      }),
      ['x', '@hourly', '<none>', 'False', 0, '<none>', '90s', 'c', 'i', '<none>'],
    ],
    [
      'batch/jobs',
      object({ spec: { completions: 4, parallelism: 2 }, status: { succeeded: 1, startTime: CREATED } }),
      ['x', 'Running', '1/4', '90s', '90s', '', '', '<none>'],
    ],
    [
      'core/services',
      object({
        spec: {
          type: 'LoadBalancer',
          clusterIPs: ['10.0.0.9'],
          externalIPs: ['9.9.9.9'],
          ports: [
            { port: 80, nodePort: 30080, protocol: 'TCP' },
            { port: 53, protocol: 'UDP' },
          ],
          selector: { c: 'd', a: 'b' },
        },
        status: { loadBalancer: { ingress: [{ hostname: 'lb' }, { ip: '1.2.3.4' }] } },
      }),
      ['x', 'LoadBalancer', '10.0.0.9', '1.2.3.4,lb,9.9.9.9', '80:30080/TCP,53/UDP', '90s', 'a=b,c=d'],
    ],
    [
      'core/services',
      object({ spec: { type: 'ExternalName', externalName: 'x.example.com' } }),
      ['x', 'ExternalName', '<none>', 'x.example.com', '<none>', '90s', '<none>'],
    ],
    [
      'core/endpoints',
      object({
        subsets: [{ addresses: [{ ip: '10.1.0.1' }, { ip: '10.1.0.2' }], ports: [{ port: 80 }, { port: 81 }] }],
      }),
      ['x', '10.1.0.1:80,10.1.0.2:80,10.1.0.1:81 + 1 more...', '90s'],
    ],
    ['core/endpoints', object({ subsets: [] }), ['x', '<none>', '90s']],
    ['core/endpoints', object({ subsets: [{ notReadyAddresses: [{ ip: '10.1.0.1' }] }] }), ['x', '', '90s']],
    [
      'core/nodes',
      object(
        {
          spec: { unschedulable: true },
          status: {
            conditions: [{ type: 'Ready', status: 'Unknown' }],
            addresses: [{ type: 'InternalIP', address: '10.0.0.5' }],
            nodeInfo: { kubeletVersion: 'v1.32.1' },
          },
        },
        {
          labels: {
            'node-role.kubernetes.io/control-plane': '',
            'kubernetes.io/role': 'worker',
            'node-role.example.com/no': '',
          },
        },
      ),
      [
        'x',
        'NotReady,SchedulingDisabled',
        'control-plane,worker',
        '90s',
        'v1.32.1',
        '10.0.0.5',
        '<none>',
        '<unknown>',
        '<unknown>',
        '<unknown>',
      ],
    ],
    [
      'core/persistentvolumeclaims',
      object({
        spec: { volumeName: 'pv', storageClassName: 'fast', volumeMode: 'Block' },
        status: { phase: 'Bound', accessModes: ['ReadWriteMany', 'ReadWriteOnce'], capacity: { storage: '2Gi' } },
      }),
      ['x', 'Bound', 'pv', '2Gi', 'RWO,RWX', 'fast', '<unset>', '90s', 'Block'],
    ],
    [
      'core/podtemplates',
      object({ template: { metadata: { labels: { app: 'x', 'app.example.com/name': 'y' } } } }),
      ['x', '', '', 'app.example.com/name=y,app=x'],
    ],
    [
      'networking.orchestrator.io/networkpolicies',
      object({ spec: { podSelector: { matchLabels: {} } } }),
      ['x', '<none>', '90s'],
    ],
    [
      'apiregistration.orchestrator.io/apiservices',
      object({ spec: {}, status: { conditions: [{ type: 'Available', status: 'False' }] } }),
      ['x', 'Local', 'False', '90s'],
    ],
    [
      'discovery.orchestrator.io/endpointslices',
      object({ addressType: 'IPv4', ports: [{ name: '' }] }),
      ['x', 'IPv4', '<unset>', '<unset>', '90s'],
    ],
    ['core/configmaps', object({ data: { a: '1', b: '2' }, binaryData: { c: 'AAA=' } }), ['x', 3, '90s']],
    [
      'core/resourcequotas',
      object({
        spec: { hard: { pods: '11', secrets: '1' } },
        status: { hard: { pods: '10', 'limits.memory': '8Gi' }, used: { pods: '2' } },
      }),
      ['x', '90s', 'pods: 2/10', 'limits.memory: 0/8Gi'],
    ],
    [
      'policy/poddisruptionbudgets',
      object({ spec: { minAvailable: 2 }, status: { disruptionsAllowed: 1 } }),
      ['x', '2', 'N/A', 1, '90s'],
    ],
    [
      'autoscaling/horizontalpodautoscalers',
      object({
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd' },
          minReplicas: 2,
          maxReplicas: 9,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } },
            { type: 'Resource', resource: { name: 'memory', target: { averageValue: '1Gi' } } },
          ],
        },
        status: {
          currentReplicas: 3,
          currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 55 } } }],
        },
      }),
      ['x', 'Deployment/d', 'cpu: 55%/80%, memory: <unknown>/1Gi', '2', 9, 3, '90s'],
    ],
    [
      'networking.orchestrator.io/ingresses',
      object({ spec: { rules: ['a', 'b', 'c', 'd'].map(host => ({ host })), tls: [{}] } }),
      ['x', '<none>', 'a,b,c + 1 more...', '', '80, 443', '90s'],
    ],
    [
      'networking.orchestrator.io/ingresses',
      object({ spec: { rules: [{}, { host: 'a' }, { host: 'b' }, { host: 'c' }, {}] } }),
      ['x', '<none>', 'a,b,c + 2 more...', '', '80', '90s'],
    ],
    [
      'autoscaling/horizontalpodautoscalers',
      object({
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd' },
          maxReplicas: 9,
          metrics: [
            { type: 'Pods', pods: { target: { averageValue: '5' } } },
            { type: 'External', external: { target: { value: '7' } } },
            { type: 'Object', object: { target: { averageValue: '9' } } },
          ],
        },
        status: { currentMetrics: [{ pods: { current: {} } }, { external: { current: { value: '3' } } }] },
      }),
      ['x', 'Deployment/d', '<nil>/5, 3/7 + 1 more...', '<unset>', 9, 0, '90s'],
    ],
    [
      'batch/jobs',
      object({ spec: {}, status: { conditions: [{ type: 'SuccessCriteriaMet', status: 'True' }] } }),
      ['x', 'Running', '0/1', '', '90s', '', '', '<none>'],
    ],
    [
      'certificates.orchestrator.io/certificatesigningrequests',
      object({ spec: { signerName: 'a/b' }, status: { conditions: [{ type: 'Failed', status: 'True' }] } }),
      ['x', '90s', 'a/b', '', '<none>', 'Pending,Failed'],
    ],
    [
      'admissionregistration.orchestrator.io/validatingadmissionpolicybindings',
      object({ spec: { policyName: 'p', paramRef: { name: 'q' } } }),
      ['x', 'p', '*/q', '90s'],
    ],
    [
      'admissionregistration.orchestrator.io/validatingadmissionpolicybindings',
      object({
        spec: {
          policyName: 'p',
          paramRef: {
            selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'k', operator: 'In', values: ['v', 'w'] }] },
          },
        },
      }),
      [
        'x',
        'p',
        '&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[v w],},},}',
        '90s',
      ],
    ],
    [
      'rbac.authorization.orchestrator.io/rolebindings',
      object({
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u1' },
          { kind: 'User', name: 'u2' },
          { kind: 'ServiceAccount', name: 's', namespace: 'n' },
        ],
      }),
      ['x', 'Role/r', '90s', 'u1, u2', '', 'n/s'],
    ],
    [
      'core/events',
      object({
        type: 'Warning',
        reason: 'Bad',
        involvedObject: { kind: 'Pod', name: 'p' },
        source: { component: 'agent', host: 'n1' },
        message: ' m ',
        count: 4,
        lastTimestamp: CREATED,
        firstTimestamp: CREATED,
      }),
      ['90s', 'Warning', 'Bad', 'pod/p', '', 'agent, n1', 'm', '90s', 4, 'x'],
    ],
    [
      'core/events',
      object({ involvedObject: { name: 'p' }, lastTimestamp: CREATED, series: { count: 0 }, reportingComponent: 'c' }),
      ['<unknown>', '', '', '/p', '', 'c', '', '<unknown>', 0, 'x'],
    ],
    [
      'core/events',
      object({ involvedObject: { kind: 'Pod' } }),
      ['<unknown>', '', '', 'pod', '', '', '', '<unknown>', 1, 'x'],
    ],
  ])('%s', (storageName, value, expected) => {
    expect(cells(storageName, value)).toEqual(expected);
  });

  it('marks the default storage class by the annotation of the naming', () => {
    const marked = object(
      { provisioner: 'p' },
      { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    );
    expect(cells('storage.orchestrator.io/storageclasses', marked)[0]).toBe('x (default)');
    expect(columnsOf('storage.orchestrator.io/storageclasses')?.[0]?.cell(marked)).toBe('x');
  });
});

describe('every built-in kind', () => {
  const registry = buildRegistry({ naming: namingOf('neutral'), strategies: () => undefined, generation: 1 });
  const names = [...new Set(registry.stored.map(resource => resource.storageName))];

  it('has its own columns, except for the kinds with the two default columns', () => {
    expect(names.filter(name => !columnsOf(name)).sort()).toEqual([
      'apiextensions.orchestrator.io/customresourcedefinitions',
      'core/limitranges',
      'rbac.authorization.orchestrator.io/clusterroles',
      'rbac.authorization.orchestrator.io/roles',
      'storage.orchestrator.io/csistoragecapacities',
    ]);
  });

  it('prints scalars for all objects that the decoder creates from JSON', () => {
    const columns = names.flatMap(name => (columnsOf(name) ?? []).map(column => ({ name, column })));
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('spec', 'status', 'data', 'subsets', 'ports', 'endpoints', 'subjects', 'roleRef', 'template'),
          fc.jsonValue(),
        ),
        rest => {
          for (const { name, column } of columns) {
            const value = showCell(column.cell(decodedOrEmpty(name, rest)), NOW);
            expect(value === null || ['string', 'number', 'boolean'].includes(typeof value)).toBe(true);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
