import type { KindTable } from '../strategies.js';
import { POD_NAMES, withNameWarning, withPodWarnings } from '../validation/pod-warnings.js';
import { configMap, secret } from './configuration.js';
import { endpoints } from './endpoints.js';
import { event } from './event.js';
import { namespace } from './namespace.js';
import { node } from './node.js';
import { limitRange, podTemplate, replicationController, resourceQuota, serviceAccount } from './plain.js';
import { pod } from './pod.js';
import { service } from './service.js';
import { persistentVolume, persistentVolumeClaim } from './volume.js';

/** Kinds of the core group. Events of both groups are one kind. */
export const coreKinds: KindTable = {
  // A Binding is never stored: it binds the pod of its name.
  'core/bindings': () => ({ actsOn: { plural: 'pods', action: 'binding' } }),
  'core/configmaps': configMap,
  'core/endpoints': endpoints,
  'core/events': event,
  'core/limitranges': limitRange,
  'core/namespaces': namespace,
  'core/nodes': node,
  'core/persistentvolumeclaims': persistentVolumeClaim,
  'core/persistentvolumes': persistentVolume,
  'core/pods': () => withNameWarning(withPodWarnings(pod(), 'spec'), "the Pod's hostname"),
  'core/podtemplates': () => withPodWarnings(podTemplate(), 'template', 'spec'),
  'core/replicationcontrollers': () =>
    withNameWarning(withPodWarnings(replicationController(), 'spec', 'template', 'spec'), POD_NAMES),
  'core/resourcequotas': resourceQuota,
  'core/secrets': secret,
  'core/serviceaccounts': serviceAccount,
  'core/services': service,
};
