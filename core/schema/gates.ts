/** Feature gates that are off by default in release 1.32. Their fields are ignored. */
const OFF: ReadonlySet<string> = new Set([
  'ClusterTrustBundle',
  'ClusterTrustBundleProjection',
  'CoordinatedLeaderElection',
  'CrossNamespaceVolumeDataSource',
  'DRAAdminAccess',
  'DRAResourceClaimDeviceStatus',
  'DynamicResourceAllocation',
  'ImageVolume',
  'InPlacePodVerticalScaling',
  'InPlacePodVerticalScalingAllocatedStatus',
  'MultiCIDRServiceAllocator',
  'MutatingAdmissionPolicy',
  'PodLevelResources',
  'PodLogsQuerySplitStreams',
  'ResourceHealthStatus',
  'SELinuxChangePolicy',
  'StorageVersionAPI',
  'StorageVersionMigrator',
  'SupplementalGroupsPolicy',
  'UserNamespacesSupport',
  'VolumeAttributesClass',
]);

/** Whether all of the comma-separated gates are off. */
export const isOff = (gates: string | undefined): boolean => gates?.split(',').every(gate => OFF.has(gate)) ?? false;
