/**
 * Feature gates of release 1.32 with their states there and in release 1.31, which it can emulate. The server accepts
 * all of them, also those without an effect.
 */

/** How stable a feature is (spec, "Deprecation policy: feature gates"); `preAlpha` if a release does not have it. */
export type Stage = 'preAlpha' | 'alpha' | 'beta' | 'ga' | 'deprecated';

/** A feature gate. */
export interface Gate {
  readonly stage: Stage;
  readonly isOnByDefault: boolean;
  /** Whether it cannot be set to anything but its default. */
  readonly isLocked: boolean;
}

interface Row extends Gate {
  /** Separated by white space. */
  readonly names: string;
}

const ROWS: readonly Row[] = [
  {
    stage: 'alpha',
    isOnByDefault: false,
    isLocked: false,
    names: `APIServingWithRoutine AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions
      CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR CloudControllerManagerWebhook ClusterTrustBundle
      ClusterTrustBundleProjection ComponentFlagz ComponentStatusz CoordinatedLeaderElection
      CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod DRAAdminAccess DRAResourceClaimDeviceStatus
      DisableAllocatorDualWrite EventedPLEG ExternalServiceAccountTokenSigner HPAScaleToZero ImageVolume
      InPlacePodVerticalScaling InPlacePodVerticalScalingAllocatedStatus InPlacePodVerticalScalingExclusiveCPUs
      InTreePluginPortworxUnregister InformerResourceVersion KubeletCrashLoopBackOffMax KubeletFineGrainedAuthz
      KubeletInUserNamespace KubeletPodResourcesDynamicResources KubeletPodResourcesGet LoggingAlphaOptions
      MaxUnavailableStatefulSet MemoryQoS MutatingAdmissionPolicy PodAndContainerStatsFromCRI PodLevelResources
      PodLifecycleSleepActionAllowZero PodLogsQuerySplitStreams QOSReserved RelaxedDNSSearchValidation
      RemoteRequestHeaderUID ResourceHealthStatus RuntimeClassInImageCriApi SELinuxChangePolicy SELinuxMount
      SchedulerAsyncPreemption StorageVersionAPI StorageVersionMigrator SupplementalGroupsPolicy
      TopologyManagerPolicyAlphaOptions UnknownVersionInteroperabilityProxy UserNamespacesPodSecurityStandards
      VolumeCapacityPriority WinDSR WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown`,
  },
  { stage: 'alpha', isOnByDefault: true, isLocked: false, names: 'WindowsHostNetwork' },
  {
    stage: 'beta',
    isOnByDefault: true,
    isLocked: false,
    names: `APIResponseCompression APIServerIdentity APIServerTracing AnonymousAuthConfigurableEndpoints
      AnyVolumeDataSource AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyBetaOptions
      CPUManagerPolicyOptions CRDValidationRatcheting CSIMigrationPortworx ConsistentListFromCache ContainerCheckpoint
      ContextualLogging GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HonorPVReclaimPolicy
      ImageMaximumGCAge JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy
      KubeletCgroupDriverFromCRI KubeletSeparateDiskGC KubeletTracing LoggingBetaOptions MatchLabelKeysInPodAffinity
      MatchLabelKeysInPodTopologySpread NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap
      OpenAPIEnums PodDeletionCost PodLifecycleSleepAction PodReadyToStartContainersCondition PortForwardWebsockets
      RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedEnvironmentVariableValidation
      ReloadKubeletServerCertificateFile ResilientWatchCacheInitialization RotateKubeletServerCertificate
      SELinuxMountReadWriteOncePod SchedulerQueueingHints SeparateCacheWatchRPC SeparateTaintEvictionController
      ServiceAccountTokenNodeBinding ServiceTrafficDistribution SidecarContainers StorageNamespaceIndex
      StorageVersionHash StructuredAuthenticationConfiguration SystemdWatchdog TopologyAwareHints
      TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation WatchList
      WinOverlay`,
  },
  {
    stage: 'beta',
    isOnByDefault: false,
    isLocked: false,
    names: `ConcurrentWatchObjectDecode DynamicResourceAllocation LocalStorageCapacityIsolationFSQuotaMonitoring
      MultiCIDRServiceAllocator OrderedNamespaceDeletion ProcMountType ServiceAccountNodeAudienceRestriction
      StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf UserNamespacesSupport
      VolumeAttributesClass WatchCacheInitializationPostStartHook WatchFromStorageWithoutResourceVersion
      WatchListClient`,
  },
  {
    stage: 'ga',
    isOnByDefault: true,
    isLocked: true,
    names: `APIListChunking AdmissionWebhookMatchConditions AggregatedDiscoveryEndpoint AppArmor AppArmorFields
      CPUManager ComponentSLIs CronJobsScheduledAnnotation CustomResourceFieldSelectors DevicePluginCDIDevices
      DisableCloudProviders DisableKubeletCloudCredentialProviders EfficientWatchResumption ElasticIndexedJob
      JobPodFailurePolicy KubeProxyDrainingTerminatingNodes LoadBalancerIPMode LogarithmicScaleDown MemoryManager
      PDBUnhealthyPodEvictionPolicy PersistentVolumeLastPhaseTransitionTime PodDisruptionConditions PodIndexLabel
      PodSchedulingReadiness RemainingItemCount RetryGenerateName ServiceAccountTokenJTI
      ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo SizeMemoryBackedVolumes
      StatefulSetAutoDeletePVC StatefulSetStartOrdinal StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks
      StructuredAuthorizationConfiguration WatchBookmark`,
  },
  { stage: 'ga', isOnByDefault: true, isLocked: false, names: 'ExecProbeTimeout TopologyManagerPolicyOptions' },
  {
    stage: 'deprecated',
    isOnByDefault: false,
    isLocked: false,
    names: `AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests
      AllowOverwriteTerminationGracePeriodSeconds DisableNodeKubeProxyVersion KMSv1 KubeletRegistrationGetOnExistsOnly`,
  },
  { stage: 'deprecated', isOnByDefault: false, isLocked: true, names: 'AllowServiceLBStatusOnNonLB' },
];

/** Gates that have other states in release 1.31. */
const ROWS_OF_31: readonly Row[] = [
  {
    stage: 'alpha',
    isOnByDefault: false,
    isLocked: false,
    names: `AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors
      DynamicResourceAllocation JobManagedBy RecoverVolumeExpansionFailure RelaxedEnvironmentVariableValidation
      WatchList`,
  },
  {
    stage: 'beta',
    isOnByDefault: true,
    isLocked: false,
    names: `ComponentSLIs CronJobsScheduledAnnotation CustomResourceFieldSelectors LoadBalancerIPMode MemoryManager
      PodIndexLabel RetryGenerateName ServiceAccountTokenJTI ServiceAccountTokenNodeBindingValidation
      ServiceAccountTokenPodNodeInfo SizeMemoryBackedVolumes StatefulSetAutoDeletePVC
      StructuredAuthorizationConfiguration TopologyManagerPolicyOptions`,
  },
  {
    stage: 'beta',
    isOnByDefault: false,
    isLocked: false,
    names: 'SchedulerQueueingHints StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks',
  },
  {
    stage: 'preAlpha',
    isOnByDefault: false,
    isLocked: false,
    names: `AllowOverwriteTerminationGracePeriodSeconds AllowUnsafeMalformedObjectDeletion BtreeWatchCache
      CBORServingAndStorage ComponentFlagz ComponentStatusz DRAAdminAccess DRAResourceClaimDeviceStatus
      ExternalServiceAccountTokenSigner InPlacePodVerticalScalingAllocatedStatus
      InPlacePodVerticalScalingExclusiveCPUs KubeletCrashLoopBackOffMax KubeletFineGrainedAuthz
      KubeletRegistrationGetOnExistsOnly MutatingAdmissionPolicy PodLevelResources PodLifecycleSleepActionAllowZero
      PodLogsQuerySplitStreams RelaxedDNSSearchValidation RemoteRequestHeaderUID SELinuxChangePolicy
      SchedulerAsyncPreemption ServiceAccountNodeAudienceRestriction StreamingCollectionEncodingToJSON
      StreamingCollectionEncodingToProtobuf SystemdWatchdog WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown`,
  },
];

const byName = (rows: readonly Row[]): [name: string, gate: Gate][] =>
  rows.flatMap(({ names, ...gate }) => names.split(/\s+/).map(name => [name, gate] as [string, Gate]));

/** All gates by name, without `AllAlpha` and `AllBeta`. */
export const GATES: ReadonlyMap<string, Gate> = new Map(byName(ROWS));

const GATES_OF_31: ReadonlyMap<string, Gate> = new Map([...GATES, ...byName(ROWS_OF_31)]);

/** The gates with their states in release 1.31 or 1.32, by its minor number. */
export const gatesOf = (minor: number): ReadonlyMap<string, Gate> => (minor === 31 ? GATES_OF_31 : GATES);
