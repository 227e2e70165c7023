import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { typeOf } from '../../core/schema/table/types.js';
import { normalize } from '../../core/schema/decode/decode.js';
import { configKeyComplaints } from '../../plugins/kinds/shared/configData.js';
import { validateNonSpecialIp } from '../../plugins/kinds/shared/ipAddresses.js';
import { create, lines, object, update } from './helpers.js';

const b64 = (text: string): string => Buffer.from(text).toString('base64');
const fields = (found: readonly { field: string }[]): string[] => found.map(({ field }) => field);

describe('configuration', () => {
  it('keys must be names of files inside of a directory', () => {
    fc.assert(
      fc.property(fc.string(), key => {
        if (configKeyComplaints(key).length > 0) return;
        expect(key).toMatch(/^[-._a-zA-Z0-9]{1,253}$/);
        expect(key === '.' || key.startsWith('..')).toBe(false);
      }),
    );
    expect(configKeyComplaints('...')).toEqual(["must not start with '..'"]);
  });
  it('a key is in only one of the two maps of a ConfigMap', () => {
    const { violations } = create(
      'core/configmaps',
      object('ConfigMap', { data: { k: 'v' }, binaryData: { k: 'AA==' } }),
    );
    expect(lines(violations)).toEqual(['data[k]: Invalid value: "k": duplicate of key present in binaryData']);
  });
  it.each([
    ['kubernetes.io/tls', { 'tls.key': b64('k') }, ['data[tls.crt]']],
    ['kubernetes.io/basic-auth', { password: '' }, []],
    ['kubernetes.io/ssh-auth', {}, ['data[ssh-privatekey]']],
    ['kubernetes.io/dockercfg', { '.dockercfg': b64('{"auths":{}}') }, []],
    ['kubernetes.io/dockerconfigjson', { '.dockerconfigjson': b64('[]') }, ['data[.dockerconfigjson]']],
    ['kubernetes.io/service-account-token', {}, ['metadata.annotations[kubernetes.io/service-account.name]']],
    ['example.com/own', {}, []],
  ])('a Secret of type %s with %j lacks %j', (type, data, missing) => {
    expect(fields(create('core/secrets', object('Secret', { type, data })).violations)).toEqual(missing);
  });
  it('does not report the contents of a malformed Secret', () => {
    const { violations } = create(
      'core/secrets',
      object('Secret', { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '{"password":"pa55"' } }),
    );
    expect(lines(violations)).toHaveLength(1);
    expect(lines(violations)[0]).not.toContain('pa55');
  });
});

describe('endpoints', () => {
  const addressed = (ip: string) =>
    create('core/endpoints', object('Endpoints', { subsets: [{ addresses: [{ ip }] }] })).violations;
  it.each(['127.0.0.1', '0.0.0.0', '::', '::1', '169.254.1.1', 'fe80::1', 'febf::', '224.0.0.251', 'ff02::1', 'x', ''])(
    'traffic cannot be sent to %j',
    ip => {
      expect(fields(addressed(ip)).every(field => field === 'subsets[0].addresses[0].ip')).toBe(true);
      expect(addressed(ip)).not.toEqual([]);
    },
  );
  it.each(['10.0.0.1', 'fd00::1', '::ffff:10.0.0.1', '225.0.0.1', 'fec0::1'])('traffic can be sent to %s', ip => {
    expect(validateNonSpecialIp(ip, 'ip')).toEqual([]);
  });
  it('several ports need names, and unchanged subsets are not validated again', () => {
    const made = object('Endpoints', {
      subsets: [{ addresses: [{ ip: '1.1.1.1' }], ports: [{ port: 1 }, { port: 2, name: 'b' }] }],
    });
    const first = create('core/endpoints', made);
    expect(fields(first.violations)).toEqual(['subsets[0].ports[0].name']);
    expect(update('core/endpoints', first.made, draft => void (draft.metadata.labels = { a: 'b' })).violations).toEqual(
      [],
    );
  });
  it.each([
    ['IPv4', ['fd00::1'], ['must be a valid IPv4 address']],
    ['IPv6', ['fd00::1'], []],
    ['FQDN', ['one'], ['should be a domain with at least two segments separated by dots']],
    ['FQDN', ['a.example.'], []],
  ])('slices of %s contain %j', (addressType, addresses, wrong) => {
    const slice = object('EndpointSlice', {
      addressType,
      endpoints: [{ addresses, deprecatedTopology: { 'bad key': '' } }],
    });
    const { made, violations } = create('discovery.orchestrator.io/endpointslices', slice);
    expect(violations.map(({ message }) => message.split(': ').at(-1))).toEqual(wrong);
    expect((made.endpoints as object[])[0]).toEqual({ addresses, conditions: {} });
  });
});

describe('permissions', () => {
  const ROLES = 'rbac.authorization.orchestrator.io';
  const role = (kind: string, rules: object[]) => create(`${ROLES}/${kind}`, object('Role', { rules })).violations;
  it('rules must have verbs, and resources with their groups or, in cluster roles, paths', () => {
    expect(fields(role('roles', [{}]))).toEqual(['rules[0].verbs', 'rules[0].apiGroups', 'rules[0].resources']);
    expect(fields(role('roles', [{ verbs: ['get'], nonResourceURLs: ['/x'] }]))).toEqual(['rules[0].nonResourceURLs']);
    expect(role('clusterroles', [{ verbs: ['get'], nonResourceURLs: ['/x'] }])).toEqual([]);
  });
  it('cluster role bindings refer to cluster roles, and to service accounts with their namespaces', () => {
    const roleRef = { kind: 'Role', name: 'r' };
    const subjects = [
      { kind: 'ServiceAccount', name: 's' },
      { kind: 'User', name: 'u' },
    ];
    const of = (kind: string) => fields(create(`${ROLES}/${kind}`, object('B', { roleRef, subjects })).violations);
    expect(of('clusterrolebindings')).toEqual(['roleRef.kind', 'subjects[0].namespace']);
    expect(of('rolebindings')).toEqual([]);
  });
});

describe('events', () => {
  const event = (rest: object, apiVersion = 'v1') =>
    object('Event', { involvedObject: { kind: 'Pod', namespace: 'n', name: 'p' }, ...rest }, apiVersion);
  const eventTime = '2024-01-02T03:04:05.678901Z';
  it('events of old clients have few checks, those with eventTime need a reporter in the field of their version', () => {
    expect(create('core/events', event({ type: 'Odd' })).violations).toEqual([]);
    const found = fields(
      create('core/events', event({ eventTime, reason: 'R', action: 'A', reportingInstance: 'i' })).violations,
    );
    expect([...new Set(found)]).toEqual(['reportingComponent']);
  });
  it('events of the newer version are immutable, except for their series', () => {
    const made = object(
      'Event',
      {
        regarding: { kind: 'Pod', namespace: 'n', name: 'p' },
        eventTime,
        reportingController: 'c',
        reportingInstance: 'i',
        action: 'A',
        reason: 'R',
        type: 'Normal',
      },
      'events.k8s.io/v1',
    );
    const change = (to: object) =>
      fields(update('core/events', made, draft => void Object.assign(draft, to)).violations);
    expect(create('core/events', made).violations).toEqual([]);
    expect(change({ series: { count: 2, lastObservedTime: eventTime } })).toEqual([]);
    expect(change({ series: { count: 1 } })).toEqual(['series.count', 'series.lastObservedTime']);
    expect(change({ note: 'other', reason: 'S' })).toEqual(['reason', 'message']);
    const later = { eventTime: '2024-01-02T03:04:05.500000Z', deprecatedFirstTimestamp: '2024-01-02T03:04:00Z' };
    expect(lines(update('core/events', made, draft => void Object.assign(draft, later)).violations)).toEqual([
      'firstTimestamp: Invalid value: 2024-01-02 03:04:00 +0000 UTC: field is immutable',
      'eventTime: Invalid value: 2024-01-02 03:04:05.5 +0000 UTC: field is immutable',
    ]);
  });
});

describe('formats of values', () => {
  const decoded = (type: string, value: object) => normalize(typeOf(type), value as never, { strictErrors: [] });
  it('amounts of resources are whole thousandths, rounded up [R127]', () => {
    const resources = decoded('core.v1.ResourceRequirements', {
      limits: { cpu: '1u', memory: '0.1Gi', x: '1e-6', y: '2' },
    });
    expect(resources).toEqual({ limits: { cpu: '1m', memory: '107374182400m', x: '1e-3', y: '2' } });
  });
  it('an empty list that is always encoded is null, and null bytes are empty', () => {
    expect(decoded('rbac.v1.Role', { rules: [] })).toMatchObject({ rules: null });
    expect(decoded('core.v1.Secret', { data: { k: null } })).toMatchObject({ data: { k: '' } });
  });
});
