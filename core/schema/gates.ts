/**
 * Feature gates of release 1.32 that are off unless somebody turns them on: what they guard is read over as if it was
 * not there.
 */
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

/** Whether what `gates` guard is off; of several, separated by commas, one that is on is enough. */
export const isOff = (gates: string | undefined): boolean => gates?.split(',').every(gate => OFF.has(gate)) ?? false;
