import { expect, test } from 'vitest';
import type { ServiceSpec } from '../../kinds/v1.js';
import { dropFieldsOfOldType } from '../../plugins/kinds/core/service/fields.js';
import { create, decodedPart, object, update } from './helpers.js';

/** The last segment of the path of each violation, in the order in which they are reported. */
const reported = (storageName: string, kind: string, spec: object, apiVersion = 'v1'): string[] =>
  create(storageName, object(kind, { spec }, apiVersion)).violations.map(({ field, reason }) => `${field} ${reason}`);

test('the type of a limit is validated before it is compared with those of other limits', () => {
  const limits = [{ type: '/x' }, { type: '/x', default: {} }];
  expect(reported('core/limitranges', 'LimitRange', { limits })).toEqual([
    'spec.limits[0].type FieldValueInvalid',
    'spec.limits[1].type FieldValueInvalid',
    'spec.limits[1].type FieldValueDuplicate',
  ]);
});

test('repeated address ranges of a node are reported after too many of a family', () => {
  const podCIDRs = ['10.0.0.0/24', '10.0.0.0/24'];
  expect(reported('core/nodes', 'Node', { podCIDRs })).toEqual([
    'spec.podCIDRs FieldValueInvalid',
    'spec.podCIDRs[1] FieldValueDuplicate',
  ]);
});

test('the limits of the history of a CronJob are validated after its jobs', () => {
  const template = { spec: { containers: [], restartPolicy: 'Never' } };
  const limits = { successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1, startingDeadlineSeconds: -1 };
  const spec = { schedule: 'x', concurrencyPolicy: 'x', jobTemplate: { spec: { template } }, ...limits };
  expect(reported('batch/cronjobs', 'CronJob', spec, 'batch/v1')).toEqual([
    'spec.schedule FieldValueInvalid',
    'spec.startingDeadlineSeconds FieldValueInvalid',
    'spec.concurrencyPolicy FieldValueNotSupported',
    'spec.jobTemplate.spec.template.spec.containers FieldValueRequired',
    'spec.successfulJobsHistoryLimit FieldValueInvalid',
    'spec.failedJobsHistoryLimit FieldValueInvalid',
  ]);
});

test.each([
  ['absent ones before', [], ['accessModes FieldValueRequired', 'selector.matchLabels FieldValueInvalid']],
  ['unknown ones after', ['x'], ['selector.matchLabels FieldValueInvalid', 'accessModes FieldValueNotSupported']],
])('the access modes of a claim are reported: %s the selector', (_, accessModes, expected) => {
  const spec = { accessModes, selector: { matchLabels: { 'a b': 'c' } }, resources: { requests: { storage: '1' } } };
  expect(reported('core/persistentvolumeclaims', 'PersistentVolumeClaim', spec)).toEqual(
    expected.map(line => `spec.${line}`),
  );
});

test('ReadWriteOncePod conflicts only with other known modes', () => {
  const source = { capacity: { storage: '1' }, hostPath: { path: '/a' } };
  const of = (...accessModes: string[]) =>
    reported('core/persistentvolumes', 'PersistentVolume', { accessModes, ...source });
  expect(of('ReadWriteOncePod', 'x')).toEqual(['spec.accessModes FieldValueNotSupported']);
  expect(of('ReadWriteOncePod', 'ReadWriteOnce')).toEqual(['spec.accessModes FieldValueForbidden']);
});

test('an inline local volume of an attachment is reported without node affinity even if it has one', () => {
  const inlineVolumeSpec = { accessModes: ['ReadWriteOnce'], nodeAffinity: {}, local: { path: '/a' } };
  const spec = {
    attacher: 'a',
    nodeName: 'n',
    source: { inlineVolumeSpec: { ...inlineVolumeSpec, csi: { driver: 'd', volumeHandle: 'h' } } },
  };
  const found = reported('storage.orchestrator.io/volumeattachments', 'VolumeAttachment', spec, 'storage.k8s.io/v1');
  expect(found).toEqual([
    'spec.source.inlineVolumeSpec.nodeAffinity FieldValueForbidden',
    'spec.source.inlineVolumeSpec.nodeAffinity FieldValueRequired',
    'spec.source.inlineVolumeSpec.csi FieldValueForbidden',
  ]);
});

test('the duration of a toleration of a pod can change, whatever its effect', () => {
  const spec = { containers: [{ name: 'c', image: 'i' }], tolerations: [{ key: 'k', operator: 'Exists' }] };
  const old = create('core/pods', object('Pod', { spec })).made;
  const { violations } = update('core/pods', old, draft => {
    Object.assign(draft.spec as object, { tolerations: [{ key: 'k', operator: 'Exists', tolerationSeconds: 1 }] });
  });
  expect(violations.map(({ field }) => field)).toEqual(['spec.tolerations[0].effect']);
});

test('a Service that ceases to be a load balancer loses the class that it had, but not an empty one that is sent', () => {
  const dropped = (now: object, before: object): object => {
    const balancer = decodedPart<ServiceSpec>('core.v1.ServiceSpec', { type: 'LoadBalancer', ...before });
    const spec = decodedPart<ServiceSpec>('core.v1.ServiceSpec', { type: 'ClusterIP', ...now });
    dropFieldsOfOldType(spec, balancer);
    return spec;
  };
  const same = { loadBalancerClass: 'a' };
  expect(dropped(same, same)).not.toHaveProperty('loadBalancerClass');
  expect(dropped({ loadBalancerClass: '' }, {})).toHaveProperty('loadBalancerClass', '');
});

test('name and selector of parameters are validated before they are refused together', () => {
  const paramRef = { name: 'a/b', selector: { matchLabels: { 'a b': 'c' } }, parameterNotFoundAction: 'Deny' };
  const spec = { policyName: 'p', paramRef, validationActions: ['Deny'] };
  const kind = 'ValidatingAdmissionPolicyBinding';
  const storageName = 'admissionregistration.orchestrator.io/validatingadmissionpolicybindings';
  expect(reported(storageName, kind, spec, 'admissionregistration.k8s.io/v1')).toEqual([
    'spec.paramRef.name FieldValueInvalid',
    'spec.paramRef.name FieldValueForbidden',
    'spec.paramRef.selector.matchLabels FieldValueInvalid',
    'spec.paramRef.selector FieldValueForbidden',
  ]);
});

test("the parts of a pod and of its containers are validated in upstream's order", () => {
  const securityContext = {
    seccompProfile: { type: 'x' },
    appArmorProfile: { type: 'x' },
    windowsOptions: { runAsUserName: '' },
  };
  const spec = {
    hostNetwork: true,
    hostPID: true,
    shareProcessNamespace: true,
    securityContext: { ...securityContext, fsGroupChangePolicy: 'x', sysctls: [{ name: '', value: '' }] },
    containers: [
      {
        name: 'c',
        image: 'i',
        terminationMessagePolicy: 'x',
        ports: [{ containerPort: 1, hostPort: 2, protocol: 'x' }],
        securityContext,
      },
    ],
    initContainers: [{ name: 'c', image: '', restartPolicy: 'x' }],
    ephemeralContainers: [{ name: 'e', image: '' }],
  };
  const found = reported('core/pods', 'Pod', spec).map(line => line.replace(/^spec\.| FieldValue\w+$/g, ''));
  expect(found.slice(0, -1)).toEqual([
    'containers[0].terminationMessagePolicy',
    'containers[0].ports[0].protocol',
    'containers[0].securityContext.seccompProfile.type',
    'containers[0].securityContext.windowsOptions.runAsUserName',
    'containers[0].securityContext.appArmorProfile.type',
    'initContainers[0].image',
    'initContainers[0].restartPolicy',
    'initContainers[0].name',
    'ephemeralContainers[0].image',
    'containers[0].ports[0].hostPort',
    'securityContext.shareProcessNamespace',
    'securityContext.sysctls[0].name',
    'securityContext.fsGroupChangePolicy',
    'securityContext.seccompProfile.type',
    'securityContext.windowsOptions.runAsUserName',
    'securityContext.appArmorProfile.type',
  ]);
});

test('empty strings for an Azure disk are refused, not defaulted', () => {
  const azureDisk = { diskName: 'd', diskURI: 'https://d', cachingMode: '', kind: '' };
  const spec = { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', azureDisk }] };
  expect(reported('core/pods', 'Pod', spec)).toEqual([
    'spec.volumes[0].azureDisk.cachingMode FieldValueNotSupported',
    'spec.volumes[0].azureDisk.kind FieldValueNotSupported',
  ]);
});
