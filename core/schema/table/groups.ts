/** Groups, versions, resources and subresources of release 1.32; the form is explained in README.md. */
export const GROUPS = `
group - 18000 v1
 version v1 ga on core.v1
  others PodStatusResult ServiceProxyOptions NodeProxyOptions List PodAttachOptions PodLogOptions PodExecOptions PodPortForwardOptions PodProxyOptions SerializedReference RangeAllocation
  bindings Binding namespaced create introduced=1.0
  componentstatuses ComponentStatus cluster get,list short=cs introduced=1.0 deprecated=1.19
  configmaps ConfigMap namespaced all short=cm introduced=1.2
  endpoints Endpoints namespaced all short=ep introduced=1.0
  events Event namespaced all short=ev introduced=1.0
  limitranges LimitRange namespaced all short=limits introduced=1.0
  namespaces Namespace cluster create,delete,get,list,patch,update,watch short=ns introduced=1.0
   finalize core.v1.Namespace update
   status core.v1.Namespace get,patch,update
  nodes Node cluster all short=no introduced=1.0
   proxy core.v1.NodeProxyOptions create,delete,get,patch,update options=core.v1.NodeProxyOptions connect
   status core.v1.Node get,patch,update
  persistentvolumeclaims PersistentVolumeClaim namespaced all short=pvc introduced=1.0
   status core.v1.PersistentVolumeClaim get,patch,update
  persistentvolumes PersistentVolume cluster all short=pv introduced=1.0
   status core.v1.PersistentVolume get,patch,update
  pods Pod namespaced all short=po categories=all introduced=1.0
   attach core.v1.PodAttachOptions create,get options=core.v1.PodAttachOptions connect
   binding core.v1.Binding create
   ephemeralcontainers core.v1.Pod get,patch,update
   eviction policy.v1.Eviction create as=policy/v1 also=v1beta1
   exec core.v1.PodExecOptions create,get options=core.v1.PodExecOptions connect
   log core.v1.Pod get options=core.v1.PodLogOptions produces=text/plain
   portforward core.v1.PodPortForwardOptions create,get options=core.v1.PodPortForwardOptions connect
   proxy core.v1.PodProxyOptions create,delete,get,patch,update options=core.v1.PodProxyOptions connect
   resize core.v1.Pod get,patch,update gate=InPlacePodVerticalScaling
   status core.v1.Pod get,patch,update
  podtemplates PodTemplate namespaced all introduced=1.0
  replicationcontrollers ReplicationController namespaced all short=rc categories=all introduced=1.0
   scale autoscaling.v1.Scale get,patch,update as=autoscaling/v1
   status core.v1.ReplicationController get,patch,update
  resourcequotas ResourceQuota namespaced all short=quota introduced=1.0
   status core.v1.ResourceQuota get,patch,update
  secrets Secret namespaced all introduced=1.0
  serviceaccounts ServiceAccount namespaced all short=sa introduced=1.0
   token authentication.v1.TokenRequest create as=authentication.orchestrator.io/v1
  services Service namespaced all short=svc categories=all introduced=1.0
   proxy core.v1.ServiceProxyOptions create,delete,get,patch,update options=core.v1.ServiceProxyOptions connect
   status core.v1.Service get,patch,update
group apiregistration.orchestrator.io 20000 v1
 version v1 ga on apiregistration.v1
  apiservices APIService cluster all categories=api-extensions introduced=1.10
   status apiregistration.v1.APIService get,patch,update
group apps 17800 v1
 version v1 ga on apps.v1
  controllerrevisions ControllerRevision namespaced all introduced=1.9
  daemonsets DaemonSet namespaced all short=ds categories=all introduced=1.9
   status apps.v1.DaemonSet get,patch,update
  deployments Deployment namespaced all short=deploy categories=all introduced=1.9
   scale autoscaling.v1.Scale get,patch,update as=autoscaling/v1
   status apps.v1.Deployment get,patch,update
  replicasets ReplicaSet namespaced all short=rs categories=all introduced=1.9
   scale autoscaling.v1.Scale get,patch,update as=autoscaling/v1
   status apps.v1.ReplicaSet get,patch,update
  statefulsets StatefulSet namespaced all short=sts categories=all introduced=1.9
   scale autoscaling.v1.Scale get,patch,update as=autoscaling/v1
   status apps.v1.StatefulSet get,patch,update
group events.orchestrator.io 17750 v1
 version v1 ga on events.v1
  events Event namespaced all short=ev introduced=1.19 stored=v1
group authentication.orchestrator.io 17700 v1
 version v1 ga on authentication.v1
  others TokenRequest
  selfsubjectreviews SelfSubjectReview cluster create introduced=1.28
  tokenreviews TokenReview cluster create introduced=1.6
 version v1beta1 beta off authentication.v1beta1
  selfsubjectreviews SelfSubjectReview cluster create introduced=1.27 deprecated=1.30 removed=1.33
 version v1alpha1 alpha off authentication.v1alpha1
  selfsubjectreviews SelfSubjectReview cluster create introduced=1.26 deprecated=1.29 removed=1.32
group authorization.orchestrator.io 17600 v1
 version v1 ga on authorization.v1
  localsubjectaccessreviews LocalSubjectAccessReview namespaced create introduced=1.19
  selfsubjectaccessreviews SelfSubjectAccessReview cluster create introduced=1.19
  selfsubjectrulesreviews SelfSubjectRulesReview cluster create introduced=1.19
  subjectaccessreviews SubjectAccessReview cluster create introduced=1.6
group autoscaling 17500 v2
 version v2 ga on autoscaling.v2
  horizontalpodautoscalers HorizontalPodAutoscaler namespaced all short=hpa categories=all introduced=1.23
   status autoscaling.v2.HorizontalPodAutoscaler get,patch,update
 version v1 ga on autoscaling.v1
  others Scale
  horizontalpodautoscalers HorizontalPodAutoscaler namespaced all short=hpa categories=all introduced=1.2
   status autoscaling.v1.HorizontalPodAutoscaler get,patch,update
group batch 17400 v1
 version v1 ga on batch.v1
  cronjobs CronJob namespaced all short=cj categories=all introduced=1.21
   status batch.v1.CronJob get,patch,update
  jobs Job namespaced all categories=all introduced=1.2
   status batch.v1.Job get,patch,update
group certificates.orchestrator.io 17300 v1
 version v1 ga on certificates.v1
  certificatesigningrequests CertificateSigningRequest cluster all short=csr introduced=1.19
   approval certificates.v1.CertificateSigningRequest get,patch,update
   status certificates.v1.CertificateSigningRequest get,patch,update
 version v1alpha1 alpha off certificates.v1alpha1
  clustertrustbundles ClusterTrustBundle cluster all gate=ClusterTrustBundle introduced=1.26 deprecated=1.34 removed=1.37
group networking.orchestrator.io 17200 v1
 version v1 ga on networking.v1
  ingressclasses IngressClass cluster all introduced=1.19
  ingresses Ingress namespaced all short=ing introduced=1.19
   status networking.v1.Ingress get,patch,update
  networkpolicies NetworkPolicy namespaced all short=netpol introduced=1.7
 version v1beta1 beta off networking.v1beta1
  ipaddresses IPAddress cluster all short=ip gate=MultiCIDRServiceAllocator introduced=1.31 deprecated=1.34 removed=1.37
  servicecidrs ServiceCIDR cluster all gate=MultiCIDRServiceAllocator introduced=1.31 deprecated=1.34 removed=1.37
   status networking.v1beta1.ServiceCIDR get,patch,update
 version v1alpha1 alpha off networking.v1alpha1
  ipaddresses IPAddress cluster all short=ip gate=MultiCIDRServiceAllocator introduced=1.27 deprecated=1.30 removed=1.33
  servicecidrs ServiceCIDR cluster all gate=MultiCIDRServiceAllocator introduced=1.27 deprecated=1.30 removed=1.33
   status networking.v1alpha1.ServiceCIDR get,patch,update
group policy 17100 v1
 version v1 ga on policy.v1
  others Eviction
  poddisruptionbudgets PodDisruptionBudget namespaced all short=pdb introduced=1.21
   status policy.v1.PodDisruptionBudget get,patch,update
group rbac.authorization.orchestrator.io 17000 v1
 version v1 ga on rbac.v1
  clusterrolebindings ClusterRoleBinding cluster all introduced=1.8
  clusterroles ClusterRole cluster all introduced=1.8
  rolebindings RoleBinding namespaced all introduced=1.8
  roles Role namespaced all introduced=1.8
group storage.orchestrator.io 16800 v1
 version v1 ga on storage.v1
  csidrivers CSIDriver cluster all introduced=1.18
  csinodes CSINode cluster all introduced=1.17
  csistoragecapacities CSIStorageCapacity namespaced all introduced=1.24
  storageclasses StorageClass cluster all short=sc introduced=1.6
  volumeattachments VolumeAttachment cluster all introduced=1.13
   status storage.v1.VolumeAttachment get,patch,update
 version v1beta1 beta off storage.v1beta1
  volumeattributesclasses VolumeAttributesClass cluster all short=vac gate=VolumeAttributesClass introduced=1.31 deprecated=1.34 removed=1.37
 version v1alpha1 alpha off storage.v1alpha1
  volumeattributesclasses VolumeAttributesClass cluster all short=vac gate=VolumeAttributesClass introduced=1.29 deprecated=1.32 removed=1.35
group admissionregistration.orchestrator.io 16700 v1
 version v1 ga on admissionregistration.v1
  mutatingwebhookconfigurations MutatingWebhookConfiguration cluster all categories=api-extensions introduced=1.16
  validatingwebhookconfigurations ValidatingWebhookConfiguration cluster all categories=api-extensions introduced=1.16
  validatingadmissionpolicies ValidatingAdmissionPolicy cluster all categories=api-extensions introduced=1.30
   status admissionregistration.v1.ValidatingAdmissionPolicy get,patch,update
  validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding cluster all categories=api-extensions introduced=1.30
 version v1beta1 beta off admissionregistration.v1beta1
  validatingadmissionpolicies ValidatingAdmissionPolicy cluster all categories=api-extensions introduced=1.28 deprecated=1.31 removed=1.34
   status admissionregistration.v1beta1.ValidatingAdmissionPolicy get,patch,update
  validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding cluster all categories=api-extensions introduced=1.28 deprecated=1.31 removed=1.34
 version v1alpha1 alpha off admissionregistration.v1alpha1
  mutatingadmissionpolicies MutatingAdmissionPolicy cluster all categories=api-extensions gate=MutatingAdmissionPolicy introduced=1.32 deprecated=1.35 removed=1.38
  mutatingadmissionpolicybindings MutatingAdmissionPolicyBinding cluster all categories=api-extensions gate=MutatingAdmissionPolicy introduced=1.32 deprecated=1.35 removed=1.38
  validatingadmissionpolicies ValidatingAdmissionPolicy cluster all categories=api-extensions introduced=1.26 deprecated=1.29 removed=1.32
   status admissionregistration.v1alpha1.ValidatingAdmissionPolicy get,patch,update
  validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding cluster all categories=api-extensions introduced=1.26 deprecated=1.29 removed=1.32
group apiextensions.orchestrator.io 16700 v1
 version v1 ga on apiextensions.v1
  others ConversionReview
  customresourcedefinitions CustomResourceDefinition cluster all short=crd,crds categories=api-extensions introduced=1.16
   status apiextensions.v1.CustomResourceDefinition get,patch,update
group scheduling.orchestrator.io 16600 v1
 version v1 ga on scheduling.v1
  priorityclasses PriorityClass cluster all short=pc introduced=1.14
group coordination.orchestrator.io 16500 v1
 version v1 ga on coordination.v1
  leases Lease namespaced all introduced=1.14
 version v1alpha2 alpha off coordination.v1alpha2
  leasecandidates LeaseCandidate namespaced all gate=CoordinatedLeaderElection introduced=1.32 deprecated=1.35 removed=1.38
group node.orchestrator.io 16300 v1
 version v1 ga on node.v1
  runtimeclasses RuntimeClass cluster all introduced=1.20
group discovery.orchestrator.io 16200 v1
 version v1 ga on discovery.v1
  endpointslices EndpointSlice namespaced all introduced=1.21
group flowcontrol.apiserver.orchestrator.io 16100 v1
 version v1 ga on flowcontrol.v1
  flowschemas FlowSchema cluster all introduced=1.29
   status flowcontrol.v1.FlowSchema get,patch,update
  prioritylevelconfigurations PriorityLevelConfiguration cluster all introduced=1.29
   status flowcontrol.v1.PriorityLevelConfiguration get,patch,update
 version v1beta3 beta off flowcontrol.v1beta3
  flowschemas FlowSchema cluster all introduced=1.26 deprecated=1.29 removed=1.32 replaced=flowcontrol.apiserver.orchestrator.io/v1,FlowSchema
   status flowcontrol.v1beta3.FlowSchema get,patch,update
  prioritylevelconfigurations PriorityLevelConfiguration cluster all introduced=1.26 deprecated=1.29 removed=1.32 replaced=flowcontrol.apiserver.orchestrator.io/v1,PriorityLevelConfiguration
   status flowcontrol.v1beta3.PriorityLevelConfiguration get,patch,update
group internal.apiserver.orchestrator.io 16000 v1alpha1
 version v1alpha1 alpha off apiserverinternal.v1alpha1
  storageversions StorageVersion cluster all gate=StorageVersionAPI
   status apiserverinternal.v1alpha1.StorageVersion get,patch,update
group resource.orchestrator.io 15900 v1beta1
 version v1beta1 beta off resource.v1beta1
  deviceclasses DeviceClass cluster all gate=DynamicResourceAllocation introduced=1.32 deprecated=1.35 removed=1.38
  resourceclaims ResourceClaim namespaced all gate=DynamicResourceAllocation introduced=1.32 deprecated=1.35 removed=1.38
   status resource.v1beta1.ResourceClaim get,patch,update
  resourceclaimtemplates ResourceClaimTemplate namespaced all gate=DynamicResourceAllocation introduced=1.32 deprecated=1.35 removed=1.38
  resourceslices ResourceSlice cluster all gate=DynamicResourceAllocation introduced=1.32 deprecated=1.35 removed=1.38
 version v1alpha3 alpha off resource.v1alpha3
  deviceclasses DeviceClass cluster all gate=DynamicResourceAllocation introduced=1.31 deprecated=1.34 removed=1.37 replaced=resource.orchestrator.io/v1beta1,DeviceClass
  resourceclaims ResourceClaim namespaced all gate=DynamicResourceAllocation introduced=1.31 deprecated=1.34 removed=1.37 replaced=resource.orchestrator.io/v1beta1,ResourceClaim
   status resource.v1alpha3.ResourceClaim get,patch,update
  resourceclaimtemplates ResourceClaimTemplate namespaced all gate=DynamicResourceAllocation introduced=1.31 deprecated=1.34 removed=1.37 replaced=resource.orchestrator.io/v1beta1,ResourceClaimTemplate
  resourceslices ResourceSlice cluster all gate=DynamicResourceAllocation introduced=1.31 deprecated=1.34 removed=1.37 replaced=resource.orchestrator.io/v1beta1,ResourceSlice
group storagemigration.orchestrator.io 15800 v1alpha1
 version v1alpha1 alpha off storagemigration.v1alpha1
  storageversionmigrations StorageVersionMigration cluster all gate=StorageVersionMigrator introduced=1.30 deprecated=1.33 removed=1.36
   status storagemigration.v1alpha1.StorageVersionMigration get,patch,update
group why.orchestrator.io 1000 v1
 version v1 ga on why.v1
  decisions Decision cluster get,list
  explanations Explanation cluster create
`;
