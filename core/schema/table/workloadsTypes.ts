/** Types of workload, network and coordination groups, by package; the form is explained in README.md. */
export const WORKLOADS_TYPES = {
  'apps.v1': `
ControllerRevision kind list
 metadata 1 meta.v1.ObjectMeta ?
 data 2 RawExtension ?
 revision 3 int64 !
DaemonSet kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .DaemonSetSpec ?
 status 3 .DaemonSetStatus ?
DaemonSetCondition
 type 1 string !
 status 2 string !
 lastTransitionTime 3 Time ?
 reason 4 string ?
 message 5 string ?
DaemonSetSpec
 selector 1 meta.v1.LabelSelector *!
 template 2 core.v1.PodTemplateSpec !
 updateStrategy 3 .DaemonSetUpdateStrategy ?
 minReadySeconds 4 int32 ?
 revisionHistoryLimit 6 int32 *?
DaemonSetStatus
 currentNumberScheduled 1 int32 !
 numberMisscheduled 2 int32 !
 desiredNumberScheduled 3 int32 !
 numberReady 4 int32 !
 observedGeneration 5 int64 ?
 updatedNumberScheduled 6 int32 ?
 numberAvailable 7 int32 ?
 numberUnavailable 8 int32 ?
 collisionCount 9 int32 *?
 conditions 10 [].DaemonSetCondition ? list=map:type patch=merge by=type
DaemonSetUpdateStrategy
 type 1 string ? enum=.DaemonSetUpdateStrategyType
 rollingUpdate 2 .RollingUpdateDaemonSet *?
Deployment kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .DeploymentSpec ?
 status 3 .DeploymentStatus ?
DeploymentCondition
 type 1 string !
 status 2 string !
 lastUpdateTime 6 Time ?
 lastTransitionTime 7 Time ?
 reason 4 string ?
 message 5 string ?
DeploymentSpec
 replicas 1 int32 *?
 selector 2 meta.v1.LabelSelector *!
 template 3 core.v1.PodTemplateSpec !
 strategy 4 .DeploymentStrategy ? patch=retainKeys
 minReadySeconds 5 int32 ?
 revisionHistoryLimit 6 int32 *?
 paused 7 bool ?
 progressDeadlineSeconds 9 int32 *?
DeploymentStatus
 observedGeneration 1 int64 ?
 replicas 2 int32 ?
 updatedReplicas 3 int32 ?
 readyReplicas 7 int32 ?
 availableReplicas 4 int32 ?
 unavailableReplicas 5 int32 ?
 conditions 6 [].DeploymentCondition ? list=map:type patch=merge by=type
 collisionCount 8 int32 *?
DeploymentStrategy
 type 1 string ? enum=.DeploymentStrategyType
 rollingUpdate 2 .RollingUpdateDeployment *?
ReplicaSet kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ReplicaSetSpec ?
 status 3 .ReplicaSetStatus ?
ReplicaSetCondition
 type 1 string !
 status 2 string !
 lastTransitionTime 3 Time ?
 reason 4 string ?
 message 5 string ?
ReplicaSetSpec
 replicas 1 int32 *?
 minReadySeconds 4 int32 ?
 selector 2 meta.v1.LabelSelector *!
 template 3 core.v1.PodTemplateSpec ?
ReplicaSetStatus
 replicas 1 int32 !
 fullyLabeledReplicas 2 int32 ?
 readyReplicas 4 int32 ?
 availableReplicas 5 int32 ?
 observedGeneration 3 int64 ?
 conditions 6 [].ReplicaSetCondition ? list=map:type patch=merge by=type
RollingUpdateDaemonSet
 maxUnavailable 1 IntOrString *?
 maxSurge 2 IntOrString *?
RollingUpdateDeployment
 maxUnavailable 1 IntOrString *?
 maxSurge 2 IntOrString *?
RollingUpdateStatefulSetStrategy
 partition 1 int32 *?
 maxUnavailable 2 IntOrString *? gate=MaxUnavailableStatefulSet
StatefulSet kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .StatefulSetSpec ?
 status 3 .StatefulSetStatus ?
StatefulSetCondition
 type 1 string !
 status 2 string !
 lastTransitionTime 3 Time ?
 reason 4 string ?
 message 5 string ?
StatefulSetOrdinals
 start 1 int32
StatefulSetPersistentVolumeClaimRetentionPolicy
 whenDeleted 1 string ?
 whenScaled 2 string ?
StatefulSetSpec
 replicas 1 int32 *?
 selector 2 meta.v1.LabelSelector *!
 template 3 core.v1.PodTemplateSpec !
 volumeClaimTemplates 4 []core.v1.PersistentVolumeClaim ? list=atomic
 serviceName 5 string !
 podManagementPolicy 6 string ? enum=.PodManagementPolicyType
 updateStrategy 7 .StatefulSetUpdateStrategy ?
 revisionHistoryLimit 8 int32 *?
 minReadySeconds 9 int32 ?
 persistentVolumeClaimRetentionPolicy 10 .StatefulSetPersistentVolumeClaimRetentionPolicy *?
 ordinals 11 .StatefulSetOrdinals *?
StatefulSetStatus
 observedGeneration 1 int64 ?
 replicas 2 int32 !
 readyReplicas 3 int32 ?
 currentReplicas 4 int32 ?
 updatedReplicas 5 int32 ?
 currentRevision 6 string ?
 updateRevision 7 string ?
 collisionCount 9 int32 *?
 conditions 10 [].StatefulSetCondition ? list=map:type patch=merge by=type
 availableReplicas 11 int32
StatefulSetUpdateStrategy
 type 1 string ? enum=.StatefulSetUpdateStrategyType
 rollingUpdate 2 .RollingUpdateStatefulSetStrategy *?
`,
  'batch.v1': `
CronJob kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .CronJobSpec ?
 status 3 .CronJobStatus ?
CronJobSpec
 schedule 1 string !
 timeZone 8 string *?
 startingDeadlineSeconds 2 int64 *?
 concurrencyPolicy 3 string ? enum=.ConcurrencyPolicy
 suspend 4 bool *?
 jobTemplate 5 .JobTemplateSpec !
 successfulJobsHistoryLimit 6 int32 *?
 failedJobsHistoryLimit 7 int32 *?
CronJobStatus
 active 1 []core.v1.ObjectReference ? list=atomic
 lastScheduleTime 4 Time *?
 lastSuccessfulTime 5 Time *?
Job kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .JobSpec ?
 status 3 .JobStatus ?
JobCondition
 type 1 string !
 status 2 string !
 lastProbeTime 3 Time ?
 lastTransitionTime 4 Time ?
 reason 5 string ?
 message 6 string ?
JobSpec
 parallelism 1 int32 *?
 completions 2 int32 *?
 activeDeadlineSeconds 3 int64 *?
 podFailurePolicy 11 .PodFailurePolicy *?
 successPolicy 16 .SuccessPolicy *?
 backoffLimit 7 int32 *?
 backoffLimitPerIndex 12 int32 *?
 maxFailedIndexes 13 int32 *?
 selector 4 meta.v1.LabelSelector *?
 manualSelector 5 bool *?
 template 6 core.v1.PodTemplateSpec !
 ttlSecondsAfterFinished 8 int32 *?
 completionMode 9 string *? enum=.CompletionMode
 suspend 10 bool *?
 podReplacementPolicy 14 string *? enum=.PodReplacementPolicy
 managedBy 15 string *?
JobStatus
 conditions 1 [].JobCondition ? list=atomic patch=merge by=type
 startTime 2 Time *?
 completionTime 3 Time *?
 active 4 int32 ?
 succeeded 5 int32 ?
 failed 6 int32 ?
 terminating 11 int32 *?
 completedIndexes 7 string ?
 failedIndexes 10 string *?
 uncountedTerminatedPods 8 .UncountedTerminatedPods *?
 ready 9 int32 *?
JobTemplateSpec
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .JobSpec ?
PodFailurePolicy
 rules 1 [].PodFailurePolicyRule ! list=atomic
PodFailurePolicyOnExitCodesRequirement
 containerName 1 string *?
 operator 2 string ! enum=.PodFailurePolicyOnExitCodesOperator
 values 3 []int32 ! list=set
PodFailurePolicyOnPodConditionsPattern
 type 1 string !
 status 2 string !
PodFailurePolicyRule
 action 1 string ! enum=.PodFailurePolicyAction
 onExitCodes 2 .PodFailurePolicyOnExitCodesRequirement *?
 onPodConditions 3 [].PodFailurePolicyOnPodConditionsPattern ? list=atomic
SuccessPolicy
 rules 1 [].SuccessPolicyRule ! list=atomic
SuccessPolicyRule
 succeededIndexes 1 string *?
 succeededCount 2 int32 *?
UncountedTerminatedPods
 succeeded 1 []string ? list=set
 failed 2 []string ? list=set
`,
  'autoscaling.v1': `
as autoscaling.v2 HorizontalPodAutoscaler
ContainerResourceMetricSource unreached
 name 1 string !
 targetAverageUtilization 2 int32 *?
 targetAverageValue 3 Quantity *?
 container 5 string !
ContainerResourceMetricStatus unreached
 name 1 string !
 currentAverageUtilization 2 int32 *?
 currentAverageValue 3 Quantity !
 container 4 string !
CrossVersionObjectReference atomic
 kind 1 string !
 name 2 string !
 apiVersion 3 string ?
ExternalMetricSource unreached
 metricName 1 string !
 metricSelector 2 meta.v1.LabelSelector *?
 targetValue 3 Quantity *?
 targetAverageValue 4 Quantity *?
ExternalMetricStatus unreached
 metricName 1 string !
 metricSelector 2 meta.v1.LabelSelector *?
 currentValue 3 Quantity !
 currentAverageValue 4 Quantity *?
HorizontalPodAutoscalerCondition unreached
 type 1 string !
 status 2 string !
 lastTransitionTime 3 Time ?
 reason 4 string ?
 message 5 string ?
HorizontalPodAutoscalerSpec
 scaleTargetRef 1 .CrossVersionObjectReference !
 minReplicas 2 int32 *?
 maxReplicas 3 int32 !
 targetCPUUtilizationPercentage 4 int32 *?
HorizontalPodAutoscalerStatus
 observedGeneration 1 int64 *?
 lastScaleTime 2 Time *?
 currentReplicas 3 int32 !
 desiredReplicas 4 int32 !
 currentCPUUtilizationPercentage 5 int32 *?
MetricSpec unreached
 type 1 string ! enum=.MetricSourceType
 object 2 .ObjectMetricSource *?
 pods 3 .PodsMetricSource *?
 resource 4 .ResourceMetricSource *?
 containerResource 7 .ContainerResourceMetricSource *?
 external 5 .ExternalMetricSource *?
MetricStatus unreached
 type 1 string ! enum=.MetricSourceType
 object 2 .ObjectMetricStatus *?
 pods 3 .PodsMetricStatus *?
 resource 4 .ResourceMetricStatus *?
 containerResource 7 .ContainerResourceMetricStatus *?
 external 5 .ExternalMetricStatus *?
ObjectMetricSource unreached
 target 1 .CrossVersionObjectReference !
 metricName 2 string !
 targetValue 3 Quantity !
 selector 4 meta.v1.LabelSelector *?
 averageValue 5 Quantity *?
ObjectMetricStatus unreached
 target 1 .CrossVersionObjectReference !
 metricName 2 string !
 currentValue 3 Quantity !
 selector 4 meta.v1.LabelSelector *?
 averageValue 5 Quantity *?
PodsMetricSource unreached
 metricName 1 string !
 targetAverageValue 2 Quantity !
 selector 3 meta.v1.LabelSelector *?
PodsMetricStatus unreached
 metricName 1 string !
 currentAverageValue 2 Quantity !
 selector 3 meta.v1.LabelSelector *?
ResourceMetricSource unreached
 name 1 string !
 targetAverageUtilization 2 int32 *?
 targetAverageValue 3 Quantity *?
ResourceMetricStatus unreached
 name 1 string !
 currentAverageUtilization 2 int32 *?
 currentAverageValue 3 Quantity !
Scale kind
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ScaleSpec ?
 status 3 .ScaleStatus ?
ScaleSpec
 replicas 1 int32 ?
ScaleStatus
 replicas 1 int32 !
 selector 2 string ?
`,
  'autoscaling.v2': `
ContainerResourceMetricSource
 name 1 string !
 target 2 .MetricTarget !
 container 3 string !
ContainerResourceMetricStatus
 name 1 string !
 current 2 .MetricValueStatus !
 container 3 string !
CrossVersionObjectReference
 kind 1 string !
 name 2 string !
 apiVersion 3 string ?
ExternalMetricSource
 metric 1 .MetricIdentifier !
 target 2 .MetricTarget !
ExternalMetricStatus
 metric 1 .MetricIdentifier !
 current 2 .MetricValueStatus !
HPAScalingPolicy
 type 1 string !
 value 2 int32 !
 periodSeconds 3 int32 !
HPAScalingRules
 stabilizationWindowSeconds 3 int32 *?
 selectPolicy 1 string *?
 policies 2 [].HPAScalingPolicy ? list=atomic keeps
HorizontalPodAutoscaler kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .HorizontalPodAutoscalerSpec ?
 status 3 .HorizontalPodAutoscalerStatus ?
HorizontalPodAutoscalerBehavior
 scaleUp 1 .HPAScalingRules *?
 scaleDown 2 .HPAScalingRules *?
HorizontalPodAutoscalerCondition
 type 1 string !
 status 2 string !
 lastTransitionTime 3 Time ?
 reason 4 string ?
 message 5 string ?
HorizontalPodAutoscalerSpec
 scaleTargetRef 1 .CrossVersionObjectReference !
 minReplicas 2 int32 *?
 maxReplicas 3 int32 !
 metrics 4 [].MetricSpec ? list=atomic
 behavior 5 .HorizontalPodAutoscalerBehavior *?
HorizontalPodAutoscalerStatus
 observedGeneration 1 int64 *?
 lastScaleTime 2 Time *?
 currentReplicas 3 int32 ?
 desiredReplicas 4 int32 !
 currentMetrics 5 [].MetricStatus list=atomic
 conditions 6 [].HorizontalPodAutoscalerCondition ? list=map:type patch=merge by=type
MetricIdentifier
 name 1 string !
 selector 2 meta.v1.LabelSelector *?
MetricSpec
 type 1 string !
 object 2 .ObjectMetricSource *?
 pods 3 .PodsMetricSource *?
 resource 4 .ResourceMetricSource *?
 containerResource 7 .ContainerResourceMetricSource *?
 external 5 .ExternalMetricSource *?
MetricStatus
 type 1 string !
 object 2 .ObjectMetricStatus *?
 pods 3 .PodsMetricStatus *?
 resource 4 .ResourceMetricStatus *?
 containerResource 7 .ContainerResourceMetricStatus *?
 external 5 .ExternalMetricStatus *?
MetricTarget
 type 1 string !
 value 2 Quantity *?
 averageValue 3 Quantity *?
 averageUtilization 4 int32 *?
MetricValueStatus
 value 1 Quantity *?
 averageValue 2 Quantity *?
 averageUtilization 3 int32 *?
ObjectMetricSource
 describedObject 1 .CrossVersionObjectReference !
 target 2 .MetricTarget !
 metric 3 .MetricIdentifier !
ObjectMetricStatus
 metric 1 .MetricIdentifier !
 current 2 .MetricValueStatus !
 describedObject 3 .CrossVersionObjectReference !
PodsMetricSource
 metric 1 .MetricIdentifier !
 target 2 .MetricTarget !
PodsMetricStatus
 metric 1 .MetricIdentifier !
 current 2 .MetricValueStatus !
ResourceMetricSource
 name 1 string !
 target 2 .MetricTarget !
ResourceMetricStatus
 name 1 string !
 current 2 .MetricValueStatus !
`,
  'policy.v1': `
Eviction kind
 metadata 1 meta.v1.ObjectMeta ?
 deleteOptions 2 meta.v1.DeleteOptions *?
PodDisruptionBudget kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .PodDisruptionBudgetSpec ?
 status 3 .PodDisruptionBudgetStatus ?
PodDisruptionBudgetSpec
 minAvailable 1 IntOrString *?
 selector 2 meta.v1.LabelSelector *? patch=replace
 maxUnavailable 3 IntOrString *?
 unhealthyPodEvictionPolicy 4 string *? enum=.UnhealthyPodEvictionPolicyType
PodDisruptionBudgetStatus
 observedGeneration 1 int64 ?
 disruptedPods 2 {}Time ?
 disruptionsAllowed 3 int32 !
 currentHealthy 4 int32 !
 desiredHealthy 5 int32 !
 expectedPods 6 int32 !
 conditions 7 []meta.v1.Condition ? list=map:type patch=merge by=type
`,
  'networking.v1': `
HTTPIngressPath
 path 1 string ?
 pathType 3 string *! enum=.PathType
 backend 2 .IngressBackend !
HTTPIngressRuleValue
 paths 1 [].HTTPIngressPath ! list=atomic
IPBlock
 cidr 1 string !
 except 2 []string ? list=atomic
Ingress kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .IngressSpec ?
 status 3 .IngressStatus ?
IngressBackend
 service 4 .IngressServiceBackend *?
 resource 3 core.v1.TypedLocalObjectReference *?
IngressClass kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .IngressClassSpec ?
IngressClassParametersReference
 apiGroup 1 string *? pb=aPIGroup
 kind 2 string !
 name 3 string !
 scope 4 string *
 namespace 5 string *?
IngressClassSpec
 controller 1 string ?
 parameters 2 .IngressClassParametersReference *?
IngressLoadBalancerIngress
 ip 1 string ?
 hostname 2 string ?
 ports 4 [].IngressPortStatus ? list=atomic
IngressLoadBalancerStatus
 ingress 1 [].IngressLoadBalancerIngress ? list=atomic
IngressPortStatus
 port 1 int32 !
 protocol 2 string ! enum=core.v1.Protocol
 error 3 string *?
IngressRule
 host 1 string ?
 + 2 .IngressRuleValue pb=ingressRuleValue
IngressRuleValue
 http 1 .HTTPIngressRuleValue *? bare
IngressServiceBackend
 name 1 string !
 port 2 .ServiceBackendPort ?
IngressSpec
 ingressClassName 4 string *?
 defaultBackend 1 .IngressBackend *?
 tls 2 [].IngressTLS ? list=atomic
 rules 3 [].IngressRule ? list=atomic
IngressStatus
 loadBalancer 1 .IngressLoadBalancerStatus ?
IngressTLS
 hosts 1 []string ? list=atomic
 secretName 2 string ?
NetworkPolicy kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .NetworkPolicySpec ?
NetworkPolicyEgressRule
 ports 1 [].NetworkPolicyPort ? list=atomic
 to 2 [].NetworkPolicyPeer ? list=atomic
NetworkPolicyIngressRule
 ports 1 [].NetworkPolicyPort ? list=atomic
 from 2 [].NetworkPolicyPeer ? list=atomic
NetworkPolicyPeer
 podSelector 1 meta.v1.LabelSelector *?
 namespaceSelector 2 meta.v1.LabelSelector *?
 ipBlock 3 .IPBlock *?
NetworkPolicyPort
 protocol 1 string *? enum=core.v1.Protocol
 port 2 IntOrString *?
 endPort 3 int32 *?
NetworkPolicySpec
 podSelector 1 meta.v1.LabelSelector !
 ingress 2 [].NetworkPolicyIngressRule ? list=atomic
 egress 3 [].NetworkPolicyEgressRule ? list=atomic
 policyTypes 4 []string ? list=atomic enum=.PolicyType
ServiceBackendPort atomic
 name 1 string ?
 number 2 int32 ?
`,
  'networking.v1beta1': `
IPAddress kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .IPAddressSpec ?
IPAddressSpec
 parentRef 1 .ParentReference *?!
ParentReference
 group 1 string ?
 resource 2 string ?!
 namespace 3 string ?
 name 4 string ?!
ServiceCIDR kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ServiceCIDRSpec ?
 status 3 .ServiceCIDRStatus ?
ServiceCIDRSpec
 cidrs 1 []string ? list=atomic
ServiceCIDRStatus
 conditions 1 []meta.v1.Condition ? list=map:type patch=merge by=type
`,
  'networking.v1alpha1': `
as networking.v1beta1 IPAddress IPAddressSpec ParentReference ServiceCIDR ServiceCIDRSpec ServiceCIDRStatus
`,
  'discovery.v1': `
Endpoint
 addresses 1 []string ! list=set
 conditions 2 .EndpointConditions ?
 hostname 3 string *?
 targetRef 4 core.v1.ObjectReference *?
 deprecatedTopology 5 {}string ?
 nodeName 6 string *?
 zone 7 string *?
 hints 8 .EndpointHints *?
EndpointConditions
 ready 1 bool *?
 serving 2 bool *?
 terminating 3 bool *?
EndpointHints
 forZones 1 [].ForZone ? list=atomic
EndpointPort atomic
 name 1 string *?
 protocol 2 string *? enum=core.v1.Protocol
 port 3 int32 *?
 appProtocol 4 string *?
EndpointSlice kind list
 metadata 1 meta.v1.ObjectMeta ?
 addressType 4 string ! enum=.AddressType
 endpoints 2 [].Endpoint ! list=atomic
 ports 3 [].EndpointPort list=atomic
ForZone
 name 1 string !
`,
  'coordination.v1': `
Lease kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .LeaseSpec ?
LeaseSpec
 holderIdentity 1 string *?
 leaseDurationSeconds 2 int32 *?
 acquireTime 3 MicroTime *?
 renewTime 4 MicroTime *?
 leaseTransitions 5 int32 *?
 strategy 6 string *? gate=CoordinatedLeaderElection
 preferredHolder 7 string *? gate=CoordinatedLeaderElection
`,
  'coordination.v1alpha2': `
LeaseCandidate kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .LeaseCandidateSpec ?
LeaseCandidateSpec
 leaseName 1 string !
 pingTime 2 MicroTime *?
 renewTime 3 MicroTime *?
 binaryVersion 4 string !
 emulationVersion 5 string ?
 strategy 6 string ?! gate=CoordinatedLeaderElection
`,
};
