/** Types of the core group and the common metadata, by package; the form is explained in README.md. */
export const CORE_TYPES = {
  'core.v1': `
AWSElasticBlockStoreVolumeSource
 volumeID 1 string !
 fsType 2 string ?
 partition 3 int32 ?
 readOnly 4 bool ?
Affinity
 nodeAffinity 1 .NodeAffinity *?
 podAffinity 2 .PodAffinity *?
 podAntiAffinity 3 .PodAntiAffinity *?
AppArmorProfile union=type:localhostProfile:LocalhostProfile
 type 1 string ! enum=.AppArmorProfileType
 localhostProfile 2 string *?
AttachedVolume
 name 1 string !
 devicePath 2 string !
AvoidPods unreached
 preferAvoidPods 1 [].PreferAvoidPodsEntry ? list=atomic
AzureDiskVolumeSource
 diskName 1 string !
 diskURI 2 string !
 cachingMode 3 string *? default="ReadWrite" enum=.AzureDataDiskCachingMode
 fsType 4 string *? default="ext4"
 readOnly 5 bool *? default=false
 kind 6 string *? default="Shared" enum=.AzureDataDiskKind
AzureFilePersistentVolumeSource
 secretName 1 string !
 shareName 2 string !
 readOnly 3 bool ?
 secretNamespace 4 string *
AzureFileVolumeSource
 secretName 1 string !
 shareName 2 string !
 readOnly 3 bool ?
Binding kind
 metadata 1 meta.v1.ObjectMeta ?
 target 2 .ObjectReference !
CSIPersistentVolumeSource
 driver 1 string !
 volumeHandle 2 string !
 readOnly 3 bool ?
 fsType 4 string ?
 volumeAttributes 5 {}string ?
 controllerPublishSecretRef 6 .SecretReference *?
 nodeStageSecretRef 7 .SecretReference *?
 nodePublishSecretRef 8 .SecretReference *?
 controllerExpandSecretRef 9 .SecretReference *?
 nodeExpandSecretRef 10 .SecretReference *?
CSIVolumeSource
 driver 1 string !
 readOnly 2 bool *?
 fsType 3 string *?
 volumeAttributes 4 {}string ?
 nodePublishSecretRef 5 .LocalObjectReference *?
Capabilities
 add 1 []string ? list=atomic
 drop 2 []string ? list=atomic
CephFSPersistentVolumeSource
 monitors 1 []string ! list=atomic
 path 2 string ?
 user 3 string ?
 secretFile 4 string ?
 secretRef 5 .SecretReference *?
 readOnly 6 bool ?
CephFSVolumeSource
 monitors 1 []string ! list=atomic
 path 2 string ?
 user 3 string ?
 secretFile 4 string ?
 secretRef 5 .LocalObjectReference *?
 readOnly 6 bool ?
CinderPersistentVolumeSource
 volumeID 1 string !
 fsType 2 string ?
 readOnly 3 bool ?
 secretRef 4 .SecretReference *?
CinderVolumeSource
 volumeID 1 string !
 fsType 2 string ?
 readOnly 3 bool ?
 secretRef 4 .LocalObjectReference *?
ClientIPConfig
 timeoutSeconds 1 int32 *?
ClusterTrustBundleProjection
 name 1 string *?
 signerName 2 string *?
 labelSelector 3 meta.v1.LabelSelector *?
 optional 5 bool *?
 path 4 string !
ComponentCondition
 type 1 string !
 status 2 string !
 message 3 string ?
 error 4 string ?
ComponentStatus kind list
 metadata 1 meta.v1.ObjectMeta ?
 conditions 2 [].ComponentCondition ? list=map:type patch=merge by=type
ConfigMap kind list
 metadata 1 meta.v1.ObjectMeta ?
 immutable 4 bool *?
 data 2 {}string ?
 binaryData 3 {}bytes ?
ConfigMapEnvSource
 + 1 .LocalObjectReference pb=localObjectReference
 optional 2 bool *?
ConfigMapKeySelector atomic
 + 1 .LocalObjectReference pb=localObjectReference
 key 2 string !
 optional 3 bool *?
ConfigMapNodeConfigSource
 namespace 1 string !
 name 2 string !
 uid 3 string ?
 resourceVersion 4 string ?
 kubeletConfigKey 5 string !
ConfigMapProjection
 + 1 .LocalObjectReference pb=localObjectReference
 items 2 [].KeyToPath ? list=atomic
 optional 4 bool *?
ConfigMapVolumeSource
 + 1 .LocalObjectReference pb=localObjectReference
 items 2 [].KeyToPath ? list=atomic
 defaultMode 3 int32 *?
 optional 4 bool *?
Container
 name 1 string !
 image 2 string ?
 command 3 []string ? list=atomic
 args 4 []string ? list=atomic
 workingDir 5 string ?
 ports 6 [].ContainerPort ? list=map:containerPort,protocol patch=merge by=containerPort
 envFrom 19 [].EnvFromSource ? list=atomic
 env 7 [].EnvVar ? list=map:name patch=merge by=name
 resources 8 .ResourceRequirements ?
 resizePolicy 23 [].ContainerResizePolicy ? list=atomic gate=InPlacePodVerticalScaling
 restartPolicy 24 string *? gate=SidecarContainers
 volumeMounts 9 [].VolumeMount ? list=map:mountPath patch=merge by=mountPath
 volumeDevices 21 [].VolumeDevice ? list=map:devicePath patch=merge by=devicePath
 livenessProbe 10 .Probe *?
 readinessProbe 11 .Probe *?
 startupProbe 22 .Probe *?
 lifecycle 12 .Lifecycle *?
 terminationMessagePath 13 string ?
 terminationMessagePolicy 20 string ? enum=.TerminationMessagePolicy
 imagePullPolicy 14 string ? enum=.PullPolicy
 securityContext 15 .SecurityContext *?
 stdin 16 bool ?
 stdinOnce 17 bool ?
 tty 18 bool ?
ContainerImage
 names 1 []string list=atomic
 sizeBytes 2 int64 ?
ContainerPort
 name 1 string ?
 hostPort 2 int32 ?
 containerPort 3 int32 !
 protocol 4 string ? default="TCP" enum=.Protocol
 hostIP 5 string ?
ContainerResizePolicy
 resourceName 1 string !
 restartPolicy 2 string !
ContainerState
 waiting 1 .ContainerStateWaiting *?
 running 2 .ContainerStateRunning *?
 terminated 3 .ContainerStateTerminated *?
ContainerStateRunning
 startedAt 1 Time ?
ContainerStateTerminated
 exitCode 1 int32 !
 signal 2 int32 ?
 reason 3 string ?
 message 4 string ?
 startedAt 5 Time ?
 finishedAt 6 Time ?
 containerID 7 string ?
ContainerStateWaiting
 reason 1 string ?
 message 2 string ?
ContainerStatus
 name 1 string !
 state 2 .ContainerState ?
 lastState 3 .ContainerState ?
 ready 4 bool !
 restartCount 5 int32 !
 image 6 string !
 imageID 7 string !
 containerID 8 string ?
 started 9 bool *?
 allocatedResources 10 {}Quantity ? gate=InPlacePodVerticalScalingAllocatedStatus
 resources 11 .ResourceRequirements *? gate=InPlacePodVerticalScaling
 volumeMounts 12 [].VolumeMountStatus ? list=map:mountPath patch=merge by=mountPath gate=RecursiveReadOnlyMounts
 user 13 .ContainerUser *? gate=SupplementalGroupsPolicy
 allocatedResourcesStatus 14 [].ResourceStatus ? list=map:name patch=merge by=name gate=ResourceHealthStatus
ContainerUser
 linux 1 .LinuxContainerUser *?
DaemonEndpoint
 Port 1 int32 !
DownwardAPIProjection
 items 1 [].DownwardAPIVolumeFile ? list=atomic
DownwardAPIVolumeFile
 path 1 string !
 fieldRef 2 .ObjectFieldSelector *?
 resourceFieldRef 3 .ResourceFieldSelector *?
 mode 4 int32 *?
DownwardAPIVolumeSource
 items 1 [].DownwardAPIVolumeFile ? list=atomic
 defaultMode 2 int32 *?
EmptyDirVolumeSource
 medium 1 string ?
 sizeLimit 2 Quantity *?
EndpointAddress atomic
 ip 1 string !
 hostname 3 string ?
 nodeName 4 string *?
 targetRef 2 .ObjectReference *?
EndpointPort atomic
 name 1 string ?
 port 2 int32 !
 protocol 3 string ? enum=.Protocol
 appProtocol 4 string *?
EndpointSubset
 addresses 1 [].EndpointAddress ? list=atomic
 notReadyAddresses 2 [].EndpointAddress ? list=atomic
 ports 3 [].EndpointPort ? list=atomic
Endpoints kind list
 metadata 1 meta.v1.ObjectMeta ?
 subsets 2 [].EndpointSubset ? list=atomic
EnvFromSource
 prefix 1 string ?
 configMapRef 2 .ConfigMapEnvSource *?
 secretRef 3 .SecretEnvSource *?
EnvVar
 name 1 string !
 value 2 string ?
 valueFrom 3 .EnvVarSource *?
EnvVarSource
 fieldRef 1 .ObjectFieldSelector *?
 resourceFieldRef 2 .ResourceFieldSelector *?
 configMapKeyRef 3 .ConfigMapKeySelector *?
 secretKeyRef 4 .SecretKeySelector *?
EphemeralContainer
 + 1 .EphemeralContainerCommon pb=ephemeralContainerCommon
 targetContainerName 2 string ?
EphemeralContainerCommon
 name 1 string !
 image 2 string ?
 command 3 []string ? list=atomic
 args 4 []string ? list=atomic
 workingDir 5 string ?
 ports 6 [].ContainerPort ? list=map:containerPort,protocol patch=merge by=containerPort
 envFrom 19 [].EnvFromSource ? list=atomic
 env 7 [].EnvVar ? list=map:name patch=merge by=name
 resources 8 .ResourceRequirements ?
 resizePolicy 23 [].ContainerResizePolicy ? list=atomic gate=InPlacePodVerticalScaling
 restartPolicy 24 string *? gate=SidecarContainers
 volumeMounts 9 [].VolumeMount ? list=map:mountPath patch=merge by=mountPath
 volumeDevices 21 [].VolumeDevice ? list=map:devicePath patch=merge by=devicePath
 livenessProbe 10 .Probe *?
 readinessProbe 11 .Probe *?
 startupProbe 22 .Probe *?
 lifecycle 12 .Lifecycle *?
 terminationMessagePath 13 string ?
 terminationMessagePolicy 20 string ? enum=.TerminationMessagePolicy
 imagePullPolicy 14 string ? enum=.PullPolicy
 securityContext 15 .SecurityContext *?
 stdin 16 bool ?
 stdinOnce 17 bool ?
 tty 18 bool ?
EphemeralVolumeSource
 volumeClaimTemplate 1 .PersistentVolumeClaimTemplate *?
Event kind list
 metadata 1 meta.v1.ObjectMeta !
 involvedObject 2 .ObjectReference !
 reason 3 string ?
 message 4 string ?
 source 5 .EventSource ?
 firstTimestamp 6 Time ?
 lastTimestamp 7 Time ?
 count 8 int32 ?
 type 9 string ?
 eventTime 10 MicroTime ?
 series 11 .EventSeries *?
 action 12 string ?
 related 13 .ObjectReference *?
 reportingComponent 14 string
 reportingInstance 15 string
EventSeries
 count 1 int32 ?
 lastObservedTime 2 MicroTime ?
EventSource
 component 1 string ?
 host 2 string ?
ExecAction
 command 1 []string ? list=atomic
FCVolumeSource
 targetWWNs 1 []string ? list=atomic
 lun 2 int32 *?
 fsType 3 string ?
 readOnly 4 bool ?
 wwids 5 []string ? list=atomic
FlexPersistentVolumeSource
 driver 1 string !
 fsType 2 string ?
 secretRef 3 .SecretReference *?
 readOnly 4 bool ?
 options 5 {}string ?
FlexVolumeSource
 driver 1 string !
 fsType 2 string ?
 secretRef 3 .LocalObjectReference *?
 readOnly 4 bool ?
 options 5 {}string ?
FlockerVolumeSource
 datasetName 1 string ?
 datasetUUID 2 string ?
GCEPersistentDiskVolumeSource
 pdName 1 string !
 fsType 2 string ?
 partition 3 int32 ?
 readOnly 4 bool ?
GRPCAction
 port 1 int32 !
 service 2 string * default=""
GitRepoVolumeSource
 repository 1 string !
 revision 2 string ?
 directory 3 string ?
GlusterfsPersistentVolumeSource
 endpoints 1 string !
 path 2 string !
 readOnly 3 bool ?
 endpointsNamespace 4 string *?
GlusterfsVolumeSource
 endpoints 1 string !
 path 2 string !
 readOnly 3 bool ?
HTTPGetAction
 path 1 string ?
 port 2 IntOrString !
 host 3 string ?
 scheme 4 string ? enum=.URIScheme
 httpHeaders 5 [].HTTPHeader ? list=atomic
HTTPHeader
 name 1 string !
 value 2 string !
HostAlias
 ip 1 string !
 hostnames 2 []string ? list=atomic
HostIP
 ip 1 string !
HostPathVolumeSource
 path 1 string !
 type 2 string *? enum=.HostPathType
ISCSIPersistentVolumeSource
 targetPortal 1 string !
 iqn 2 string !
 lun 3 int32 !
 iscsiInterface 4 string ? default="default"
 fsType 5 string ?
 readOnly 6 bool ?
 portals 7 []string ? list=atomic
 chapAuthDiscovery 8 bool ?
 chapAuthSession 11 bool ?
 secretRef 10 .SecretReference *?
 initiatorName 12 string *?
ISCSIVolumeSource
 targetPortal 1 string !
 iqn 2 string !
 lun 3 int32 !
 iscsiInterface 4 string ? default="default"
 fsType 5 string ?
 readOnly 6 bool ?
 portals 7 []string ? list=atomic
 chapAuthDiscovery 8 bool ?
 chapAuthSession 11 bool ?
 secretRef 10 .LocalObjectReference *?
 initiatorName 12 string *?
ImageVolumeSource
 reference 1 string ?
 pullPolicy 2 string ? enum=.PullPolicy
KeyToPath
 key 1 string !
 path 2 string !
 mode 3 int32 *?
Lifecycle
 postStart 1 .LifecycleHandler *?
 preStop 2 .LifecycleHandler *?
LifecycleHandler
 exec 1 .ExecAction *?
 httpGet 2 .HTTPGetAction *?
 tcpSocket 3 .TCPSocketAction *?
 sleep 4 .SleepAction *? gate=PodLifecycleSleepAction
LimitRange kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .LimitRangeSpec ?
LimitRangeItem
 type 1 string !
 max 2 {}Quantity ?
 min 3 {}Quantity ?
 default 4 {}Quantity ?
 defaultRequest 5 {}Quantity ?
 maxLimitRequestRatio 6 {}Quantity ?
LimitRangeSpec
 limits 1 [].LimitRangeItem ! list=atomic
LinuxContainerUser
 uid 1 int64 !
 gid 2 int64 !
 supplementalGroups 3 []int64 ? list=atomic
List kind
 metadata 1 meta.v1.ListMeta ?
 items 2 []RawExtension !
LoadBalancerIngress
 ip 1 string ?
 hostname 2 string ?
 ipMode 3 string *?
 ports 4 [].PortStatus ? list=atomic
LoadBalancerStatus
 ingress 1 [].LoadBalancerIngress ? list=atomic
LocalObjectReference atomic
 name 1 string ? default=""
LocalVolumeSource
 path 1 string !
 fsType 2 string *?
ModifyVolumeStatus
 targetVolumeAttributesClassName 1 string ?
 status 2 string ! enum=.PersistentVolumeClaimModifyVolumeStatus
NFSVolumeSource
 server 1 string !
 path 2 string !
 readOnly 3 bool ?
Namespace kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .NamespaceSpec ?
 status 3 .NamespaceStatus ?
NamespaceCondition
 type 1 string !
 status 2 string !
 lastTransitionTime 4 Time ?
 reason 5 string ?
 message 6 string ?
NamespaceSpec
 finalizers 1 []string ? list=atomic
NamespaceStatus
 phase 1 string ? enum=.NamespacePhase
 conditions 2 [].NamespaceCondition ? list=map:type patch=merge by=type
Node kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .NodeSpec ?
 status 3 .NodeStatus ?
NodeAddress
 type 1 string !
 address 2 string !
NodeAffinity
 requiredDuringSchedulingIgnoredDuringExecution 1 .NodeSelector *?
 preferredDuringSchedulingIgnoredDuringExecution 2 [].PreferredSchedulingTerm ? list=atomic
NodeCondition
 type 1 string !
 status 2 string !
 lastHeartbeatTime 3 Time ?
 lastTransitionTime 4 Time ?
 reason 5 string ?
 message 6 string ?
NodeConfigSource
 configMap 2 .ConfigMapNodeConfigSource *?
NodeConfigStatus
 assigned 1 .NodeConfigSource *?
 active 2 .NodeConfigSource *?
 lastKnownGood 3 .NodeConfigSource *?
 error 4 string ?
NodeDaemonEndpoints
 kubeletEndpoint 1 .DaemonEndpoint ?
NodeFeatures
 supplementalGroupsPolicy 1 bool *?
NodeProxyOptions kind
 path 1 string ?
NodeRuntimeHandler
 name 1 string
 features 2 .NodeRuntimeHandlerFeatures *?
NodeRuntimeHandlerFeatures
 recursiveReadOnlyMounts 1 bool *? gate=RecursiveReadOnlyMounts
 userNamespaces 2 bool *? gate=UserNamespacesSupport
NodeSelector atomic
 nodeSelectorTerms 1 [].NodeSelectorTerm ! list=atomic
NodeSelectorRequirement
 key 1 string !
 operator 2 string ! enum=.NodeSelectorOperator
 values 3 []string ? list=atomic
NodeSelectorTerm atomic
 matchExpressions 1 [].NodeSelectorRequirement ? list=atomic
 matchFields 2 [].NodeSelectorRequirement ? list=atomic
NodeSpec
 podCIDR 1 string ?
 podCIDRs 7 []string ? list=set patch=merge
 providerID 3 string ?
 unschedulable 4 bool ?
 taints 5 [].Taint ? list=atomic
 configSource 6 .NodeConfigSource *?
 externalID 2 string ?
NodeStatus
 capacity 1 {}Quantity ?
 allocatable 2 {}Quantity ?
 phase 3 string ? enum=.NodePhase
 conditions 4 [].NodeCondition ? list=map:type patch=merge by=type
 addresses 5 [].NodeAddress ? list=map:type patch=merge by=type
 daemonEndpoints 6 .NodeDaemonEndpoints ?
 nodeInfo 7 .NodeSystemInfo ?
 images 8 [].ContainerImage ? list=atomic
 volumesInUse 9 []string ? list=atomic
 volumesAttached 10 [].AttachedVolume ? list=atomic
 config 11 .NodeConfigStatus *?
 runtimeHandlers 12 [].NodeRuntimeHandler ? list=atomic gate=RecursiveReadOnlyMounts,UserNamespacesSupport
 features 13 .NodeFeatures *? gate=SupplementalGroupsPolicy
NodeSystemInfo
 machineID 1 string !
 systemUUID 2 string !
 bootID 3 string !
 kernelVersion 4 string !
 osImage 5 string !
 containerRuntimeVersion 6 string !
 kubeletVersion 7 string !
 kubeProxyVersion 8 string !
 operatingSystem 9 string !
 architecture 10 string !
ObjectFieldSelector atomic
 apiVersion 1 string ?
 fieldPath 2 string !
ObjectReference atomic
 kind 1 string ?
 namespace 2 string ?
 name 3 string ?
 uid 4 string ?
 apiVersion 5 string ?
 resourceVersion 6 string ?
 fieldPath 7 string ?
PersistentVolume kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .PersistentVolumeSpec ?
 status 3 .PersistentVolumeStatus ?
PersistentVolumeClaim kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .PersistentVolumeClaimSpec ?
 status 3 .PersistentVolumeClaimStatus ?
PersistentVolumeClaimCondition
 type 1 string !
 status 2 string !
 lastProbeTime 3 Time ?
 lastTransitionTime 4 Time ?
 reason 5 string ?
 message 6 string ?
PersistentVolumeClaimSpec
 accessModes 1 []string ? list=atomic enum=.PersistentVolumeAccessMode
 selector 4 meta.v1.LabelSelector *?
 resources 2 .VolumeResourceRequirements ?
 volumeName 3 string ?
 storageClassName 5 string *?
 volumeMode 6 string *? enum=.PersistentVolumeMode
 dataSource 7 .TypedLocalObjectReference *?
 dataSourceRef 8 .TypedObjectReference *?
 volumeAttributesClassName 9 string *?
PersistentVolumeClaimStatus
 phase 1 string ? enum=.PersistentVolumeClaimPhase
 accessModes 2 []string ? list=atomic enum=.PersistentVolumeAccessMode
 capacity 3 {}Quantity ?
 conditions 4 [].PersistentVolumeClaimCondition ? list=map:type patch=merge by=type
 allocatedResources 5 {}Quantity ? gate=RecoverVolumeExpansionFailure
 allocatedResourceStatuses 7 {}string ? map=granular enum=.ClaimResourceStatus gate=RecoverVolumeExpansionFailure
 currentVolumeAttributesClassName 8 string *? gate=VolumeAttributesClass
 modifyVolumeStatus 9 .ModifyVolumeStatus *? gate=VolumeAttributesClass
PersistentVolumeClaimTemplate
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .PersistentVolumeClaimSpec !
PersistentVolumeClaimVolumeSource
 claimName 1 string !
 readOnly 2 bool ?
PersistentVolumeSource
 gcePersistentDisk 1 .GCEPersistentDiskVolumeSource *?
 awsElasticBlockStore 2 .AWSElasticBlockStoreVolumeSource *?
 hostPath 3 .HostPathVolumeSource *?
 glusterfs 4 .GlusterfsPersistentVolumeSource *?
 nfs 5 .NFSVolumeSource *?
 rbd 6 .RBDPersistentVolumeSource *?
 iscsi 7 .ISCSIPersistentVolumeSource *?
 cinder 8 .CinderPersistentVolumeSource *?
 cephfs 9 .CephFSPersistentVolumeSource *?
 fc 10 .FCVolumeSource *?
 flocker 11 .FlockerVolumeSource *?
 flexVolume 12 .FlexPersistentVolumeSource *?
 azureFile 13 .AzureFilePersistentVolumeSource *?
 vsphereVolume 14 .VsphereVirtualDiskVolumeSource *?
 quobyte 15 .QuobyteVolumeSource *?
 azureDisk 16 .AzureDiskVolumeSource *?
 photonPersistentDisk 17 .PhotonPersistentDiskVolumeSource *?
 portworxVolume 18 .PortworxVolumeSource *?
 scaleIO 19 .ScaleIOPersistentVolumeSource *?
 local 20 .LocalVolumeSource *?
 storageos 21 .StorageOSPersistentVolumeSource *?
 csi 22 .CSIPersistentVolumeSource *?
PersistentVolumeSpec
 capacity 1 {}Quantity ?
 + 2 .PersistentVolumeSource pb=persistentVolumeSource
 accessModes 3 []string ? list=atomic enum=.PersistentVolumeAccessMode
 claimRef 4 .ObjectReference *? map=granular
 persistentVolumeReclaimPolicy 5 string ? enum=.PersistentVolumeReclaimPolicy
 storageClassName 6 string ?
 mountOptions 7 []string ? list=atomic
 volumeMode 8 string *? enum=.PersistentVolumeMode
 nodeAffinity 9 .VolumeNodeAffinity *?
 volumeAttributesClassName 10 string *?
PersistentVolumeStatus
 phase 1 string ? enum=.PersistentVolumePhase
 message 2 string ?
 reason 3 string ?
 lastPhaseTransitionTime 4 Time *?
PhotonPersistentDiskVolumeSource
 pdID 1 string !
 fsType 2 string ?
Pod kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .PodSpec ?
 status 3 .PodStatus ?
PodAffinity
 requiredDuringSchedulingIgnoredDuringExecution 1 [].PodAffinityTerm ? list=atomic
 preferredDuringSchedulingIgnoredDuringExecution 2 [].WeightedPodAffinityTerm ? list=atomic
PodAffinityTerm
 labelSelector 1 meta.v1.LabelSelector *?
 namespaces 2 []string ? list=atomic
 topologyKey 3 string !
 namespaceSelector 4 meta.v1.LabelSelector *?
 matchLabelKeys 5 []string ? list=atomic
 mismatchLabelKeys 6 []string ? list=atomic
PodAntiAffinity
 requiredDuringSchedulingIgnoredDuringExecution 1 [].PodAffinityTerm ? list=atomic
 preferredDuringSchedulingIgnoredDuringExecution 2 [].WeightedPodAffinityTerm ? list=atomic
PodAttachOptions kind
 stdin 1 bool ?
 stdout 2 bool ?
 stderr 3 bool ?
 tty 4 bool ?
 container 5 string ?
PodCondition
 type 1 string !
 status 2 string !
 lastProbeTime 3 Time ?
 lastTransitionTime 4 Time ?
 reason 5 string ?
 message 6 string ?
PodDNSConfig
 nameservers 1 []string ? list=atomic
 searches 2 []string ? list=atomic
 options 3 [].PodDNSConfigOption ? list=atomic
PodDNSConfigOption
 name 1 string ?
 value 2 string *?
PodExecOptions kind
 stdin 1 bool ?
 stdout 2 bool ?
 stderr 3 bool ?
 tty 4 bool ?
 container 5 string ?
 command 6 []string ! list=atomic
PodIP
 ip 1 string !
PodLogOptions kind
 container 1 string ?
 follow 2 bool ?
 previous 3 bool ?
 sinceSeconds 4 int64 *?
 sinceTime 5 Time *?
 timestamps 6 bool ?
 tailLines 7 int64 *?
 limitBytes 8 int64 *?
 insecureSkipTLSVerifyBackend 9 bool ?
 stream 10 string *? gate=PodLogsQuerySplitStreams
PodOS
 name 1 string !
PodPortForwardOptions kind
 ports 1 []int32 ? list=atomic
PodProxyOptions kind
 path 1 string ?
PodReadinessGate
 conditionType 1 string !
PodResourceClaim
 name 1 string !
 resourceClaimName 3 string *?
 resourceClaimTemplateName 4 string *?
PodResourceClaimStatus
 name 1 string !
 resourceClaimName 2 string *?
PodSchedulingGate
 name 1 string !
PodSecurityContext
 seLinuxOptions 1 .SELinuxOptions *?
 windowsOptions 8 .WindowsSecurityContextOptions *?
 runAsUser 2 int64 *?
 runAsGroup 6 int64 *?
 runAsNonRoot 3 bool *?
 supplementalGroups 4 []int64 ? list=atomic
 supplementalGroupsPolicy 12 string *? enum=.SupplementalGroupsPolicy gate=SupplementalGroupsPolicy
 fsGroup 5 int64 *?
 sysctls 7 [].Sysctl ? list=atomic
 fsGroupChangePolicy 9 string *? enum=.PodFSGroupChangePolicy
 seccompProfile 10 .SeccompProfile *?
 appArmorProfile 11 .AppArmorProfile *?
 seLinuxChangePolicy 13 string *? gate=SELinuxChangePolicy
PodSignature unreached
 podController 1 meta.v1.OwnerReference *?
PodSpec
 volumes 1 [].Volume ? list=map:name patch=merge,retainKeys by=name
 initContainers 20 [].Container ? list=map:name patch=merge by=name
 containers 2 [].Container ! list=map:name patch=merge by=name
 ephemeralContainers 34 [].EphemeralContainer ? list=map:name patch=merge by=name
 restartPolicy 3 string ? enum=.RestartPolicy
 terminationGracePeriodSeconds 4 int64 *?
 activeDeadlineSeconds 5 int64 *?
 dnsPolicy 6 string ? enum=.DNSPolicy
 nodeSelector 7 {}string ? map=atomic
 serviceAccountName 8 string ?
 serviceAccount 9 string ?
 automountServiceAccountToken 21 bool *?
 nodeName 10 string ?
 hostNetwork 11 bool ?
 hostPID 12 bool ?
 hostIPC 13 bool ?
 shareProcessNamespace 27 bool *?
 securityContext 14 .PodSecurityContext *?
 imagePullSecrets 15 [].LocalObjectReference ? list=map:name patch=merge by=name
 hostname 16 string ?
 subdomain 17 string ?
 affinity 18 .Affinity *?
 schedulerName 19 string ?
 tolerations 22 [].Toleration ? list=atomic
 hostAliases 23 [].HostAlias ? list=map:ip patch=merge by=ip
 priorityClassName 24 string ?
 priority 25 int32 *?
 dnsConfig 26 .PodDNSConfig *?
 readinessGates 28 [].PodReadinessGate ? list=atomic
 runtimeClassName 29 string *?
 enableServiceLinks 30 bool *?
 preemptionPolicy 31 string *? enum=.PreemptionPolicy
 overhead 32 {}Quantity ?
 topologySpreadConstraints 33 [].TopologySpreadConstraint ? list=map:topologyKey,whenUnsatisfiable patch=merge by=topologyKey
 setHostnameAsFQDN 35 bool *?
 os 36 .PodOS *?
 hostUsers 37 bool *? gate=UserNamespacesSupport
 schedulingGates 38 [].PodSchedulingGate ? list=map:name patch=merge by=name
 resourceClaims 39 [].PodResourceClaim ? list=map:name patch=merge,retainKeys by=name gate=DynamicResourceAllocation
 resources 40 .ResourceRequirements *? gate=PodLevelResources
PodStatus
 phase 1 string ? enum=.PodPhase
 conditions 2 [].PodCondition ? list=map:type patch=merge by=type
 message 3 string ?
 reason 4 string ?
 nominatedNodeName 11 string ?
 hostIP 5 string ?
 hostIPs 16 [].HostIP ? list=atomic patch=merge by=ip
 podIP 6 string ?
 podIPs 12 [].PodIP ? list=map:ip patch=merge by=ip
 startTime 7 Time *?
 initContainerStatuses 10 [].ContainerStatus ? list=atomic
 containerStatuses 8 [].ContainerStatus ? list=atomic
 qosClass 9 string ? enum=.PodQOSClass
 ephemeralContainerStatuses 13 [].ContainerStatus ? list=atomic
 resize 14 string ? gate=InPlacePodVerticalScaling
 resourceClaimStatuses 15 [].PodResourceClaimStatus ? list=map:name patch=merge,retainKeys by=name gate=DynamicResourceAllocation
PodStatusResult kind
 metadata 1 meta.v1.ObjectMeta ?
 status 2 .PodStatus ?
PodTemplate kind list
 metadata 1 meta.v1.ObjectMeta ?
 template 2 .PodTemplateSpec ?
PodTemplateSpec
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .PodSpec ?
PortStatus
 port 1 int32 !
 protocol 2 string ! enum=.Protocol
 error 3 string *?
PortworxVolumeSource
 volumeID 1 string !
 fsType 2 string ?
 readOnly 3 bool ?
Preconditions unreached
 uid 1 string *?
PreferAvoidPodsEntry unreached
 podSignature 1 .PodSignature !
 evictionTime 2 Time ?
 reason 3 string ?
 message 4 string ?
PreferredSchedulingTerm
 weight 1 int32 !
 preference 2 .NodeSelectorTerm !
Probe
 + 1 .ProbeHandler pb=handler
 initialDelaySeconds 2 int32 ?
 timeoutSeconds 3 int32 ?
 periodSeconds 4 int32 ?
 successThreshold 5 int32 ?
 failureThreshold 6 int32 ?
 terminationGracePeriodSeconds 7 int64 *?
ProbeHandler
 exec 1 .ExecAction *?
 httpGet 2 .HTTPGetAction *?
 tcpSocket 3 .TCPSocketAction *?
 grpc 4 .GRPCAction *?
ProjectedVolumeSource
 sources 1 [].VolumeProjection list=atomic
 defaultMode 2 int32 *?
QuobyteVolumeSource
 registry 1 string !
 volume 2 string !
 readOnly 3 bool ?
 user 4 string ?
 group 5 string ?
 tenant 6 string ?
RBDPersistentVolumeSource
 monitors 1 []string ! list=atomic
 image 2 string !
 fsType 3 string ?
 pool 4 string ? default="rbd"
 user 5 string ? default="admin"
 keyring 6 string ? default="/etc/ceph/keyring"
 secretRef 7 .SecretReference *?
 readOnly 8 bool ?
RBDVolumeSource
 monitors 1 []string ! list=atomic
 image 2 string !
 fsType 3 string ?
 pool 4 string ? default="rbd"
 user 5 string ? default="admin"
 keyring 6 string ? default="/etc/ceph/keyring"
 secretRef 7 .LocalObjectReference *?
 readOnly 8 bool ?
RangeAllocation kind
 metadata 1 meta.v1.ObjectMeta ?
 range 2 string !
 data 3 bytes !
ReplicationController kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ReplicationControllerSpec ?
 status 3 .ReplicationControllerStatus ?
ReplicationControllerCondition
 type 1 string !
 status 2 string !
 lastTransitionTime 3 Time ?
 reason 4 string ?
 message 5 string ?
ReplicationControllerSpec
 replicas 1 int32 *?
 minReadySeconds 4 int32 ?
 selector 2 {}string ? map=atomic
 template 3 .PodTemplateSpec *?
ReplicationControllerStatus
 replicas 1 int32 !
 fullyLabeledReplicas 2 int32 ?
 readyReplicas 4 int32 ?
 availableReplicas 5 int32 ?
 observedGeneration 3 int64 ?
 conditions 6 [].ReplicationControllerCondition ? list=map:type patch=merge by=type
ResourceClaim
 name 1 string !
 request 2 string ?
ResourceFieldSelector atomic
 containerName 1 string ?
 resource 2 string !
 divisor 3 Quantity ?
ResourceHealth
 resourceID 1 string !
 health 2 string ?
ResourceQuota kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ResourceQuotaSpec ?
 status 3 .ResourceQuotaStatus ?
ResourceQuotaSpec
 hard 1 {}Quantity ?
 scopes 2 []string ? list=atomic enum=.ResourceQuotaScope
 scopeSelector 3 .ScopeSelector *?
ResourceQuotaStatus
 hard 1 {}Quantity ?
 used 2 {}Quantity ?
ResourceRequirements
 limits 1 {}Quantity ?
 requests 2 {}Quantity ?
 claims 3 [].ResourceClaim ? list=map:name gate=DynamicResourceAllocation
ResourceStatus
 name 1 string !
 resources 2 [].ResourceHealth ? list=map:resourceID
SELinuxOptions
 user 1 string ?
 role 2 string ?
 type 3 string ?
 level 4 string ?
ScaleIOPersistentVolumeSource
 gateway 1 string !
 system 2 string !
 secretRef 3 .SecretReference *!
 sslEnabled 4 bool ?
 protectionDomain 5 string ?
 storagePool 6 string ?
 storageMode 7 string ? default="ThinProvisioned"
 volumeName 8 string ?
 fsType 9 string ? default="xfs"
 readOnly 10 bool ?
ScaleIOVolumeSource
 gateway 1 string !
 system 2 string !
 secretRef 3 .LocalObjectReference *!
 sslEnabled 4 bool ?
 protectionDomain 5 string ?
 storagePool 6 string ?
 storageMode 7 string ? default="ThinProvisioned"
 volumeName 8 string ?
 fsType 9 string ? default="xfs"
 readOnly 10 bool ?
ScopeSelector atomic
 matchExpressions 1 [].ScopedResourceSelectorRequirement ? list=atomic
ScopedResourceSelectorRequirement
 scopeName 1 string ! enum=.ResourceQuotaScope
 operator 2 string ! enum=.ScopeSelectorOperator
 values 3 []string ? list=atomic
SeccompProfile union=type:localhostProfile:LocalhostProfile
 type 1 string ! enum=.SeccompProfileType
 localhostProfile 2 string *?
Secret kind list
 metadata 1 meta.v1.ObjectMeta ?
 immutable 5 bool *?
 data 2 {}bytes ?
 stringData 4 {}string ?
 type 3 string ?
SecretEnvSource
 + 1 .LocalObjectReference pb=localObjectReference
 optional 2 bool *?
SecretKeySelector atomic
 + 1 .LocalObjectReference pb=localObjectReference
 key 2 string !
 optional 3 bool *?
SecretProjection
 + 1 .LocalObjectReference pb=localObjectReference
 items 2 [].KeyToPath ? list=atomic
 optional 4 bool *?
SecretReference atomic
 name 1 string ?
 namespace 2 string ?
SecretVolumeSource
 secretName 1 string ?
 items 2 [].KeyToPath ? list=atomic
 defaultMode 3 int32 *?
 optional 4 bool *?
SecurityContext
 capabilities 1 .Capabilities *?
 privileged 2 bool *?
 seLinuxOptions 3 .SELinuxOptions *?
 windowsOptions 10 .WindowsSecurityContextOptions *?
 runAsUser 4 int64 *?
 runAsGroup 8 int64 *?
 runAsNonRoot 5 bool *?
 readOnlyRootFilesystem 6 bool *?
 allowPrivilegeEscalation 7 bool *?
 procMount 9 string *? enum=.ProcMountType
 seccompProfile 11 .SeccompProfile *?
 appArmorProfile 12 .AppArmorProfile *?
SerializedReference kind
 reference 1 .ObjectReference ?
Service kind list
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 .ServiceSpec ?
 status 3 .ServiceStatus ?
ServiceAccount kind list
 metadata 1 meta.v1.ObjectMeta ?
 secrets 2 [].ObjectReference ? list=map:name patch=merge by=name
 imagePullSecrets 3 [].LocalObjectReference ? list=atomic
 automountServiceAccountToken 4 bool *?
ServiceAccountTokenProjection
 audience 1 string ?
 expirationSeconds 2 int64 *?
 path 3 string !
ServicePort
 name 1 string ?
 protocol 2 string ? default="TCP" enum=.Protocol
 appProtocol 6 string *?
 port 3 int32 !
 targetPort 4 IntOrString ?
 nodePort 5 int32 ?
ServiceProxyOptions kind
 path 1 string ?
ServiceSpec
 ports 1 [].ServicePort ? list=map:port,protocol patch=merge by=port
 selector 2 {}string ? map=atomic
 clusterIP 3 string ?
 clusterIPs 18 []string ? list=atomic
 type 4 string ? enum=.ServiceType
 externalIPs 5 []string ? list=atomic
 sessionAffinity 7 string ? enum=.ServiceAffinity
 loadBalancerIP 8 string ?
 loadBalancerSourceRanges 9 []string ? list=atomic
 externalName 10 string ?
 externalTrafficPolicy 11 string ? enum=.ServiceExternalTrafficPolicy
 healthCheckNodePort 12 int32 ?
 publishNotReadyAddresses 13 bool ?
 sessionAffinityConfig 14 .SessionAffinityConfig *?
 ipFamilies 19 []string ? list=atomic enum=.IPFamily
 ipFamilyPolicy 17 string *? enum=.IPFamilyPolicy
 allocateLoadBalancerNodePorts 20 bool *?
 loadBalancerClass 21 string *?
 internalTrafficPolicy 22 string *? enum=.ServiceInternalTrafficPolicy
 trafficDistribution 23 string *? gate=ServiceTrafficDistribution
ServiceStatus
 loadBalancer 1 .LoadBalancerStatus ?
 conditions 2 []meta.v1.Condition ? list=map:type patch=merge by=type
SessionAffinityConfig
 clientIP 1 .ClientIPConfig *?
SleepAction
 seconds 1 int64 !
StorageOSPersistentVolumeSource
 volumeName 1 string ?
 volumeNamespace 2 string ?
 fsType 3 string ?
 readOnly 4 bool ?
 secretRef 5 .ObjectReference *?
StorageOSVolumeSource
 volumeName 1 string ?
 volumeNamespace 2 string ?
 fsType 3 string ?
 readOnly 4 bool ?
 secretRef 5 .LocalObjectReference *?
Sysctl
 name 1 string !
 value 2 string !
TCPSocketAction
 port 1 IntOrString !
 host 2 string ?
Taint
 key 1 string !
 value 2 string ?
 effect 3 string ! enum=.TaintEffect
 timeAdded 4 Time *?
Toleration
 key 1 string ?
 operator 2 string ? enum=.TolerationOperator
 value 3 string ?
 effect 4 string ? enum=.TaintEffect
 tolerationSeconds 5 int64 *?
TopologySelectorLabelRequirement
 key 1 string !
 values 2 []string ! list=atomic
TopologySelectorTerm atomic
 matchLabelExpressions 1 [].TopologySelectorLabelRequirement ? list=atomic
TopologySpreadConstraint
 maxSkew 1 int32 !
 topologyKey 2 string !
 whenUnsatisfiable 3 string ! enum=.UnsatisfiableConstraintAction
 labelSelector 4 meta.v1.LabelSelector *?
 minDomains 5 int32 *?
 nodeAffinityPolicy 6 string *? enum=.NodeInclusionPolicy
 nodeTaintsPolicy 7 string *? enum=.NodeInclusionPolicy
 matchLabelKeys 8 []string ? list=atomic
TypedLocalObjectReference atomic
 apiGroup 1 string *
 kind 2 string !
 name 3 string !
TypedObjectReference
 apiGroup 1 string *
 kind 2 string !
 name 3 string !
 namespace 4 string *?
Volume
 name 1 string !
 + 2 .VolumeSource pb=volumeSource
VolumeDevice
 name 1 string !
 devicePath 2 string !
VolumeMount
 name 1 string !
 readOnly 2 bool ?
 recursiveReadOnly 7 string *? gate=RecursiveReadOnlyMounts
 mountPath 3 string !
 subPath 4 string ?
 mountPropagation 5 string *? enum=.MountPropagationMode
 subPathExpr 6 string ?
VolumeMountStatus
 name 1 string !
 mountPath 2 string !
 readOnly 3 bool ?
 recursiveReadOnly 4 string *? gate=RecursiveReadOnlyMounts
VolumeNodeAffinity
 required 1 .NodeSelector *?
VolumeProjection
 secret 1 .SecretProjection *?
 downwardAPI 2 .DownwardAPIProjection *?
 configMap 3 .ConfigMapProjection *?
 serviceAccountToken 4 .ServiceAccountTokenProjection *?
 clusterTrustBundle 5 .ClusterTrustBundleProjection *? gate=ClusterTrustBundleProjection
VolumeResourceRequirements
 limits 1 {}Quantity ?
 requests 2 {}Quantity ?
VolumeSource
 hostPath 1 .HostPathVolumeSource *?
 emptyDir 2 .EmptyDirVolumeSource *?
 gcePersistentDisk 3 .GCEPersistentDiskVolumeSource *?
 awsElasticBlockStore 4 .AWSElasticBlockStoreVolumeSource *?
 gitRepo 5 .GitRepoVolumeSource *?
 secret 6 .SecretVolumeSource *?
 nfs 7 .NFSVolumeSource *?
 iscsi 8 .ISCSIVolumeSource *?
 glusterfs 9 .GlusterfsVolumeSource *?
 persistentVolumeClaim 10 .PersistentVolumeClaimVolumeSource *?
 rbd 11 .RBDVolumeSource *?
 flexVolume 12 .FlexVolumeSource *?
 cinder 13 .CinderVolumeSource *?
 cephfs 14 .CephFSVolumeSource *?
 flocker 15 .FlockerVolumeSource *?
 downwardAPI 16 .DownwardAPIVolumeSource *?
 fc 17 .FCVolumeSource *?
 azureFile 18 .AzureFileVolumeSource *?
 configMap 19 .ConfigMapVolumeSource *?
 vsphereVolume 20 .VsphereVirtualDiskVolumeSource *?
 quobyte 21 .QuobyteVolumeSource *?
 azureDisk 22 .AzureDiskVolumeSource *?
 photonPersistentDisk 23 .PhotonPersistentDiskVolumeSource *?
 projected 26 .ProjectedVolumeSource *?
 portworxVolume 24 .PortworxVolumeSource *?
 scaleIO 25 .ScaleIOVolumeSource *?
 storageos 27 .StorageOSVolumeSource *?
 csi 28 .CSIVolumeSource *?
 ephemeral 29 .EphemeralVolumeSource *?
 image 30 .ImageVolumeSource *?
VsphereVirtualDiskVolumeSource
 volumePath 1 string !
 fsType 2 string ?
 storagePolicyName 3 string ?
 storagePolicyID 4 string ?
WeightedPodAffinityTerm
 weight 1 int32 !
 podAffinityTerm 2 .PodAffinityTerm !
WindowsSecurityContextOptions
 gmsaCredentialSpecName 1 string *?
 gmsaCredentialSpec 2 string *?
 runAsUserName 3 string *?
 hostProcess 4 bool *?
`,
  'meta.v1': `
APIGroup kind
 name 1 string !
 versions 2 [].GroupVersionForDiscovery ! list=atomic
 preferredVersion 3 .GroupVersionForDiscovery ?
 serverAddressByClientCIDRs 4 [].ServerAddressByClientCIDR ? list=atomic
APIGroupList kind
 groups 1 [].APIGroup ! list=atomic
APIResource
 name 1 string !
 singularName 6 string !
 namespaced 2 bool !
 group 8 string ?
 version 9 string ?
 kind 3 string !
 verbs 4 .Verbs !
 shortNames 5 []string ? list=atomic
 categories 7 []string ? list=atomic
 storageVersionHash 10 string ?
APIResourceList kind
 groupVersion 1 string !
 resources 2 [].APIResource ! list=atomic
APIVersions kind
 versions 1 []string ! list=atomic
 serverAddressByClientCIDRs 2 [].ServerAddressByClientCIDR ! list=atomic
ApplyOptions kind
 dryRun 1 []string ? list=atomic
 force 2 bool !
 fieldManager 3 string !
Condition
 type 1 string !
 status 2 string !
 observedGeneration 3 int64 ?
 lastTransitionTime 4 Time !
 reason 5 string !
 message 6 string !
CreateOptions kind
 dryRun 1 []string ? list=atomic
 fieldManager 3 string ?
 fieldValidation 4 string ?
DeleteOptions kind
 gracePeriodSeconds 1 int64 *?
 preconditions 2 .Preconditions *?
 orphanDependents 3 bool *?
 propagationPolicy 4 string *?
 dryRun 5 []string ? list=atomic
 ignoreStoreReadErrorWithClusterBreakingPotential 6 bool *?
FieldSelectorRequirement
 key 1 string !
 operator 2 string !
 values 3 []string ? list=atomic
GetOptions kind
 resourceVersion 1 string ?
GroupKind
 group 1 string !
 kind 2 string !
GroupResource
 group 1 string !
 resource 2 string !
GroupVersion
 group 1 string !
 version 2 string !
GroupVersionForDiscovery
 groupVersion 1 string !
 version 2 string !
GroupVersionKind
 group 1 string !
 version 2 string !
 kind 3 string !
GroupVersionResource
 group 1 string !
 version 2 string !
 resource 3 string !
LabelSelector atomic
 matchLabels 1 {}string ?
 matchExpressions 2 [].LabelSelectorRequirement ? list=atomic
LabelSelectorRequirement
 key 1 string !
 operator 2 string !
 values 3 []string ? list=atomic
List kind
 metadata 1 .ListMeta ?
 items 2 []RawExtension !
ListMeta
 selfLink 1 string ?
 resourceVersion 2 string ?
 continue 3 string ?
 remainingItemCount 4 int64 *?
ListOptions kind
 labelSelector 1 string ?
 fieldSelector 2 string ?
 watch 3 bool ?
 allowWatchBookmarks 9 bool ?
 resourceVersion 4 string ?
 resourceVersionMatch 10 string ?
 timeoutSeconds 5 int64 *?
 limit 7 int64 ?
 continue 8 string ?
 sendInitialEvents 11 bool *?
ManagedFieldsEntry
 manager 1 string ?
 operation 2 string ?
 apiVersion 3 string ?
 time 4 Time *?
 fieldsType 6 string ?
 fieldsV1 7 FieldsV1 *?
 subresource 8 string ?
ObjectMeta
 name 1 string ?
 generateName 2 string ?
 namespace 3 string ?
 selfLink 4 string ?
 uid 5 string ?
 resourceVersion 6 string ?
 generation 7 int64 ?
 creationTimestamp 8 Time ?
 deletionTimestamp 9 Time *?
 deletionGracePeriodSeconds 10 int64 *?
 labels 11 {}string ?
 annotations 12 {}string ?
 ownerReferences 13 [].OwnerReference ? list=map:uid patch=merge by=uid
 finalizers 14 []string ? list=set patch=merge
 managedFields 17 [].ManagedFieldsEntry ? list=atomic
OwnerReference atomic
 apiVersion 5 string !
 kind 1 string !
 name 3 string !
 uid 4 string !
 controller 6 bool *?
 blockOwnerDeletion 7 bool *?
PartialObjectMetadata kind
 metadata 1 .ObjectMeta ?
PartialObjectMetadataList kind
 metadata 1 .ListMeta ?
 items 2 [].PartialObjectMetadata !
PatchOptions kind
 dryRun 1 []string ? list=atomic
 force 2 bool *?
 fieldManager 3 string ?
 fieldValidation 4 string ?
Preconditions
 uid 1 string *?
 resourceVersion 2 string *?
RootPaths
 paths 1 []string ! list=atomic
ServerAddressByClientCIDR
 clientCIDR 1 string !
 serverAddress 2 string !
Status kind
 metadata 1 .ListMeta ?
 status 2 string ?
 message 3 string ?
 reason 4 string ?
 details 5 .StatusDetails *? list=atomic
 code 6 int32 ?
StatusCause
 reason 1 string ?
 message 2 string ?
 field 3 string ?
StatusDetails
 name 1 string ?
 group 2 string ?
 kind 3 string ?
 uid 6 string ?
 causes 4 [].StatusCause ? list=atomic
 retryAfterSeconds 5 int32 ?
Table kind noproto
 metadata 0 .ListMeta ?
 columnDefinitions 0 [].TableColumnDefinition ! list=atomic
 rows 0 [].TableRow ! list=atomic
TableColumnDefinition noproto
 name 0 string !
 type 0 string !
 format 0 string !
 description 0 string !
 priority 0 int32 !
TableOptions kind
 includeObject 1 string ?
TableRow noproto
 cells 0 []any ! list=atomic
 conditions 0 [].TableRowCondition ? list=atomic
 object 0 RawExtension ?
TableRowCondition noproto
 type 0 string !
 status 0 string !
 reason 0 string ?
 message 0 string ?
Timestamp
 seconds 1 int64 !
 nanos 2 int32 !
TypeMeta
 kind 1 string ?
 apiVersion 2 string ?
UpdateOptions kind
 dryRun 1 []string ? list=atomic
 fieldManager 2 string ?
 fieldValidation 3 string ?
Verbs wrapper
 items 1 []string
WatchEvent
 type 1 string !
 object 2 RawExtension !
`,
  'meta.v1beta1': `
PartialObjectMetadataList kind
 metadata 2 meta.v1.ListMeta ?
 items 1 []meta.v1.PartialObjectMetadata !
`,
};
