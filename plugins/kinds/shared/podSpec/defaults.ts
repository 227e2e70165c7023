import {
  ensureRecord,
  isAbsent,
  recordAt,
  recordsAt,
  setDefault,
  setDefaultForZero,
  stringAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import { CONTAINER_LISTS } from './containerLists.js';
import { clearDisabledFields } from './disabledFields.js';
import { pullPolicyFor } from './imageReference.js';
import { setVolumeDefaults } from './volumeDefaults.js';

function setProbeDefaults(probe: UnknownRecord): void {
  setDefaultForZero(probe, 'timeoutSeconds', 1);
  setDefaultForZero(probe, 'periodSeconds', 10);
  setDefaultForZero(probe, 'successThreshold', 1);
  setDefaultForZero(probe, 'failureThreshold', 3);
  setHandlerDefaults(probe);
}

function setHandlerDefaults(handler: UnknownRecord): void {
  const http = recordAt(handler, 'httpGet');
  if (http) {
    setDefault(http, 'path', '/');
    setDefault(http, 'scheme', 'HTTP');
  }
  const grpc = recordAt(handler, 'grpc');
  if (grpc && isAbsent(grpc.service)) grpc.service = '';
}

function setContainerDefaults(container: UnknownRecord): void {
  setDefault(container, 'imagePullPolicy', pullPolicyFor(stringAt(container, 'image')));
  setDefault(container, 'terminationMessagePath', '/dev/termination-log');
  setDefault(container, 'terminationMessagePolicy', 'File');
  for (const port of recordsAt(container, 'ports')) setDefault(port, 'protocol', 'TCP');
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const found = recordAt(container, probe);
    if (found) setProbeDefaults(found);
  }
  for (const hook of ['postStart', 'preStop']) {
    const found = recordAt(container, 'lifecycle', hook);
    if (found) setHandlerDefaults(found);
  }
  for (const variable of recordsAt(container, 'env')) {
    const fieldRef = recordAt(variable, 'valueFrom', 'fieldRef');
    if (fieldRef) setDefault(fieldRef, 'apiVersion', 'v1');
    const resource = recordAt(variable, 'valueFrom', 'resourceFieldRef');
    if (resource) setDefault(resource, 'divisor', '0');
  }
}

/** Sets the defaults of a pod spec, in pods and in templates. */
export function setPodSpecDefaults(pod: UnknownRecord): void {
  clearDisabledFields(pod);
  setDefault(pod, 'dnsPolicy', 'ClusterFirst');
  setDefault(pod, 'restartPolicy', 'Always');
  setDefault(pod, 'terminationGracePeriodSeconds', 30);
  setDefault(pod, 'schedulerName', 'default-scheduler');
  ensureRecord(pod, 'securityContext');
  alignServiceAccount(pod);
  for (const member of CONTAINER_LISTS) {
    for (const container of recordsAt(pod, member)) {
      setContainerDefaults(container);
    }
  }
  for (const volume of recordsAt(pod, 'volumes')) setVolumeDefaults(volume);
}

/**
 * `serviceAccount` is the deprecated name of `serviceAccountName`. Both get the same value; if both are set, that of
 * the new name.
 */
function alignServiceAccount(pod: UnknownRecord): void {
  const name = stringAt(pod, 'serviceAccountName') || stringAt(pod, 'serviceAccount');
  if (name === '') return;
  pod.serviceAccountName = name;
  pod.serviceAccount = name;
}

/** Sets the defaults of the pod spec of a template. */
export function setTemplateDefaults(template: UnknownRecord | undefined): void {
  if (!template) return;
  setPodSpecDefaults(ensureRecord(template, 'spec'));
}
