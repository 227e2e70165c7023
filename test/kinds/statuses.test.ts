import { expect, test } from 'vitest';
import { contextWith, decoded, lines, object, strategyOf } from './helpers.js';

/** The violations of a write of the status. */
const violations = (storageName: string, status: object): string[] => {
  const written = decoded(storageName, object('X', { status }));
  return lines(strategyOf(storageName).validateStatus(written, written, contextWith()));
};
const AUTOSCALER = 'autoscaling/horizontalpodautoscalers';
const BUDGET = 'policy/poddisruptionbudgets';
const CLAIM = 'core/persistentvolumeclaims';
const FLOW = 'flowcontrol.apiserver.orchestrator.io/flowschemas';
const SERVICE = 'apiregistration.orchestrator.io/apiservices';
const INGRESS = 'networking.orchestrator.io/ingresses';
const NODE = 'core/nodes';
const NEGATIVE = 'Invalid value: -1: must be greater than or equal to 0';

test('counts in a status must not be negative', () => {
  expect(violations(AUTOSCALER, { currentReplicas: -1, desiredReplicas: -1 })).toEqual([
    `status.currentReplicas: ${NEGATIVE}`,
    `status.desiredReplicas: ${NEGATIVE}`,
  ]);
  expect(violations(BUDGET, { disruptionsAllowed: -1, expectedPods: -1, currentHealthy: 0 })).toEqual([
    `status.disruptionsAllowed: ${NEGATIVE}`,
    `status.expectedPods: ${NEGATIVE}`,
  ]);
  expect(violations(NODE, { capacity: { cpu: '-1' }, allocatable: { cpu: '1' } })).toEqual([
    'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
  ]);
});

test('conditions of a budget must be complete', () => {
  const good = { type: 'A', status: 'True', reason: 'R:a_1', message: '', lastTransitionTime: '2020-01-01T00:00:00Z' };
  expect(violations(BUDGET, { conditions: [good] })).toEqual([]);
  const found = violations(BUDGET, {
    conditions: [good, { ...good, reason: 'r r' }, { type: '', status: 'Maybe', observedGeneration: -1, reason: '' }],
  });
  expect(found.map(one => one.slice(0, 90))).toEqual([
    'status.conditions[1].type: Duplicate value: "A"',
    expect.stringContaining('status.conditions[1].reason: Invalid value: "r r": a condition reason must start'),
    expect.stringContaining('status.conditions[2].type: Invalid value: "": name part must be non-empty'),
    expect.stringContaining('status.conditions[2].type: Invalid value: "": name part must consist of'),
    'status.conditions[2].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"'.slice(
      0,
      90,
    ),
    'status.conditions[2].observedGeneration: Invalid value: -1: must be greater than or equal to zero'.slice(0, 90),
    'status.conditions[2].lastTransitionTime: Required value: must be set',
    'status.conditions[2].reason: Required value: must be set',
  ]);
});

test('results of type checks of a policy must name the field and the error', () => {
  const policy = 'admissionregistration.orchestrator.io/validatingadmissionpolicies';
  const checked = (...expressionWarnings: object[]) => ({ typeChecking: { expressionWarnings } });
  const good = { fieldRef: 'spec.validations[0].expression', warning: 'w' };
  expect(violations(policy, checked(good))).toEqual([]);
  expect(violations(policy, checked(good, { fieldRef: '', warning: '' }))).toEqual([
    'status.typeChecking.expressionWarnings[1].warning: Required value',
    'status.typeChecking.expressionWarnings[1].fieldRef: Required value',
  ]);
  expect(violations(policy, { conditions: [{ type: 'A', status: 'Maybe', reason: 'R' }] })).toEqual([
    'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
    'status.conditions[0].lastTransitionTime: Required value: must be set',
  ]);
});

test('addresses and names in a status must be valid', () => {
  const ingress = [{ ip: 'x' }, { hostname: 'Bad_' }, { hostname: '1.2.3.4' }, { ip: '::1', hostname: 'a.b' }];
  expect(violations(INGRESS, { loadBalancer: { ingress } })).toEqual([
    'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    expect.stringContaining(
      'status.loadBalancer.ingress[1].hostname: Invalid value: "Bad_": a lowercase RFC 1123 subdomain',
    ),
    'status.loadBalancer.ingress[2].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
  ]);
  const address = { type: 'InternalIP', address: '1.2.3.4' };
  expect(violations(NODE, { addresses: [address, { ...address, type: 'ExternalIP' }, address] })).toEqual([
    'status.addresses[2]: Duplicate value: core.NodeAddress{Type:"InternalIP", Address:"1.2.3.4"}',
  ]);
});

test('amounts in a status must be valid', () => {
  expect(violations(NODE, { capacity: { 'example.com/x': '1500m', cpu: '1500m' } })).toEqual([
    'status.capacity.example.com/x: Invalid value: resource.Quantity{s:"1500m"}: must be an integer',
  ]);
  const storage = '-1';
  expect(
    violations(CLAIM, {
      capacity: { storage },
      allocatedResources: { storage, 'bad key': '1', cpu: '1', 'example.com/x': '1' },
      allocatedResourceStatuses: { storage: 'Odd' },
    }),
  ).toEqual([
    'status.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
    'status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity',
    expect.stringContaining('status.allocatedResources: Invalid value: "bad key": name part must consist of'),
    'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
    'status.allocatedResourceStatus: Unsupported value: storage: supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
  ]);
});

test('types of flow control conditions must be unique, and conditions of an APIService True, False or Unknown', () => {
  const conditions = [{ type: 'Mine', status: 'Maybe' }, { type: 'Mine', status: 'True' }, { status: 'True' }];
  expect(violations(FLOW, { conditions })).toEqual([
    'status.conditions[1].type: Duplicate value: "Mine"',
    'status.conditions[2].type: Required value: must not be empty',
  ]);
  expect(violations(SERVICE, { conditions })).toEqual([
    'status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"',
  ]);
});
