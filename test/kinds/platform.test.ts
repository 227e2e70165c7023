import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../core/model/object.js';
import { namingOf } from '../../core/naming.js';
import type { PriorityLevelConfiguration } from '../../kinds/flowcontrol/v1.js';
import {
  convertLevel,
  setShares,
  validateAnnotations,
} from '../../plugins/kinds/flowcontrol/priorityLevelConfiguration/shares.js';
import { cidrComplaints, isStrictSubset } from '../../plugins/kinds/shared/ipAddresses.js';
import { create, lines, object, update } from './helpers.js';

const FLOW = 'flowcontrol.apiserver.orchestrator.io';
const NETWORK = 'networking.orchestrator.io';
const STORAGE = 'storage.orchestrator.io';

const withSpec = (spec: object, name = 'x'): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Kind',
  metadata: { name },
  spec: spec as ApiObject[string],
});

/** The violations of a new object. */
const violationsOf = (storageName: string, made: ApiObject): string[] => lines(create(storageName, made).violations);

describe('flow schemas', () => {
  const level = { priorityLevelConfiguration: { name: 'l' } };
  const subject = { kind: 'User', user: { name: 'u' } };
  const rule = (resourceRule: object): object => ({
    ...level,
    rules: [
      {
        subjects: [subject],
        resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['n'], ...resourceRule }],
      },
    ],
  });
  it('precedence 1 is reserved for the schema exempt, whose spec is fixed', () => {
    expect(violationsOf(`${FLOW}/flowschemas`, withSpec({ ...level, matchingPrecedence: 1 }))).toEqual([
      "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
    ]);
    expect(violationsOf(`${FLOW}/flowschemas`, withSpec({ ...level, matchingPrecedence: 1 }, 'exempt'))).toEqual([
      expect.stringMatching(/^spec: .* spec of 'exempt' must equal the fixed value$/),
    ]);
  });
  it('* must be the only item in each list of a rule', () => {
    expect(violationsOf(`${FLOW}/flowschemas`, withSpec(rule({ resources: ['*', 'pods'] })))).toEqual([
      'spec.rules[0].resourceRules[0].resources: Invalid value: []string{"*", "pods"}: ' +
        "if '*' is present, must not specify other resources",
    ]);
  });
  it('only rules with clusterScope may omit namespaces', () => {
    expect(violationsOf(`${FLOW}/flowschemas`, withSpec(rule({ namespaces: [], clusterScope: true })))).toEqual([]);
    expect(violationsOf(`${FLOW}/flowschemas`, withSpec(rule({ namespaces: [] })))).toEqual([
      'spec.rules[0].resourceRules[0].namespaces: Required value: ' +
        'resource rules that are not cluster scoped must supply at least one namespace',
    ]);
  });
});

describe('priority levels', () => {
  const queuing = (queues: number, handSize: number): ApiObject =>
    withSpec({
      type: 'Limited',
      limited: { limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 1 } } },
    });
  it('shares of 0 mean absent shares in v1beta3, except with an annotation, which v1 does not have', () => {
    const naming = namingOf('kubernetes');
    const annotation = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';
    const [v1, v1beta3] = ['flowcontrol.apiserver.k8s.io/v1', 'flowcontrol.apiserver.k8s.io/v1beta3'] as const;
    const level = (
      apiVersion: string,
      shares: number | null,
      annotations?: Record<string, string>,
    ): PriorityLevelConfiguration => ({
      apiVersion,
      kind: 'PriorityLevelConfiguration',
      metadata: { name: 'a', ...(annotations && { annotations }) },
      spec: {
        type: 'Limited',
        limited: { nominalConcurrencyShares: shares, limitResponse: { type: 'Reject' } },
      },
    });
    const stored = (object: PriorityLevelConfiguration): PriorityLevelConfiguration => {
      setShares(object, naming);
      return convertLevel(object, v1, naming);
    };
    for (const shares of [0, null]) expect(stored(level(v1beta3, shares))).toEqual(level(v1, 30));
    expect(stored(level(v1beta3, 0, { [annotation]: '', a: 'b' }))).toEqual(level(v1, 0, { a: 'b' }));
    expect(stored(level(v1beta3, 5, { [annotation]: '' }))).toEqual(level(v1, 5));
    expect(stored(level(v1, 0))).toEqual(level(v1, 0));
    const answered = level(v1beta3, 5, { [annotation]: '', a: 'b' });
    setShares(answered, naming);
    expect(answered).toEqual(level(v1beta3, 5, { a: 'b' }));
    const alone = level(v1beta3, 5, { [annotation]: '' });
    setShares(alone, naming);
    expect(alone).toEqual(level(v1beta3, 5));
    expect(convertLevel(level(v1, 0), v1beta3, naming)).toEqual(level(v1beta3, 0, { [annotation]: '' }));
    expect(convertLevel(level(v1, 5), v1beta3, naming)).toEqual(level(v1beta3, 5));
    expect(validateAnnotations(level(v1beta3, 0, { [annotation]: '' }), naming)).toEqual([]);
    expect(validateAnnotations(level(v1, 0, { [annotation]: '' }), naming)[0]?.message).toContain('is forbidden');
  });

  it('shares of 0 are kept, and only absent ones default to 30', () => {
    const made = (nominalConcurrencyShares?: number): unknown =>
      create(
        `${FLOW}/prioritylevelconfigurations`,
        withSpec({ type: 'Limited', limited: { nominalConcurrencyShares, limitResponse: { type: 'Reject' } } }),
      ).made.spec;
    expect(made(0)).toMatchObject({ limited: { nominalConcurrencyShares: 0 } });
    expect(made()).toMatchObject({ limited: { nominalConcurrencyShares: 30 } });
  });
  it.each([
    [64, 10, undefined],
    [10, 11, 'should not be greater than queues (10)'],
    [64, 11, 'required entropy bits of deckSize 64 and handSize 11 should not be greater than 60'],
  ])('%d queues with hands of %d: %s', (queues, hand, why) => {
    expect(violationsOf(`${FLOW}/prioritylevelconfigurations`, queuing(queues, hand))).toEqual(
      why ? [`spec.limited.limitResponse.queuing.handSize: Invalid value: ${hand}: ${why}`] : [],
    );
  });
});

describe('ingresses', () => {
  const service = { service: { name: 's', port: { number: 1 } } };
  const withPath = (path: object): ApiObject =>
    withSpec({ rules: [{ host: 'a.b', http: { paths: [{ backend: service, ...path }] } }] });
  it.each([
    [{ path: '/' }, ['pathType: Required value: pathType must be specified']],
    [{ path: '/a', pathType: 'Exact' }, []],
    [{ path: 'a', pathType: 'Prefix' }, ['path: Invalid value: "a": must be an absolute path']],
    [{ path: '/a//b', pathType: 'Exact' }, [`path: Invalid value: "/a//b": must not contain '//'`]],
    [{ path: '/a//b', pathType: 'ImplementationSpecific' }, []],
  ])('%j is a path with the violations %j', (path, wrong) => {
    expect(violationsOf(`${NETWORK}/ingresses`, withPath(path))).toEqual(
      wrong.map(line => `spec.rules[0].http.paths[0].${line}`),
    );
  });
  it('an update may keep hosts with malformed wildcards that the object already has', () => {
    const made = withSpec({ rules: [{ host: '*.a.*' }] });
    expect(violationsOf(`${NETWORK}/ingresses`, made)).toHaveLength(1);
    expect(update(`${NETWORK}/ingresses`, made, draft => void (draft.metadata.labels = {})).violations).toEqual([]);
  });
  it('a new one names its class in the field, in the annotation, or equally in both', () => {
    const made = withSpec({ defaultBackend: service, ingressClassName: 'a' });
    made.metadata.annotations = { 'kubernetes.io/ingress.class': 'b' };
    expect(violationsOf(`${NETWORK}/ingresses`, made)).toEqual([
      'annotations.kubernetes.io/ingress.class: Invalid value: "b": ' +
        'must match `ingressClassName` when both are specified',
    ]);
  });
});

describe('network policies', () => {
  it.each([
    ['10.0.0.0/9', '10.0.0.0/8', true],
    ['10.0.0.0/8', '10.0.0.0/8', false],
    ['11.0.0.0/9', '10.0.0.0/8', false],
    ['::/1', '0.0.0.0/0', false],
    ['1::/16', '::/0', true],
  ])('%s is a part of %s: %s', (inner, outer, isPart) => expect(isStrictSubset(inner, outer)).toBe(isPart));
  it.each(['x', '1.2.3.4', '1.2.3.4/33', '::1/129', '1.2.3.4/-1', '::1%a/8'])('%s is not a range', text =>
    expect(cidrComplaints(text)).toHaveLength(1),
  );
  it.each(['0.0.0.0/0', '010.0.0.0/08', '::/0', '::ffff:1.2.3.4/24'])('%s is a range', text =>
    expect(cidrComplaints(text)).toEqual([]),
  );
});

describe('autoscalers', () => {
  const scaled = (spec: object, apiVersion = 'autoscaling/v2'): string[] =>
    violationsOf('autoscaling/horizontalpodautoscalers', {
      ...withSpec({ scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3, ...spec }),
      apiVersion,
    });
  it('both versions are validated as v2', () => {
    expect(scaled({ targetCPUUtilizationPercentage: 0 }, 'autoscaling/v1')).toEqual([
      'spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0',
    ]);
  });
  it('a metric has the source of its type and no other source', () => {
    const target = { type: 'Utilization', averageUtilization: 1 };
    const metric = { type: 'Resource', resource: { name: 'cpu', target }, pods: {} };
    expect(scaled({ metrics: [metric] })).toContain(
      'spec.metrics[0].pods: Forbidden: must populate the given metric source only',
    );
    expect(scaled({ metrics: [{ type: 'Resource' }] })).toEqual([
      'spec.metrics[0].resource: Required value: must populate information for the given metric source',
    ]);
  });
});

describe('storage', () => {
  it('drivers that remain in a CSINode are immutable', () => {
    const driver = (name: string, nodeID: string): object => ({ name, nodeID, topologyKeys: [] });
    const made = withSpec({ drivers: [driver('a', '1')] });
    const changed = (drivers: object[]): string[] =>
      lines(update(`${STORAGE}/csinodes`, made, draft => void Object.assign(draft, { spec: { drivers } })).violations);
    expect(changed([driver('b', '2')])).toEqual([]);
    expect(changed([driver('a', '2')])).toEqual([expect.stringMatching(/^CSINodeDriver: .*field is immutable$/)]);
  });
  it('an attachment names a volume or contains one', () => {
    const attach = (source: object): string[] =>
      violationsOf(`${STORAGE}/volumeattachments`, withSpec({ attacher: 'a', nodeName: 'n', source }));
    expect(attach({ persistentVolumeName: 'p' })).toEqual([]);
    expect(attach({})).toEqual([
      'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
    ]);
  });
  it('allowed topologies of a class must differ from each other', () => {
    const term = { matchLabelExpressions: [{ key: 'zone', values: ['a'] }] };
    const made = object('StorageClass', { provisioner: 'p', allowedTopologies: [term, term] });
    expect(violationsOf(`${STORAGE}/storageclasses`, made)).toEqual([
      'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
    ]);
  });
});

describe('other kinds', () => {
  it('budgets have either minAvailable or maxUnavailable', () => {
    expect(violationsOf('policy/poddisruptionbudgets', withSpec({ minAvailable: 1, maxUnavailable: 1 }))).toEqual([
      expect.stringContaining('minAvailable and maxUnavailable cannot be both set'),
    ]);
  });
  it('the name of an APIService consists of its version and its group', () => {
    const spec = { group: 'g.x', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 };
    const storageName = 'apiregistration.orchestrator.io/apiservices';
    expect(violationsOf(storageName, withSpec(spec, 'v1.g.x'))).toEqual([]);
    expect(violationsOf(storageName, withSpec(spec, 'v2.g.x'))).toEqual([
      'metadata.name: Invalid value: "v2.g.x": must be `spec.version+"."+spec.group`: "v1.g.x"',
    ]);
  });
  it('reserved priority classes have fixed values', () => {
    const made = object('PriorityClass', { value: 1 });
    made.metadata.name = 'system-node-critical';
    expect(violationsOf('scheduling.orchestrator.io/priorityclasses', made)).toEqual([
      expect.stringContaining('value of system-node-critical PriorityClass must be 2000001000'),
    ]);
  });
  it('the parameters of an IngressClass have a namespace only with the scope Namespace', () => {
    const scoped = (parameters: object): string[] =>
      violationsOf(
        `${NETWORK}/ingressclasses`,
        withSpec({ controller: 'a.b/c', parameters: { kind: 'K', name: 'n', ...parameters } }),
      );
    expect(scoped({})).toEqual([]);
    expect(scoped({ namespace: 'n' })).toHaveLength(1);
    expect(scoped({ scope: 'Namespace' })).toHaveLength(1);
  });
});
