import { expect, test } from 'vitest';
import type { ApiObject } from '../../core/model/object.js';
import type { Pod } from '../../kinds/v1.js';
import { decoded } from './helpers.js';
import { validatePodStatus, alignPodIps } from '../../plugins/kinds/core/pod/status.js';

const pod = (status: object, spec: object = { restartPolicy: 'Never' }): Pod =>
  decoded('core/pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec, status } as ApiObject);
const messagesOf = (now: object, before: object = {}, spec?: object): string[] =>
  validatePodStatus(pod(now, spec), pod(before, spec)).map(({ field, message }) => `${field}: ${message}`);
const NAME = "must consist of lower case alphanumeric characters, '-' or '.', and must start and end";
const ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const ONE = 'may specify no more than one IP for each IP family';
const ended = { name: 'c', state: { terminated: { exitCode: 1 } } };
const runs = { name: 'c', state: { running: {} } };

test('violations of the status of a pod have the messages of upstream', () => {
  expect(messagesOf({ nominatedNodeName: 'Bad_' })[0]).toContain(`status.nominatedNodeName: Invalid value: "Bad_": `);
  expect(messagesOf({ nominatedNodeName: 'Bad_' })[0]).toContain(NAME);
  expect(messagesOf({ nominatedNodeName: 'Bad_' }, { nominatedNodeName: 'Bad_' })).toEqual([]);
  expect(messagesOf({ conditions: [{ type: 'Ready' }, { type: 'a b' }] })[0]).toContain(
    'metadata.conditions[1].Type: Invalid value: "a b"',
  );
  expect(messagesOf({ podIPs: [{ ip: 'x' }] })).toEqual([`status.podIPs[0]: Invalid value: "x": ${ADDRESS}`]);
  expect(messagesOf({ podIPs: [{ ip: '1.2.3.4' }, { ip: '::1' }] })).toEqual([]);
  expect(messagesOf({ podIPs: [{ ip: '1.2.3.4' }, { ip: '1.2.3.4' }] })).toEqual([
    `status.podIPs: Invalid value: [{"ip":"1.2.3.4"},{"ip":"1.2.3.4"}]: ${ONE}`,
    'status.podIPs[1]: Duplicate value: {"ip":"1.2.3.4"}',
  ]);
  expect(messagesOf({ hostIP: '1.1.1.1', hostIPs: [{ ip: '2.2.2.2' }] })).toEqual([
    'status.hostIPs[0].ip: Invalid value: "2.2.2.2": must be equal to `hostIP`',
  ]);
  expect(messagesOf({ resourceClaimStatuses: [{ name: 'a' }] })).toEqual([
    'status.resourceClaimStatuses[0].name: Invalid value: "a": must match the name of an entry in `spec.resourceClaims`',
  ]);
  expect(messagesOf({ qosClass: 'Burstable' }, { qosClass: 'BestEffort' })).toEqual([
    'status.qosClass: Invalid value: "Burstable": field is immutable',
  ]);
});

test('a terminated container remains terminated unless the pod restarts it', () => {
  const stays = (member: string): string[] => [
    `status.${member}[0].state: Forbidden: may not be transitioned to non-terminated state`,
  ];
  for (const member of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']) {
    expect(messagesOf({ [member]: [runs] }, { [member]: [ended] })).toEqual(stays(member));
    expect(messagesOf({ [member]: [ended] }, { [member]: [ended] })).toEqual([]);
  }
  for (const restartPolicy of ['Always', 'OnFailure'])
    expect(messagesOf({ containerStatuses: [runs] }, { containerStatuses: [ended] }, { restartPolicy })).toEqual([]);
  const sidecar = { restartPolicy: 'Never', initContainers: [{ name: 'c', restartPolicy: 'Always' }] };
  expect(messagesOf({ initContainerStatuses: [runs] }, { initContainerStatuses: [ended] }, sidecar)).toEqual([]);
});

test.each([
  [{ podIP: '1.1.1.1' }, { podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.1' }] }],
  [{ podIPs: [{ ip: '1.1.1.1' }, { ip: '::1' }] }, { podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.1' }, { ip: '::1' }] }],
  [
    { podIP: '2.2.2.2', podIPs: [{ ip: '1.1.1.1' }] },
    { podIP: '2.2.2.2', podIPs: [{ ip: '2.2.2.2' }] },
  ],
  [{}, {}],
])('podIP is the first of podIPs: %j', (given, settled) => {
  alignPodIps(given as never);
  expect(given).toEqual(settled);
});
