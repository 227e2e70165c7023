import { webhookConfiguration } from './admission.js';
import { definition } from './definitions.js';
import { endpointSlice, ingress } from './networking.js';
import { accessReview, autoscaler, disruptionBudget, event, priorityLevel, signingRequest } from './platform.js';
import type { RemovedVersion } from '../../../schema/table/removed.js';
import { type Rewrite, type Rewrites, unchanged } from './rewrite.js';
import { APPS_V1BETA1, APPS_V1BETA2, EXTENSIONS_WORKLOADS } from './workloads.js';

export { Unconvertible } from './rewrite.js';

/** The rewrites of kinds whose versions differ, by neutral apiVersion. */
const REWRITES: Readonly<Record<string, Rewrites>> = {
  'admissionregistration.orchestrator.io/v1beta1': {
    MutatingWebhookConfiguration: webhookConfiguration,
    ValidatingWebhookConfiguration: webhookConfiguration,
  },
  'apiextensions.orchestrator.io/v1beta1': { CustomResourceDefinition: definition },
  'apps/v1beta1': APPS_V1BETA1,
  'apps/v1beta2': APPS_V1BETA2,
  'authorization.orchestrator.io/v1beta1': {
    LocalSubjectAccessReview: accessReview,
    SubjectAccessReview: accessReview,
  },
  'autoscaling/v2beta1': { HorizontalPodAutoscaler: autoscaler },
  'certificates.orchestrator.io/v1beta1': { CertificateSigningRequest: signingRequest },
  'discovery.orchestrator.io/v1beta1': { EndpointSlice: endpointSlice },
  'events.orchestrator.io/v1beta1': { Event: event },
  'extensions/v1beta1': { Ingress: ingress, ...EXTENSIONS_WORKLOADS },
  'flowcontrol.apiserver.orchestrator.io/v1beta1': { PriorityLevelConfiguration: priorityLevel },
  'flowcontrol.apiserver.orchestrator.io/v1beta2': { PriorityLevelConfiguration: priorityLevel },
  'flowcontrol.apiserver.orchestrator.io/v1beta3': { PriorityLevelConfiguration: priorityLevel },
  'networking.orchestrator.io/v1beta1': { Ingress: ingress },
  'policy/v1beta1': { PodDisruptionBudget: disruptionBudget },
};

/** Changes an object of a removed version of its kind to the form of the version that replaces it. */
export const rewriteOf = ({ apiVersion, kind }: RemovedVersion): Rewrite => REWRITES[apiVersion]?.[kind] ?? unchanged;
