import { definePlugin } from '../../core/api/plugin.js';
import { mutatingAdmissionPolicy } from './admissionregistration/mutatingAdmissionPolicy.js';
import { mutatingAdmissionPolicyBinding } from './admissionregistration/mutatingAdmissionPolicyBinding.js';
import { mutatingWebhookConfiguration } from './admissionregistration/mutatingWebhookConfiguration.js';
import { validatingAdmissionPolicy } from './admissionregistration/validatingAdmissionPolicy/index.js';
import { validatingAdmissionPolicyBinding } from './admissionregistration/validatingAdmissionPolicyBinding.js';
import { validatingWebhookConfiguration } from './admissionregistration/validatingWebhookConfiguration/index.js';
import { customResourceDefinition } from './apiextensions/customResourceDefinition/index.js';
import { definitions } from './apiextensions/customResourceDefinition/source.js';
import { apiService } from './apiregistration/apiService.js';
import { controllerRevision } from './apps/controllerRevision.js';
import { daemonSet } from './apps/daemonSet.js';
import { deployment } from './apps/deployment.js';
import { replicaSet } from './apps/replicaSet.js';
import { statefulSet } from './apps/statefulSet.js';
import { selfSubjectReview } from './authentication/selfSubjectReview.js';
import { tokenReview } from './authentication/tokenReview.js';
import { localSubjectAccessReview } from './authorization/localSubjectAccessReview.js';
import { selfSubjectAccessReview } from './authorization/selfSubjectAccessReview.js';
import { selfSubjectRulesReview } from './authorization/selfSubjectRulesReview.js';
import { subjectAccessReview } from './authorization/subjectAccessReview.js';
import { horizontalPodAutoscaler } from './autoscaling/horizontalPodAutoscaler/index.js';
import { cronJob } from './batch/cronJob/index.js';
import { job } from './batch/job/index.js';
import { certificateSigningRequest } from './certificates/certificateSigningRequest/index.js';
import { clusterTrustBundle } from './certificates/clusterTrustBundle.js';
import { lease } from './coordination/lease.js';
import { leaseCandidate } from './coordination/leaseCandidate.js';
import { binding } from './core/binding.js';
import { componentStatus } from './core/componentStatus.js';
import { configMap } from './core/configMap.js';
import { endpoints } from './core/endpoints.js';
import { event } from './core/event/index.js';
import { limitRange } from './core/limitRange.js';
import { namespace } from './core/namespace.js';
import { node } from './core/node/index.js';
import { persistentVolume } from './core/persistentVolume.js';
import { persistentVolumeClaim } from './core/persistentVolumeClaim.js';
import { pod } from './core/pod/index.js';
import { podTemplate } from './core/podTemplate.js';
import { replicationController } from './core/replicationController.js';
import { resourceQuota } from './core/resourceQuota.js';
import { secret } from './core/secret/index.js';
import { service } from './core/service/index.js';
import { DEFAULT_RANGES, type RangeConfig } from './core/service/ranges.js';
import { serviceAccount } from './core/serviceAccount/index.js';
import { endpointSlice } from './discovery/endpointSlice.js';
import { flowSchema } from './flowcontrol/flowSchema/index.js';
import { priorityLevelConfiguration } from './flowcontrol/priorityLevelConfiguration/index.js';
import { storageVersion } from './internal/storageVersion/index.js';
import { ingress } from './networking/ingress/index.js';
import { ingressClass } from './networking/ingressClass.js';
import { ipAddress } from './networking/ipAddress.js';
import { networkPolicy } from './networking/networkPolicy.js';
import { serviceCidr } from './networking/serviceCidr.js';
import { runtimeClass } from './node/runtimeClass.js';
import { podDisruptionBudget } from './policy/podDisruptionBudget.js';
import { clusterRole } from './rbac/clusterRole.js';
import { clusterRoleBinding } from './rbac/clusterRoleBinding.js';
import { role } from './rbac/role.js';
import { roleBinding } from './rbac/roleBinding.js';
import { deviceClass } from './resource/deviceClass.js';
import { resourceClaim } from './resource/resourceClaim.js';
import { resourceClaimTemplate } from './resource/resourceClaimTemplate.js';
import { resourceSlice } from './resource/resourceSlice.js';
import { priorityClass } from './scheduling/priorityClass.js';
import { csiDriver } from './storage/csiDriver.js';
import { csiNode } from './storage/csiNode.js';
import { csiStorageCapacity } from './storage/csiStorageCapacity.js';
import { storageClass } from './storage/storageClass.js';
import { volumeAttachment } from './storage/volumeAttachment.js';
import { volumeAttributesClass } from './storage/volumeAttributesClass.js';
import { storageVersionMigration } from './storagemigration/storageVersionMigration.js';
import { decision } from './why/decision.js';
import { explanation } from './why/explanation.js';

/** The built-in kinds that need no configuration, by group. */
const KINDS = {
  admissionregistration: [
    mutatingAdmissionPolicy,
    mutatingAdmissionPolicyBinding,
    mutatingWebhookConfiguration,
    validatingAdmissionPolicy,
    validatingAdmissionPolicyBinding,
    validatingWebhookConfiguration,
  ],
  apiextensions: [customResourceDefinition, definitions],
  apiregistration: [apiService],
  apps: [controllerRevision, daemonSet, deployment, replicaSet, statefulSet],
  authentication: [selfSubjectReview, tokenReview],
  authorization: [localSubjectAccessReview, selfSubjectAccessReview, selfSubjectRulesReview, subjectAccessReview],
  autoscaling: [horizontalPodAutoscaler],
  batch: [cronJob, job],
  certificates: [certificateSigningRequest, clusterTrustBundle],
  coordination: [lease, leaseCandidate],
  core: [
    binding,
    componentStatus,
    configMap,
    endpoints,
    event,
    limitRange,
    namespace,
    node,
    persistentVolume,
    persistentVolumeClaim,
    pod,
    podTemplate,
    replicationController,
    resourceQuota,
    secret,
    serviceAccount,
  ],
  discovery: [endpointSlice],
  flowcontrol: [flowSchema, priorityLevelConfiguration],
  internal: [storageVersion],
  networking: [ingress, ingressClass, ipAddress, networkPolicy, serviceCidr],
  node: [runtimeClass],
  policy: [podDisruptionBudget],
  rbac: [clusterRole, clusterRoleBinding, role, roleBinding],
  resource: [deviceClass, resourceClaim, resourceClaimTemplate, resourceSlice],
  scheduling: [priorityClass],
  storage: [csiDriver, csiNode, csiStorageCapacity, storageClass, volumeAttachment, volumeAttributesClass],
  storagemigration: [storageVersionMigration],
  why: [decision, explanation],
};

/** The configuration, which the server makes from its settings. */
interface KindsConfig {
  readonly serviceRanges: RangeConfig;
}

/**
 * Everything about built-in kinds that is not in the table of their fields: one folder per group, one file or folder
 * per kind. Without a configuration, Services have the default ranges.
 */
export default definePlugin({
  name: 'kinds',
  parse: (config): KindsConfig => ({ serviceRanges: DEFAULT_RANGES, ...(config as Partial<KindsConfig> | undefined) }),
  contribute: config => [...Object.values(KINDS).flat(), service(config.serviceRanges)],
});
