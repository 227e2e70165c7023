/** Descriptions of the remaining groups, by package; README.md explains the form. */
export const PLATFORM_DESCRIPTIONS = {
  'apidiscovery.v2': `
APIGroupDiscovery A group with its versions and resources, as aggregated discovery shows it.
 versions Versions of the group, in order of preference.
APIResourceDiscovery A resource, as aggregated discovery shows it.
 resource Plural name of the resource, as in paths.
 responseKind Kind of the objects that the resource returns.
 scope "Namespaced" or "Cluster".
 singularResource Singular name, which clients accept in place of the plural.
 verbs Verbs that the resource supports.
 shortNames Short names that clients accept, such as "po".
 categories Categories that the resource is part of, such as "all".
 subresources Subresources of the resource, such as "status".
APISubresourceDiscovery A subresource, as aggregated discovery shows it.
 subresource Name of the subresource in paths.
 responseKind Kind of the objects that the subresource returns.
 acceptedTypes Kinds that the subresource accepts, if they differ from the one that it returns.
 verbs Verbs that the subresource supports.
APIVersionDiscovery A version of a group with its resources.
 version Name of the version, such as "v1".
 resources Resources of the version.
 freshness "Current", or "Stale" if the server behind the group could not be asked.
`,
  'apiextensions.v1': `
ConversionRequest What the server asks a conversion webhook.
 uid Id of this question. The answer repeats it.
 desiredAPIVersion Group and version that the objects are to be converted to.
 objects Objects to convert, of one or several versions.
ConversionResponse The answer of a conversion webhook.
 uid Id of the question that is answered.
 convertedObjects The converted objects, in the order of the question. Only labels and annotations of the metadata may
  differ.
 result "Success", or a failure with a message. A failure leaves all objects unconverted.
ConversionReview A question to a conversion webhook, and its answer.
 request The question. Set by the server.
 response The answer. Set by the webhook.
CustomResourceColumnDefinition A column of tables of a custom kind.
 name Heading of the column for people.
 type Type of the cells: "string", "integer", "number", "boolean" or "date".
 format Format of the cells, as in OpenAPI, such as "date-time". None by default.
 description Explanation of the column for people.
 priority 0 for columns that are always shown (default); higher numbers are left out where there is less room.
 jsonPath Path of the value in the object, such as ".spec.replicas".
CustomResourceConversion How objects are converted between versions.
 strategy "None" changes apiVersion only (default), "Webhook" calls a webhook.
 webhook The webhook that converts. Required for "Webhook" and forbidden for "None".
CustomResourceDefinition Defines a kind of its own with names, versions and schemas. The server serves it at once.
 spec Names, scope, versions and conversion of the kind.
 status Whether the kind is served, and its names and versions.
CustomResourceDefinitionCondition A condition of a definition.
 type "Established", "NamesAccepted", "NonStructuralSchema", "Terminating", or one about the approval of
  protected groups.
 status "True", "False" or "Unknown".
CustomResourceDefinitionNames Names of a custom kind. None may be in use for another kind of the group.
 plural Plural name in lower case, as in paths. The definition is named PLURAL.GROUP. It cannot be changed.
 singular Singular name in lower case. By default the kind in lower case.
 shortNames Short names in lower case, which clients accept.
 kind Name of the kind in CamelCase, singular.
 listKind Name of the kind of lists. By default the kind with "List" after it.
 categories Categories that the resource is part of, such as "all".
CustomResourceDefinitionSpec Names, scope, versions and conversion of a custom kind.
 group API group of the kind, a domain name. It cannot be changed.
 names Names of the kind and its resource.
 scope "Namespaced" or "Cluster". It cannot be changed.
 versions Versions with their schemas. Exactly one is stored.
 conversion How objects are converted between versions. By default only apiVersion changes.
 preserveUnknownFields Must be false. true is allowed in objects of old definitions only.
CustomResourceDefinitionStatus State of a definition: whether its kind is served.
 conditions Conditions of the definition, one of each type.
 acceptedNames Names that the kind is served under. They differ from spec.names while there is a conflict.
 storedVersions Versions that objects were ever stored in. A version in it cannot be removed from spec.versions.
CustomResourceDefinitionVersion A version of a custom kind.
 name Name of the version, such as "v1" or "v1beta1". It orders versions in discovery.
 served Whether the version is served.
 storage Whether objects are stored in this version. True for exactly one.
 deprecated Whether use of the version causes a warning. False by default.
 deprecationWarning Text of the warning, instead of the default one. Only with deprecated.
 schema Schema that objects are validated, pruned and defaulted with. Required.
 subresources Subresources that the version has. None by default.
 additionalPrinterColumns Columns of tables. By default the age of the object.
 selectableFields Fields that field selectors can use, at most 8, besides name and namespace.
CustomResourceSubresourceScale How the subresource scale finds its values.
 specReplicasPath Path of the wanted number, below ".spec", such as ".spec.replicas".
 statusReplicasPath Path of the actual number, below ".status", such as ".status.replicas".
 labelSelectorPath Path of the label selector as text, below ".spec" or ".status". Autoscalers need it.
CustomResourceSubresourceStatus The subresource status: it writes .status alone, and other writes leave .status as it
  is.
CustomResourceSubresources Subresources of a version.
 status Turns the subresource status on, for example as {}.
 scale Turns the subresource scale on, with the paths of its values.
CustomResourceValidation The schema of one version of a custom kind.
 openAPIV3Schema The schema, in the structural form of OpenAPI v3.
ExternalDocumentation A link to further documentation.
 description Description of what the link leads to.
 url URL of the documentation.
JSONSchemaProps A schema of JSON, in the part of the standard that definitions support.
 id Id of the schema. It is not allowed in definitions.
 $schema URI of the version of JSON Schema.
 $ref Reference to another schema. It is not allowed in definitions.
 description Description of the value, shown by clients.
 type "object", "array", "string", "integer", "number" or "boolean".
 format Format of the value, such as "date-time" or "int32". Unknown formats are ignored.
 title Short title of the value.
 default Value that is filled in where the field is absent. It must be valid itself.
 maximum Largest number that is allowed; with exclusiveMaximum it must be smaller than this.
 exclusiveMaximum Whether maximum itself is not allowed.
 minimum Smallest number that is allowed; with exclusiveMinimum it must be larger than this.
 exclusiveMinimum Whether minimum itself is not allowed.
 maxLength Most characters of a string, counted as Unicode code points.
 minLength Fewest characters of a string, counted as Unicode code points.
 pattern Regular expression that a string must match somewhere.
 maxItems Most elements of an array.
 minItems Fewest elements of an array.
 uniqueItems Must be false: use the list type "set" instead.
 multipleOf Number that the value must be a multiple of.
 enum Values that are allowed, all others are not.
 maxProperties Most members of an object.
 minProperties Fewest members of an object.
 required Names of members that an object must have.
 items Schema of the elements of an array.
 allOf Schemas that the value must match, all of them.
 oneOf Schemas of which the value must match exactly one.
 anyOf Schemas of which the value must match at least one.
 not Schema that the value must not match.
 properties Schemas of the members of an object, by name.
 additionalProperties Schema of the members that properties does not name. It excludes properties.
 patternProperties Schemas of members by expressions for their names. It is not allowed in definitions.
 dependencies What a member needs besides itself. It is not allowed in definitions.
 additionalItems Schema of further elements. It is not allowed in definitions.
 definitions Named schemas. They are not allowed in definitions of kinds.
 externalDocs Link to further documentation of the value.
 example Example of the value, for readers only.
 nullable Whether null is allowed. Without it null is dropped or an error. False by default.
 x-kubernetes-preserve-unknown-fields true keeps members that no schema names. It cannot be false.
 x-kubernetes-embedded-resource Whether the value is a whole object with apiVersion, kind and metadata, which are
  validated.
 x-kubernetes-int-or-string Whether the value is an integer or a string. type must then be absent.
 x-kubernetes-list-map-keys Members that tell the elements of a list of the type "map" apart. Each must be required or
  have a default.
 x-kubernetes-list-type How a list is merged: "atomic" (default) as a whole, "set" by values, or "map" by keys.
 x-kubernetes-map-type How an object is merged: "granular" (default) by members, or "atomic" as a whole.
 x-kubernetes-validations Rules in CEL that the value must satisfy.
JSONSchemaPropsOrArray A schema, or an array of schemas. Definitions allow one schema only.
 Schema The one schema of all elements.
 JSONSchemas Schemas of the elements in order.
JSONSchemaPropsOrBool A schema, or a bool that stands for everything or nothing.
 Allows Whether anything is allowed if there is no schema.
 Schema Schema that the values must match.
JSONSchemaPropsOrStringArray A schema, or names of members.
 Schema Schema that the value must match.
 Property Names of members that must be there.
SelectableField A field that field selectors can use.
 jsonPath Path of a string, integer or boolean field, such as ".spec.color".
ServiceReference Names a Service that is called.
 namespace Namespace of the Service. Required.
 name Name of the Service. Required.
 path Path of the URL that is called. By default none.
 port Port of the Service, 1 to 65535, 443 by default.
ValidationRule A rule in CEL for a value.
 rule CEL expression that must be true. It sees the value as self, and the former one as oldSelf in updates.
 message Message of a violation, one line. Required if the rule has several lines.
 messageExpression CEL expression whose string is the message of a violation. message is used where it fails.
 reason Reason of the cause: "FieldValueInvalid" (default), "FieldValueForbidden", "FieldValueRequired" or
  "FieldValueDuplicate".
 fieldPath Path below the value that the violation is reported at, such as ".minReplicas".
 optionalOldSelf Whether the rule is evaluated without a former value too; oldSelf is then optional.
WebhookClientConfig How a conversion webhook is reached. Exactly one of url and service is set.
 url URL of the webhook, with https. User, query and fragment are not allowed.
 service Service of the cluster that is called, at port 443 by default.
 caBundle Certificates in PEM that the webhook's certificate is verified with. By default those of the system.
WebhookConversion The webhook that converts objects.
 clientConfig How the webhook is reached. Required.
 conversionReviewVersions Versions of ConversionReview that the webhook understands, in order. The first that the
  server knows is sent.
`,
  'apiregistration.v1': `
APIService Registers a version of a group: served here, or by another server.
 spec Group, version and the server that serves it.
 status Whether the version is available.
APIServiceCondition A condition of a registered version.
 type Name of the condition: "Available".
 status "True", "False" or "Unknown".
APIServiceSpec Group, version and server of a registered version.
 service Service of the server. Absent means that this server serves the version itself.
 group Name of the API group, "" for the core group.
 version Name of the version, such as "v1".
 insecureSkipTLSVerify Whether the server's certificate is not verified. Not recommended; it excludes caBundle.
 caBundle Certificates in PEM that the server's certificate is verified with. By default those of the system.
 groupPriorityMinimum Priority of the group in discovery, above 0, at most 20000. Higher comes first.
 versionPriority Priority of the version in its group, above 0, at most 1000. Higher comes first.
APIServiceStatus State of a registered version.
 conditions Conditions of the version, one of each type.
ServiceReference Names a Service that requests are passed on to.
 namespace Namespace of the Service.
 name Name of the Service in its namespace.
 port Port of the Service, 1 to 65535, 443 by default.
`,
  'apiserverinternal.v1alpha1': `
ServerStorageVersion The version in which one server stores a resource.
 apiServerID Id of the server, unique among all.
 encodingVersion Version in which the server stores objects.
 decodableVersions Versions that the server can read.
 servedVersions Versions that the server serves.
StorageVersion The versions in which the servers store a resource.
 spec Empty: the servers alone write the status.
 status Versions of each server and their common one.
StorageVersionCondition A condition of a storage version.
 type Name of the condition: "AllEncodingVersionsEqual".
 status "True", "False" or "Unknown".
StorageVersionSpec Empty. It exists because every object has a specification.
StorageVersionStatus Versions that the servers store and serve.
 storageVersions Versions of each server, one entry each.
 commonEncodingVersion Version in which all servers store. Absent if they differ.
 conditions Conditions of the storage version, one of each type.
`,
  'events.v1': `
Event Report of something that happened to an object, for people. Events are deleted after some time, one hour by
  default.
 eventTime When the event was first observed, with microseconds. Required.
 series Further occurrences of the event. Absent if it is a single one.
 reportingController Name of the controller that reports the event, such as "example.com/controller". Required for new
  events.
 reportingInstance Id of the instance of the controller in reportingController, at most 128 characters. Required for new
  events.
 action Action that was taken or failed, at most 128 characters. Required for new events.
 reason Short, machine-readable cause, at most 128 characters. Required for new events.
 regarding Object that the event is about, usually the one that the controller manages.
 related Second object that is involved, for example the target of the action.
 note Description for people, at most 1 KiB.
 type "Normal" or "Warning". Required for new events.
 deprecatedSource Component that reports the event, in the older form. Only for compatibility.
 deprecatedFirstTimestamp When the event was first recorded, in the older form. Only for compatibility.
 deprecatedLastTimestamp When the event last occurred, in the older form. Only for compatibility.
 deprecatedCount How often the event has occurred, in the older form. Only for compatibility.
EventSeries Repeated occurrences of an event.
 count How often the event has occurred in this series so far.
 lastObservedTime When the last occurrence was seen.
`,
  'node.v1': `
Overhead Resources that a runtime itself needs for a pod.
 podFixed Fixed amount for each pod, by resource.
RuntimeClass A runtime for containers that pods can choose.
 handler Name of the handler in the configuration of the nodes, a DNS label. It cannot be changed.
 overhead Resources that each pod of this class needs in addition.
 scheduling Nodes that support the class. By default all are assumed to.
Scheduling Nodes that support a runtime class.
 nodeSelector Labels that a node must have. They are joined with those of the pod.
 tolerations Tolerations that pods of the class get in addition.
`,
  'resource.v1beta1': `
AllocatedDeviceStatus State of a device that a claim got, as its driver reports it.
 driver Name of the driver, a domain name of at most 63 characters.
 pool Name of the pool that the device is from.
 device Name of the device in its pool.
 conditions Conditions of the device, one of each type.
 data Further data of the driver, at most 10 KiB.
 networkData State of the device as a network interface.
AllocationResult Devices that a claim got.
 devices The devices and their settings.
 nodeSelector Nodes that can use the devices. Absent means all.
BasicDevice A device with attributes and capacities.
 attributes Attributes that selectors look at, by name. At most 32 together with capacities.
 capacity Capacities that selectors look at, by name.
CELDeviceSelector Selects devices by an expression.
 expression CEL expression over device that must return a bool.
Device A device of a driver that claims can get.
 name Name of the device, a DNS label that is unique in its pool.
 basic Attributes and capacities of the device.
DeviceAllocationConfiguration Settings of devices that a claim got.
 source "FromClass" or "FromClaim".
 requests Requests that the settings are for. Empty means all.
DeviceAllocationResult Devices that a claim got, with their settings.
 results The devices that were given, by request.
 config Settings of the devices, first those of classes.
DeviceAttribute Value of an attribute. Exactly one field is set.
 int The value, if it is an integer.
 bool The value as true or false.
 string The value as a string of at most 64 characters.
 version The value as a semantic version of at most 64 characters.
DeviceCapacity A capacity of a device, such as its memory.
 value Amount of the capacity as a quantity.
DeviceClaim Devices that are asked for.
 requests Single requests, at most 32. All must be met.
 constraints Conditions across requests, at most 32.
 config Settings for drivers, at most 32.
DeviceClaimConfiguration Settings that a claim gives to drivers.
 requests Requests that the settings are for. Empty means all.
DeviceClass A class of devices, with selectors and settings, that claims refer to.
 spec Selectors and settings of the class.
DeviceClassConfiguration Settings that a class gives to drivers.
DeviceClassSpec Selectors and settings of a class.
 selectors Conditions that a device must satisfy, all of them.
 config Settings for the drivers of the devices.
DeviceConfiguration Settings of devices. Exactly one field is set.
 opaque Settings that only the driver understands.
DeviceConstraint A condition across requests.
 requests Requests that the condition is for. Empty means all.
 matchAttribute Attribute, with its domain, whose value must be equal for all devices.
DeviceRequest A request for devices of a class.
 name Name of the request, a DNS label that is unique in the claim.
 deviceClassName Class of the devices. Required.
 selectors Conditions that a device must satisfy besides those of the class.
 allocationMode "ExactCount" (default) for count devices, or "All" for all that match.
 count Number of devices, above 0, 1 by default. Only with "ExactCount".
 adminAccess Whether the devices are for administration: they may be in use by others. False by default.
DeviceRequestAllocationResult A device that a request got.
 request Name of the request in the claim.
 driver Name of the driver, a domain name.
 pool Name of the pool that the device is from.
 device Name of the device in its pool.
 adminAccess Whether the device is used for administration.
DeviceSelector Selects devices. Exactly one field is set.
 cel An expression that the device must satisfy.
NetworkDeviceData State of a device as a network interface.
 interfaceName Name of the interface, at most 256 characters.
 ips Addresses of the interface with their ranges, such as "192.0.2.5/24".
 hardwareAddress Hardware address of the interface, at most 128 characters.
OpaqueDeviceConfiguration Settings that only a driver understands.
 driver Name of the driver, a domain name.
 parameters Settings in the form of the driver, usually with apiVersion and kind.
ResourceClaim A claim for devices that pods can use.
 spec Devices that are asked for. It cannot be changed.
 status Devices that were given, and who uses them.
ResourceClaimConsumerReference Who uses a claim, usually a pod.
 apiGroup API group of the consumer. Empty means the core group.
 resource Plural name of the consumer's resource, such as "pods".
 name Name of the consumer in the namespace of the claim.
 uid Uid of the consumer, so that no later one is meant.
ResourceClaimSpec Devices that are asked for.
 devices Requests, constraints and settings.
ResourceClaimStatus State of a claim: devices and users.
 allocation Devices that were given. Absent until then.
 reservedFor Who may use the claim, at most 32. It cannot be deallocated while somebody does.
 devices State of the given devices, as their drivers report it.
ResourceClaimTemplate A template for claims that are made with pods.
 spec Metadata and specification of the claims. It cannot be changed.
ResourceClaimTemplateSpec Metadata and specification of the claims that are made.
 metadata Labels and annotations that the claims get. Other metadata are refused.
 spec Specification that the claims get without change.
ResourcePool A pool of devices of a driver, which may have several slices.
 name Name of the pool; often that of the node.
 generation Number that rises with each change of the pool. Slices of lower numbers are out of date.
 resourceSliceCount Number of slices of this generation, above 0. The pool is complete with all of them.
ResourceSlice A part of a driver's pool of devices.
 spec Driver, pool, nodes and devices.
ResourceSliceSpec Driver, pool, nodes and devices of a slice. Exactly one of nodeName, nodeSelector and allNodes is
  set.
 driver Name of the driver, a domain name. It cannot be changed.
 pool Pool that the slice is a part of.
 nodeName Node that the devices belong to. It cannot be changed.
 nodeSelector Nodes that can use the devices, one term.
 allNodes Whether all nodes can use the devices.
 devices Devices of the slice, at most 128.
`,
  'scheduling.v1': `
PriorityClass A name for a priority of pods.
 value Priority that pods of the class get. Higher is more important; above 1000000000 is for the system. It cannot be
  changed.
 globalDefault Whether pods without a class get this one. Only one class should have it. False by default.
 description When the class should be used, for people.
 preemptionPolicy "PreemptLowerPriority" (default) lets pods displace others, "Never" does not. It cannot be changed.
`,
  'storage.v1': `
CSIDriver What the cluster must know about a CSI driver. It is named as the driver.
 spec Abilities and needs of the driver.
CSIDriverSpec Abilities and needs of a CSI driver.
 attachRequired Whether volumes must be attached to nodes before they are mounted. True by default. It cannot be
  changed.
 podInfoOnMount Whether the driver gets name, namespace and more of the pod when it mounts. False by default.
 volumeLifecycleModes "Persistent" (default) for claims, "Ephemeral" for inline volumes, or both. It cannot be changed.
 storageCapacity Whether the scheduler looks at CSIStorageCapacity objects of the driver. False by default.
 fsGroupPolicy Whether owners of volumes are changed for fsGroup: "ReadWriteOnceWithFSType" (default), "File" or
  "None".
 tokenRequests Tokens of the pod's service account that the driver gets when it mounts.
 requiresRepublish Whether the driver is asked again and again to publish a mounted volume. False by default.
 seLinuxMount Whether the driver can mount with a SELinux label. False by default.
CSINode The CSI drivers of a node. It is named as the node.
 spec CSI drivers that run on the node.
CSINodeDriver A CSI driver on a node, with its limits.
 name Name of the driver, as its CSIDriver has it.
 nodeID Id of the node as the driver knows it.
 topologyKeys Labels of the node that the driver uses for topology.
 allocatable Volumes that the driver can have on the node.
CSINodeSpec CSI drivers that run on a node.
 drivers Drivers on the node, each once.
CSIStorageCapacity Free storage of a class in a part of the cluster, for the scheduler.
 nodeTopology Nodes that can reach the storage. An empty selector means all, an absent one none. It cannot be changed.
 storageClassName Class that the storage is of. It cannot be changed.
 capacity Free storage. Absent means that it is not known.
 maximumVolumeSize Largest volume that can be made. Absent means that capacity is the bound.
StorageClass A class of storage: who makes volumes, with what parameters. Only some fields can be changed.
 provisioner Name of the provisioner that makes volumes, usually a CSI driver.
 parameters Parameters for the provisioner, at most 512.
 reclaimPolicy What happens to a volume when its claim is deleted: "Delete" (default) or "Retain".
 mountOptions Options for mounts of the volumes. They are not checked.
 allowVolumeExpansion Whether claims of the class may grow. False by default.
 volumeBindingMode "Immediate" (default), or "WaitForFirstConsumer" to wait for the first pod.
 allowedTopologies Where volumes may be made. Empty means everywhere.
TokenRequest A token that a CSI driver gets.
 audience Audience that the token is for. Empty means that of the API server.
 expirationSeconds Life of the token in seconds, at least 600, 3600 by default.
VolumeAttachment Says that a volume is to be attached to a node.
 spec Volume, node and driver. It cannot be changed.
 status Whether it is attached, as the driver reports it.
VolumeAttachmentSource The volume to attach. Exactly one field is set.
 persistentVolumeName Name of the persistent volume.
 inlineVolumeSpec Specification of an inline volume that was moved to CSI.
VolumeAttachmentSpec Volume, node and driver of an attachment.
 attacher Name of the driver that attaches.
 source The volume that is to be attached.
 nodeName Node that the volume is attached to.
VolumeAttachmentStatus State of an attachment, as its driver reports it.
 attached Whether the volume is attached.
 attachmentMetadata Data of the driver that later calls need.
 attachError Last error of attaching, if there was one.
 detachError Last error of detaching, if there was one.
VolumeError An error of a volume operation.
 time When the error occurred last.
 message Text of the error, without secrets.
VolumeNodeResources Volumes that a driver can have on a node.
 count Most volumes on the node. Absent means no bound.
`,
  'storage.v1beta1': `
VolumeAttributesClass A class of attributes that can be given to volumes later, such as speed.
 driverName Name of the CSI driver. It cannot be changed.
 parameters Attributes for the driver, at most 512. They cannot be changed.
`,
  'storagemigration.v1alpha1': `
GroupVersionResource A resource in a version of a group.
 group Name of the API group. Empty means the core group.
 version Name of the version, such as "v1".
 resource Plural name of the resource.
MigrationCondition A condition of a migration.
 type "Running", "Succeeded" or "Failed".
 status "True", "False" or "Unknown".
StorageVersionMigration Rewrites all objects of a resource in the present storage version.
 spec Resource that is migrated. It cannot be changed.
 status State of the migration and its end.
StorageVersionMigrationList A list of migrations of stored objects.
 items List of returned migrations.
StorageVersionMigrationSpec Resource that is migrated.
 resource Resource whose objects are rewritten.
 continueToken Page at which the migration continues. Empty for the first.
StorageVersionMigrationStatus State of a migration and its end.
 conditions Conditions of the migration, one of each type.
 resourceVersion Version of the list that the migration works on. Objects that are newer need no rewrite.
`,
  version: `
Info Release and build of the server.
 major Major number of the version of the API.
 minor Minor number of the version of the API.
 gitVersion Version of the API as a whole, such as "v1.32.0".
 gitCommit Commit that the program was built from.
 gitTreeState "clean" if it was built from exactly that commit, else "dirty".
 buildDate When the program was built.
 goVersion Version of the language runtime.
 compiler Name of the compiler or engine.
 platform Operating system and architecture, as SYSTEM/ARCHITECTURE.
`,
};
