import type { Probe, ProbeHandler, PodTemplateSpec, PodSpec, Container } from '../../../../kinds/v1.js';
import { isAbsent, setDefault, setDefaultForZero } from '../../../../core/model/record.js';
import { CONTAINER_LISTS } from './containerLists.js';
import { resetProcMount } from './disabledFields.js';
import { pullPolicyFor } from './warnings/imageReference.js';
import { NO_DIVISOR, setVolumeDefaults } from './volumes/volumeDefaults.js';

function setProbeDefaults(probe: Probe): void {
  setDefaultForZero(probe, 'timeoutSeconds', 1);
  setDefaultForZero(probe, 'periodSeconds', 10);
  setDefaultForZero(probe, 'successThreshold', 1);
  setDefaultForZero(probe, 'failureThreshold', 3);
  setHandlerDefaults(probe);
}

function setHandlerDefaults(handler: Partial<ProbeHandler>): void {
  const http = handler.httpGet;
  if (http) {
    setDefault(http, 'path', '/');
    setDefault(http, 'scheme', 'HTTP');
  }
  const grpc = handler.grpc;
  if (grpc && isAbsent(grpc.service)) grpc.service = '';
}

function setContainerDefaults(container: Container): void {
  setDefault(container, 'imagePullPolicy', pullPolicyFor(container.image ?? ''));
  setDefault(container, 'terminationMessagePath', '/dev/termination-log');
  setDefault(container, 'terminationMessagePolicy', 'File');
  for (const port of container.ports ?? []) setDefault(port, 'protocol', 'TCP');
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    const found = container[probe];
    if (found) setProbeDefaults(found);
  }
  for (const hook of ['postStart', 'preStop'] as const) {
    const found = container.lifecycle?.[hook];
    if (found) setHandlerDefaults(found);
  }
  for (const variable of container.env ?? []) {
    const fieldRef = variable.valueFrom?.fieldRef;
    if (fieldRef) setDefault(fieldRef, 'apiVersion', 'v1');
    const resource = variable.valueFrom?.resourceFieldRef;
    if (resource) setDefault(resource, 'divisor', NO_DIVISOR);
  }
}

/** Sets the defaults of a pod spec, in pods and in templates. */
export function setPodSpecDefaults(pod: PodSpec): void {
  resetProcMount(pod);
  setDefault(pod, 'dnsPolicy', 'ClusterFirst');
  setDefault(pod, 'restartPolicy', 'Always');
  setDefault(pod, 'terminationGracePeriodSeconds', 30);
  setDefault(pod, 'schedulerName', 'default-scheduler');
  pod.securityContext ??= {};
  alignServiceAccount(pod);
  for (const member of CONTAINER_LISTS) {
    for (const container of pod[member] ?? []) {
      setContainerDefaults(container);
    }
  }
  for (const volume of pod.volumes ?? []) setVolumeDefaults(volume);
}

/**
 * `serviceAccount` is the deprecated name of `serviceAccountName`. Both get the same value; if both are set, that of
 * the new name.
 */
function alignServiceAccount(pod: PodSpec): void {
  const name = (pod.serviceAccountName ?? '') || (pod.serviceAccount ?? '');
  if (name === '') return;
  pod.serviceAccountName = name;
  pod.serviceAccount = name;
}

/** Sets the defaults of the pod spec of a template. */
export function setTemplateDefaults(template: PodTemplateSpec | undefined): void {
  if (!template) return;
  setPodSpecDefaults(template.spec);
}
