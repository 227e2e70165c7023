/** Descriptions of volumes and claims, by package; README.md explains the form. */
export const VOLUMES_DESCRIPTIONS = {
  'core.v1': `
AWSElasticBlockStoreVolumeSource An Amazon EBS disk. Deprecated: the CSI driver ebs.csi.aws.com serves such volumes.
 volumeID Id of the EBS volume in AWS, such as "vol-0123456789abcdef0".
 partition Number of the partition to mount, from 1 on. 0 or no value mounts the whole disk.
AzureDiskVolumeSource An Azure data disk. Deprecated: the CSI driver disk.csi.azure.com serves such volumes.
 diskName Name of the data disk in the blob storage or resource group.
 diskURI URI of the data disk: of a blob, or the resource id of a managed disk.
 cachingMode Host caching of the disk: "None", "ReadOnly" or "ReadWrite" (default).
 kind "Shared" for several blob disks per account (default), "Dedicated" for one, or "Managed" for a managed disk.
AzureFilePersistentVolumeSource An Azure file share, mounted by a persistent volume. Deprecated: the CSI driver
  file.csi.azure.com serves such volumes.
 secretName Name of the Secret with the name and key of the Azure storage account.
 secretNamespace Namespace of that Secret. By default it is the namespace of the claim that the volume is bound to.
 shareName Name of the file share in the storage account.
AzureFileVolumeSource =AzureFilePersistentVolumeSource An Azure file share, mounted by a pod. Deprecated: the CSI
  driver file.csi.azure.com serves such volumes.
 secretName Name of the Secret in the pod's namespace with the name and key of the Azure storage account.
CSIPersistentVolumeSource Storage of an external driver that follows the Container Storage Interface (CSI). It cannot
  be changed once the volume exists.
 driver Name of the CSI driver, as its CSIDriver object and its nodes register it. At most 63 characters.
 volumeHandle Id by which the driver knows the volume. It is passed to every call of the driver.
 readOnly Whether the driver publishes the volume for reading only. False by default.
 fsType File system to mount, such as "ext4" or "xfs". The driver decides if it is empty.
 volumeAttributes Attributes that the driver returned when it created the volume and receives again when it publishes
  it.
 controllerPublishSecretRef Secret with credentials for attaching and detaching the volume. It is passed to the
  driver's controller.
 nodeStageSecretRef Secret with credentials for staging the volume on a node, before pods use it.
 nodePublishSecretRef Secret with credentials for mounting the volume into a pod.
 controllerExpandSecretRef Secret with credentials for growing the volume in the driver's controller.
 nodeExpandSecretRef Secret with credentials for growing the file system of the volume on its node.
CSIVolumeSource An inline volume of a CSI driver, which is made with the pod and deleted with it. The driver must
  support the lifecycle mode "Ephemeral".
 driver Name of the CSI driver that makes the volume.
 readOnly Whether the driver publishes the volume for reading only. False by default.
 fsType File system to mount. The driver decides if it is absent.
 volumeAttributes Settings for the driver; their names and values are documented by the driver.
 nodePublishSecretRef Secret in the pod's namespace with credentials for the driver. None by default.
CephFSPersistentVolumeSource A Ceph file system, mounted by a persistent volume. Deprecated: this volume type is no
  longer built into nodes.
 monitors Addresses of the Ceph monitors. At least one is required.
 path Folder of the Ceph file system to mount, "/" by default.
 user Name of the Ceph user, "admin" by default.
 secretFile Path on the node of the key ring of the user, "/etc/ceph/user.secret" by default.
 secretRef Secret with the key of the user. It takes precedence over secretFile.
CephFSVolumeSource =CephFSPersistentVolumeSource A Ceph file system, mounted by a pod. Deprecated: this volume type is
  no longer built into nodes.
CinderPersistentVolumeSource An OpenStack Cinder disk, mounted by a persistent volume. Deprecated: the CSI driver
  cinder.csi.openstack.org serves such volumes.
 volumeID Id of the volume in Cinder.
 secretRef Secret with the parameters for connecting to OpenStack. None by default.
CinderVolumeSource =CinderPersistentVolumeSource An OpenStack Cinder disk, mounted by a pod. Deprecated: the CSI driver
  cinder.csi.openstack.org serves such volumes.
ClusterTrustBundleProjection Projects the certificates of ClusterTrustBundles into a file: of one by name, or of all of
  a signer that match a selector.
 name Name of the one ClusterTrustBundle to project. It excludes signerName and labelSelector.
 signerName Projects all bundles of this signer that labelSelector selects. It excludes name.
 labelSelector Selects among the bundles of signerName. An absent selector selects none, an empty one selects all.
 optional Whether the pod may start although no bundle is found; the file is then empty. False by default.
 path Path of the file to write, relative to the volume.
ConfigMapProjection Projects the keys of a ConfigMap into files of a projected volume, all into one folder.
 items Keys to project and the paths of their files. Without items every key becomes a file with its name. A listed key
  that does not exist is an error unless optional is true.
 optional Whether the ConfigMap and its listed keys may be missing. False by default.
ConfigMapVolumeSource A volume whose files are the keys of a ConfigMap. Files follow changes of the ConfigMap, after
  some time.
 items Keys that become files, and their paths. Without items every key becomes a file with its name. A listed key that
  does not exist is an error unless optional is true.
 defaultMode Permission bits of the files, 0 to 0777 (decimal 511), 0644 by default. The mode of an item takes
  precedence.
 optional Whether the ConfigMap and its listed keys may be missing. False by default.
DownwardAPIProjection Projects fields of the pod itself into files of a projected volume.
 items Files to write, each with the field that it contains.
DownwardAPIVolumeFile A file with the value of a field of the pod or of a container's resources. Exactly one of
  fieldRef and resourceFieldRef is required.
 path Path of the file, relative to the volume. It must be neither absolute nor contain "..".
 fieldRef Field of the pod to write: annotations, labels, name, namespace or uid.
 resourceFieldRef Request or limit of a container to write: of cpu, memory, ephemeral-storage or huge pages.
 mode Permission bits of this file, 0 to 0777 (decimal 511). By default those of the volume.
DownwardAPIVolumeSource A volume whose files contain fields of the pod, such as its labels. Labels and annotations are
  followed when they change.
 items Files to write, each with the field that it contains.
 defaultMode Permission bits of the files, 0 to 0777 (decimal 511), 0644 by default. The mode of an item takes
  precedence.
EmptyDirVolumeSource An empty folder that is made when the pod arrives on its node and deleted when it leaves. All
  containers of the pod share it.
 medium "" for the default medium of the node, "Memory" for a memory file system, or "HugePages" with an optional size.
 sizeLimit Largest size of the folder. With the medium "Memory" the sum of the containers' memory limits bounds it as
  well. Unbounded by default.
EphemeralVolumeSource A volume for which a claim is made from a template with the pod, and deleted with it.
 volumeClaimTemplate Template of the claim, which is named POD-VOLUME and owned by the pod. It cannot be changed.
FCVolumeSource A Fibre Channel disk. It is named either by targetWWNs and lun or by wwids.
 targetWWNs World wide names of the Fibre Channel targets.
 lun Number of the logical unit of the target, 0 to 255.
 wwids World wide identifiers of the volume, instead of targetWWNs and lun.
FlexPersistentVolumeSource A volume of a driver program on the nodes, used by a persistent volume. Deprecated: use a
  CSI driver.
 driver Name of the driver, as VENDOR/DRIVER.
 fsType File system to mount. The default is decided by the driver's script.
 secretRef Secret with data that is passed to the driver's scripts. None by default.
 options Further options for the driver's scripts.
FlexVolumeSource =FlexPersistentVolumeSource A volume of a driver program on the nodes, used by a pod. Deprecated: use
  a CSI driver.
FlockerVolumeSource A data set of Flocker. Exactly one of its name and its id is required. Deprecated: nodes no longer
  support it.
 datasetName Name of the data set, kept in the metadata of Flocker. Deprecated: prefer datasetUUID.
 datasetUUID Id of the data set in Flocker.
GCEPersistentDiskVolumeSource A persistent disk of Google Compute Engine. Deprecated: the CSI driver
  pd.csi.storage.gke.io serves such volumes.
 pdName Name of the disk in Google Compute Engine.
 partition Number of the partition to mount, from 1 on. 0 or no value mounts the whole disk.
GitRepoVolumeSource A volume that is filled with a clone of a git repository. Deprecated: clone in an init container
  into an emptyDir instead.
 repository URL of the repository to clone.
 revision Hash of the commit to check out. By default the head of the repository.
 directory Folder that the clone is written to, relative to the volume. "." is the volume itself. It must not contain
  "..".
GlusterfsPersistentVolumeSource A Gluster volume, mounted by a persistent volume. Deprecated: this volume type is no
  longer built into nodes.
 endpoints Name of the Endpoints object with the addresses of the Gluster servers.
 endpointsNamespace Namespace of that Endpoints object. By default it is that of the claim which is bound to the
  volume.
 path Name of the Gluster volume.
GlusterfsVolumeSource =GlusterfsPersistentVolumeSource A Gluster volume, mounted by a pod. Deprecated: this volume type
  is no longer built into nodes.
HostPathVolumeSource A file or folder of the node itself. Pods that use it can reach the node's files; most security
  policies forbid it.
 path Path on the node. It must not contain "..". A symbolic link is followed.
 type Check before mounting: "" for none (default), "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
  "CharDevice" or "BlockDevice".
ISCSIPersistentVolumeSource An iSCSI disk, mounted by a persistent volume. It can be mounted for writing by one node
  only.
 targetPortal Address of the target, with a port unless it is 860 or 3260.
 portals Further addresses of the same target, for several paths to it.
 iqn Qualified name of the target, which begins with "iqn.", "eui." or "naa.".
 lun Number of the logical unit of the target, 0 to 255.
 iscsiInterface Name of the iSCSI interface, "default" (TCP) by default.
 chapAuthDiscovery Whether CHAP authenticates the discovery of targets. It needs secretRef.
 chapAuthSession Whether CHAP authenticates the session. It needs secretRef.
 secretRef Secret with the CHAP names and passwords of initiator and target.
 initiatorName Name of the initiator. With it, a new iSCSI interface is made for the connection.
ISCSIVolumeSource =ISCSIPersistentVolumeSource An iSCSI disk, mounted by a pod. It can be mounted for writing by one
  node only.
ImageVolumeSource A volume that shows the files of an OCI image or artifact, for reading only.
 reference Image or artifact to mount, in the form of the image of a container.
 pullPolicy When the image is pulled: "Always", "Never" or "IfNotPresent". By default "Always" for the tag latest and
  "IfNotPresent" else.
KeyToPath Maps a key of a ConfigMap or Secret to a file.
 key Key whose value is written.
 path Path of the file, relative to the volume. It must be neither absolute nor contain "..".
 mode Permission bits of this file, 0 to 0777 (decimal 511). By default those of the volume.
LocalVolumeSource Storage that is attached to one node: a disk, a partition or a folder. The persistent volume needs a
  node affinity.
 path Path of the device or the folder on the node. It must not contain "..".
 fsType File system to mount if path is a block device. By default one is chosen.
NFSVolumeSource A share of an NFS server. It can be mounted by many nodes at once.
 server Host name or address of the NFS server.
 path Path that the server exports, absolute.
PersistentVolume A piece of storage in the cluster, which lives longer than the pods that use it. Claims are bound to
  it one to one.
 spec Kind, size and access of the storage, and the claim that it is bound to.
 status Phase of the volume, written by the controllers of volumes.
PersistentVolumeClaim A request for storage by a user. It is bound to a persistent volume that fits, or one is made for
  it by its class.
 spec Wanted size, access modes and class of the storage.
 status State of the claim and what the bound volume really has.
PersistentVolumeClaimCondition A condition of a claim, such as that its resize is under way.
 type Name of the condition: "Resizing", "FileSystemResizePending", "ControllerResizeError", "NodeResizeError",
  "ModifyVolumeError" or "ModifyingVolume".
 status "True", "False" or "Unknown".
PersistentVolumeClaimSpec What a claim asks for. Once it is bound only the requested size and the attributes class can
  change.
 accessModes Ways in which the volume must be mountable: "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany" or
  "ReadWriteOncePod". At least one is required.
 selector Labels that the volume must have. A claim with a selector gets no volume made for it.
 resources Requested size as requests.storage. It can grow later if the class allows it, but not shrink.
 volumeName Name of the volume that the claim is bound to. It may be set by the user to ask for a certain volume.
 storageClassName Class that the volume must be of. Absent means the default class, "" means volumes without a class.
 volumeMode "Filesystem" (default) for a mounted file system or "Block" for a raw block device.
 dataSource Where the contents come from: a VolumeSnapshot or another claim in the same namespace. It is kept equal to
  dataSourceRef where both can say it.
 dataSourceRef Object whose contents fill the volume. Unlike dataSource it may be of any kind that has a populator, and
  with a gate in another namespace.
 volumeAttributesClassName Name of the VolumeAttributesClass whose attributes the volume gets. It can be changed after
  the claim is bound.
PersistentVolumeClaimStatus State of a claim, as the controllers of volumes report it.
 phase "Pending" until it is bound, "Bound", or "Lost" if its volume no longer exists.
 accessModes Access modes that the bound volume really has.
 capacity Size that the bound volume really has.
 conditions Current conditions of the claim, one of each type, for example of a resize.
 allocatedResources Size for which a resize was begun, which may be larger than capacity. It counts for quotas together
  with the request.
 allocatedResourceStatuses State of a resize by resource: "ControllerResizeInProgress", "ControllerResizeInfeasible",
  "NodeResizePending", "NodeResizeInProgress" or "NodeResizeInfeasible".
 currentVolumeAttributesClassName Name of the VolumeAttributesClass that the volume has now.
 modifyVolumeStatus State of a change to another VolumeAttributesClass. Absent if none is under way.
PersistentVolumeClaimTemplate Template of a claim that is made for a pod.
 metadata Labels and annotations that the claim gets. Other metadata are refused.
 spec Specification that the claim gets without change.
PersistentVolumeClaimVolumeSource A volume of the pod that is the one bound to a claim in the pod's namespace.
 claimName Name of the claim in the namespace of the pod.
 readOnly Whether all mounts of this volume are for reading only. False by default.
PersistentVolumeSource The storage behind a persistent volume. Exactly one field is set, and it cannot be changed.
 gcePersistentDisk A disk of Google Compute Engine. Deprecated: served by the CSI driver pd.csi.storage.gke.io.
 awsElasticBlockStore A disk of Amazon EBS. Deprecated: served by the CSI driver ebs.csi.aws.com.
 hostPath A folder of the node, for tests on a single node only.
 glusterfs A Gluster volume. Deprecated: no longer supported by nodes.
 nfs A share of an NFS server.
 rbd A Ceph block device. Deprecated: no longer supported by nodes.
 iscsi An iSCSI disk, with the address of its target.
 cinder A disk of OpenStack Cinder. Deprecated: served by the CSI driver cinder.csi.openstack.org.
 cephfs A Ceph file system. Deprecated: no longer supported by nodes.
 fc A Fibre Channel disk that is attached to the node.
 flocker A data set of Flocker. Deprecated: no longer supported by nodes.
 flexVolume A volume of a driver program on the nodes. Deprecated: use a CSI driver.
 azureFile An Azure file share. Deprecated: served by the CSI driver file.csi.azure.com.
 vsphereVolume A vSphere disk. Deprecated: served by the CSI driver csi.vsphere.vmware.com.
 quobyte A Quobyte volume. Deprecated: no longer supported by nodes.
 azureDisk An Azure data disk. Deprecated: served by the CSI driver disk.csi.azure.com.
 photonPersistentDisk A disk of Photon Controller. Deprecated: no longer supported by nodes.
 portworxVolume A Portworx volume. Deprecated: served by the CSI driver pxd.portworx.com.
 scaleIO A ScaleIO volume. Deprecated: no longer supported by nodes.
 local Storage that is attached to one node; it needs nodeAffinity.
 storageos A StorageOS volume. Deprecated: no longer supported by nodes.
 csi Storage of an external driver of the Container Storage Interface.
PersistentVolumeSpec Storage, size and binding of a persistent volume.
 capacity Size of the volume, as the resource "storage". Required.
 accessModes Ways in which the volume can be mounted: "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany" or
  "ReadWriteOncePod". At least one is required.
 claimRef The claim that the volume is bound to. Whoever prepares a volume for a certain claim sets its name and
  namespace.
 persistentVolumeReclaimPolicy What happens when the claim is deleted: "Retain" keeps the volume (default if made by
  hand), "Delete" deletes the storage (default if made by a class), "Recycle" wipes it (deprecated).
 storageClassName Class that the volume belongs to. "" means none.
 mountOptions Options for the mount, such as "ro" or "soft". They are not checked; a wrong one makes mounts fail.
 volumeMode "Filesystem" (default) for a mounted file system or "Block" for a raw block device.
 nodeAffinity Nodes that can reach the volume. Pods that use it are scheduled to them. Required for local volumes.
 volumeAttributesClassName Name of the VolumeAttributesClass that the volume has.
PersistentVolumeStatus State of a persistent volume, written by the controllers of volumes.
 phase "Pending", "Available" for claims, "Bound" to one, "Released" by a deleted claim, or "Failed".
 lastPhaseTransitionTime When the phase last changed from one value to another.
PhotonPersistentDiskVolumeSource A disk of Photon Controller. Deprecated: no longer supported by nodes.
 pdID Id of the disk in Photon Controller.
PortworxVolumeSource A Portworx volume. Deprecated: the CSI driver pxd.portworx.com serves such volumes.
 volumeID Id of the volume in Portworx.
ProjectedVolumeSource A volume that combines several sources in one folder.
 sources Sources whose files are combined. Two that write the same path are refused.
 defaultMode Permission bits of the files, 0 to 0777 (decimal 511), 0644 by default. Modes of items take precedence.
QuobyteVolumeSource A Quobyte volume. Deprecated: no longer supported by nodes.
 registry Addresses of Quobyte registries, as HOST:PORT separated by commas.
 volume Name of a Quobyte volume that exists already.
 user User that the volume is mounted as, that of the node's service by default.
 group Group that the volume is mounted as. None by default.
 tenant Tenant that owns the volume in Quobyte; set by volumes that were made by a class.
RBDPersistentVolumeSource A Ceph block device, used by a persistent volume. Deprecated: no longer supported by nodes.
 monitors Addresses of the Ceph monitors. At least one is required.
 image Name of the RADOS image that is mapped.
 pool Name of the RADOS pool, "rbd" by default.
 user Name of the RADOS user, "admin" by default.
 keyring Path on the node of the user's key ring, "/etc/ceph/keyring" by default.
 secretRef Secret with the key of the user. It takes precedence over keyring.
RBDVolumeSource =RBDPersistentVolumeSource A Ceph block device, used by a pod. Deprecated: no longer supported by
  nodes.
ScaleIOPersistentVolumeSource A ScaleIO volume, used by a persistent volume. Deprecated: no longer supported by nodes.
 gateway Address of the gateway of the ScaleIO interface.
 system Name of the storage system in ScaleIO.
 secretRef Secret with user name and password for the gateway. Required.
 sslEnabled Whether the connection to the gateway uses TLS. False by default.
 protectionDomain Name of the protection domain of the storage.
 storagePool Name of the storage pool in the protection domain.
 storageMode "ThickProvisioned" or "ThinProvisioned" (default).
 volumeName Name of a volume that exists in ScaleIO already.
 fsType File system to mount, "xfs" by default.
ScaleIOVolumeSource =ScaleIOPersistentVolumeSource A ScaleIO volume, used by a pod. Deprecated: no longer supported by
  nodes.
SecretProjection Projects the keys of a Secret into files of a projected volume.
 items Keys to project and the paths of their files. Without items every key becomes a file with its name. A listed key
  that does not exist is an error unless optional is true.
 optional Whether the Secret and its listed keys may be missing. False by default.
SecretVolumeSource A volume whose files are the keys of a Secret. Nodes keep it in memory.
 secretName Name of the Secret in the pod's namespace.
 items Keys that become files, and their paths. Without items every key becomes a file with its name. A listed key that
  does not exist is an error unless optional is true.
 defaultMode Permission bits of the files, 0 to 0777 (decimal 511), 0644 by default. The mode of an item takes
  precedence.
 optional Whether the Secret and its listed keys may be missing. False by default.
ServiceAccountTokenProjection Projects a token of the pod's service account, which nodes renew before it expires.
 audience Audience that the token is for. Receivers must refuse tokens for others. By default that of the API server.
 expirationSeconds Life of the token in seconds, at least 600, 3600 by default. It is renewed after 80 % of it.
 path Path of the file with the token, relative to the volume.
StorageOSPersistentVolumeSource A StorageOS volume, used by a persistent volume. Deprecated: no longer supported by
  nodes.
 volumeName Name of the volume, unique in its StorageOS namespace.
 volumeNamespace Namespace of the volume in StorageOS. By default it is the namespace of the pod.
 secretRef Secret with credentials for StorageOS. By default built-in credentials are tried.
StorageOSVolumeSource =StorageOSPersistentVolumeSource A StorageOS volume, used by a pod. Deprecated: no longer
  supported by nodes.
TypedLocalObjectReference Names an object of any kind in the same namespace.
 apiGroup API group of the object. Absent means the core group.
 kind Kind of the object, such as "VolumeSnapshot".
 name Name of the object in the same namespace.
TypedObjectReference Names an object of any kind, also in another namespace.
 apiGroup API group of the object. Absent means the core group.
 kind Kind of the object, such as "VolumeSnapshot".
 name Name of the object that is referred to.
 namespace Namespace of the object. Another one than the claim's own needs a ReferenceGrant there and the gate
  CrossNamespaceVolumeDataSource.
Volume A volume of a pod that its containers can mount by name. It has exactly one source; without any it is an
  emptyDir.
 name Name of the volume, a DNS label that is unique in the pod.
VolumeDevice Gives a container a raw block device.
 name Name of a claim among the pod's volumes whose mode is "Block".
 devicePath Path of the device in the container.
VolumeMount Mounts a volume of the pod into a container.
 name Name of the volume in spec.volumes.
 readOnly Whether the mount is for reading only. False by default.
 recursiveReadOnly For a mount with readOnly: whether mounts below it are for reading only as well: "Disabled"
  (default), "IfPossible" or "Enabled".
 mountPath Path in the container. It must not contain ":".
 subPath Path in the volume that is mounted instead of its root, relative and without "..".
 mountPropagation Whether mounts below are passed on: "None" (default), "HostToContainer", or "Bidirectional" for
  privileged containers.
 subPathExpr As subPath, with references $(NAME) to the environment of the container. It excludes subPath.
VolumeMountStatus A mount of a container as it really is.
 name Name of the mounted volume of the pod.
 mountPath Path in the container where it is mounted.
 readOnly Whether the mount is for reading only.
 recursiveReadOnly "Disabled", or "Enabled" if mounts below it are for reading only as well.
VolumeNodeAffinity Nodes that can reach a persistent volume.
 required Terms of which a node must satisfy at least one.
VolumeProjection One source of a projected volume. Exactly one field is set.
 secret Keys of a Secret that become files.
 downwardAPI Fields of the pod that become files.
 configMap Keys of a ConfigMap that become files.
 serviceAccountToken A token of the pod's service account.
 clusterTrustBundle Certificates of ClusterTrustBundles, joined in one file.
VolumeResourceRequirements Size that a claim asks for.
 limits Largest size that is acceptable, by resource.
 requests Smallest size that is acceptable, by resource: "storage" is required.
VolumeSource =PersistentVolumeSource The source of a volume of a pod. Exactly one field is set.
 hostPath A file or folder of the node itself. Most security policies forbid it.
 emptyDir An empty folder that lives as long as the pod.
 gitRepo A clone of a git repository. Deprecated: use an init container with an emptyDir.
 secret Files with the keys of a Secret of the namespace.
 persistentVolumeClaim The volume that is bound to a claim of the namespace.
 downwardAPI Files with fields of the pod itself.
 configMap Files with the keys of a ConfigMap of the namespace.
 projected Several sources that are combined in one folder.
 csi An inline volume that a CSI driver makes for the pod.
 ephemeral A volume whose claim is made with the pod and deleted with it.
 image The files of an OCI image or artifact, for reading only.
VsphereVirtualDiskVolumeSource A disk of vSphere. Deprecated: the CSI driver csi.vsphere.vmware.com serves such
  volumes.
 volumePath Path of the disk file in its data store.
 storagePolicyName Name of the storage policy of the disk.
 storagePolicyID Id of the storage policy that belongs to the name.
ModifyVolumeStatus State of a change of a claim's VolumeAttributesClass.
 targetVolumeAttributesClassName Name of the class that the volume is being changed to.
 status "Pending" if the class is not there yet, "InProgress", or "Infeasible" if the driver refused it.
`,
};
