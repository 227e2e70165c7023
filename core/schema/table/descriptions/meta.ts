/** Descriptions of the metadata and options that all kinds have, by package; README.md explains the form. */
export const META_DESCRIPTIONS = {
  'meta.v1': `
APIGroup Name and versions of an API group, as discovery shows them.
 name Name of the group, such as "apps".
 versions Versions that the server serves, in order of preference.
 preferredVersion Version that clients should use if they know it.
 serverAddressByClientCIDRs Addresses of the server for clients of certain networks. The first that matches is used.
APIGroupList All API groups of the server except the core group.
 groups Groups with their versions, in order of preference.
APIResource A resource or subresource of a group version, as discovery shows it.
 name Plural name as in paths; RESOURCE/SUBRESOURCE for a subresource.
 singularName Singular name, which clients accept in place of the plural.
 namespaced Whether objects are in namespaces. False for objects of the cluster.
 group Group of the body, if it is not that of the list of resources.
 version Version of the body, if it is not that of the list of resources.
 kind Kind of the objects, such as "Pod".
 verbs Verbs that the resource supports: get, list, watch, create, update, patch, delete, deletecollection and others.
 shortNames Short names that clients accept, such as "po".
 categories Categories that the resource is part of, such as "all".
 storageVersionHash Hash of the version in which objects are stored. Equal hashes mean the same version; nothing else
  follows from it.
APIResourceList The resources of a group version.
 groupVersion Group and version that the resources belong to.
 resources Resources and subresources, each with its verbs.
APIVersions The versions of the core group.
 versions Versions that the server serves.
 serverAddressByClientCIDRs Addresses of the server for clients of certain networks. The first that matches is used.
ApplyOptions Parameters of a server-side apply.
 dryRun "All" runs every step but stores nothing. No other value is valid.
 force Whether fields of other managers are taken over in place of a conflict.
 fieldManager Name of the manager that owns the applied fields. Required for apply.
Condition One aspect of the state of an object.
 type Name of the condition in CamelCase, or with a domain before it.
 status "True", "False" or "Unknown".
 observedGeneration Generation of the object that the condition is about.
 reason Machine-readable cause of the last change, in CamelCase. It must not be empty.
 message Explanation for people. It may be empty.
CreateOptions Query parameters of a create.
 dryRun "All" runs every step but stores nothing. No other value is valid.
 fieldManager Name of the manager in managedFields: printable, at most 128 characters. By default the first part of the
  User-Agent.
 fieldValidation What happens to unknown and duplicate fields: "Strict" refuses, "Warn" (default) warns, "Ignore" drops
  them.
DeleteOptions Options of a delete, in the query or the body.
 gracePeriodSeconds Seconds until the object is deleted. 0 means at once. By default what the kind says.
 preconditions Uid and version that the object must have; 409 otherwise.
 orphanDependents Whether dependents are kept. Deprecated: use propagationPolicy. Only one of both may be set.
 propagationPolicy "Orphan" keeps dependents, "Background" deletes them afterwards, "Foreground" before. The default
  depends on kind and finalizers.
 dryRun "All" runs every step but stores nothing. No other value is valid.
 ignoreStoreReadErrorWithClusterBreakingPotential Whether an object is deleted although it cannot be read from the
  store. Finalizers and preconditions are then not considered, which can break the cluster.
FieldSelectorRequirement A condition on a field, in authorization.
 key Path of the field, as in a field selector.
 operator "In", "NotIn", "Exists" or "DoesNotExist".
 values At least one value for "In" and "NotIn", none for "Exists" and "DoesNotExist".
GetOptions Query parameters of a request for one object.
 resourceVersion The answer must not be older than this version. Absent means the most recent one, "0" any.
GroupKind A kind without a version.
 group Name of the API group, "" for the core group.
 kind Name of the kind, such as "Deployment".
GroupResource A resource without a version.
 group Name of the API group, "" for the core group.
 resource Plural name of the resource.
GroupVersion A version of an API group, in two parts.
 group Name of the API group, "" for the core group.
 version Name of the version, such as "v1".
GroupVersionForDiscovery A version of a group, in both forms.
 groupVersion Group and version as GROUP/VERSION.
 version The version alone, such as "v1".
GroupVersionKind A kind in a version of a group.
 group Name of the API group, "" for the core group.
 version Name of the version, such as "v1".
 kind Name of the kind, such as "Deployment".
GroupVersionResource A resource in a version of a group.
 group Name of the API group, "" for the core group.
 version Name of the version, such as "v1".
 resource Plural name of the resource.
LabelSelector Selects objects by their labels. All conditions must hold; an empty selector selects all objects, an
  absent one none.
 matchLabels Labels that the object must have with these values.
 matchExpressions Conditions on labels, joined by "and".
LabelSelectorRequirement A condition that labels must satisfy.
 key Label key that the condition is about.
 operator "In", "NotIn", "Exists" or "DoesNotExist".
 values At least one value for "In" and "NotIn", none for "Exists" and "DoesNotExist".
List A list of objects, which may be of different kinds.
 metadata Resource version and paging of the list.
 items List of returned objects, each with its own kind and version.
ListMeta Resource version and paging of a list.
 selfLink Path of the list. Deprecated: the server leaves it out.
 resourceVersion Version of the state that the list shows. A watch from it misses nothing.
 continue Token for the next page. Absent on the last one. It is valid for some minutes.
 remainingItemCount Number of objects on the following pages. Absent if it is not known, as with selectors.
ListOptions Parameters of a list or watch.
 labelSelector Only objects whose labels match, such as "app=web,tier!=cache". By default all.
 fieldSelector Only objects whose fields match, such as "metadata.name=web". Each kind supports certain fields.
 watch Whether the answer is a stream of changes instead of a list.
 allowWatchBookmarks Whether the watch may have events that tell the reached version only.
 resourceVersion Version that the list must have reached, or that the watch begins after.
 resourceVersionMatch How resourceVersion is meant: "Exact" or "NotOlderThan".
 timeoutSeconds Seconds after which the call ends, whether or not anything happens.
 limit Most objects of a page. The answer has a continue token if there are more.
 continue Token of the former page. Other parameters must be as they were then.
 sendInitialEvents Whether the watch begins with an event for each existing object, and a bookmark after them. It needs
  resourceVersionMatch "NotOlderThan".
ManagedFieldsEntry The fields of an object that a manager owns.
 manager Name of the manager, usually a program.
 operation "Apply" for server-side apply, "Update" for all other writes.
 apiVersion Version in which the fields are named.
 time When the manager added, changed or removed a field last.
 fieldsType Form of fieldsV1: only "FieldsV1".
 fieldsV1 The owned fields as a tree: "f:NAME" for a field, "k:KEYS" and "v:VALUE" for elements of lists.
 subresource Subresource that the manager wrote by, such as "status". Empty for the object itself.
ObjectMeta Names, labels and the bookkeeping of the server, as every object has them.
 name Name of the object, unique for its kind in its namespace. It cannot be changed.
 generateName Beginning of the name, to which the server adds five random characters if name is empty.
 namespace Namespace of the object. Empty for objects of the cluster. It cannot be changed.
 selfLink Path of the object. Deprecated: the server leaves it out.
 uid Id of this one object in space and time, given by the server.
 resourceVersion Version of the object, which changes with each write. In an update it must be the current one; compare
  it for equality only.
 generation Number that rises with each change of the wanted state.
 creationTimestamp When the server created the object (UTC). Clients cannot set it.
 deletionTimestamp When the object will be gone, set by a delete that waits for a grace period or finalizers.
 deletionGracePeriodSeconds Seconds that the object has to end. Set together with deletionTimestamp; it can only be
  shortened.
 labels Keys and values by which objects are selected. A value has at most 63 characters.
 annotations Further data of clients, by key. All together at most 256 KiB. They cannot be selected.
 ownerReferences Objects that this one depends on. It is deleted when none of them is left. At most one is the
  controller.
 finalizers Names that must be removed before the object is deleted.
 managedFields Which manager owns which fields, for server-side apply. Most clients need not care.
OwnerReference Names an object that another one depends on. It is in the same namespace or of the cluster.
 apiVersion Group and version of the owner.
 kind Kind of the owner, such as "ReplicaSet".
 name Name of the owner in its namespace.
 uid Uid of the owner, so that no later one is meant.
 controller Whether the owner is the managing controller. At most one owner is.
 blockOwnerDeletion Whether a foreground delete of the owner waits for this object. Setting it may need the right to
  update the owner's finalizers.
PartialObjectMetadata The metadata of an object of any kind, without its contents.
PartialObjectMetadataList The metadata of objects of any kind.
 metadata Resource version and paging of the list.
 items List of returned objects, with their metadata only.
PatchOptions Query parameters of a patch.
 dryRun "All" runs every step but stores nothing. No other value is valid.
 force Whether an apply takes over fields of other managers in place of a conflict. Not for other patches.
 fieldManager Name of the manager in managedFields. Required for apply; by default the first part of the User-Agent.
 fieldValidation What happens to unknown and duplicate fields: "Strict" refuses, "Warn" (default) warns, "Ignore" drops
  them.
Preconditions Conditions that must hold before an operation is carried out.
 uid Uid that the object must have. With another one the operation is refused as a conflict.
 resourceVersion Version that the object must have. With another one the operation is refused as a conflict.
RootPaths The paths that the server serves.
 paths Paths that the server serves, such as "/apis/apps/v1".
ServerAddressByClientCIDR The address of the server for clients of a network.
 clientCIDR Range of client addresses, such as "10.0.0.0/8", that reach the server at serverAddress.
 serverAddress Host name or address of the server, with or without a port.
Status The result of a call that does not return an object.
 metadata Resource version and paging; mostly empty.
 status Result of the call: "Success" or "Failure".
 message Description of the result for people.
 reason Machine-readable cause of a failure, such as "NotFound". Empty if it is not known.
 details Further data about the failure, which depend on its reason.
 code Status code of the answer in HTTP, such as 404.
StatusCause One cause of a failure. There may be several.
 reason Machine-readable cause, such as "FieldValueInvalid".
 message Description of the cause for people.
 field Field of the object that caused it, such as "spec.containers[0].name".
StatusDetails Further data about a failure.
 name Name of the object that the failure is about.
 group API group of the object that it is about.
 kind Kind or resource of the object.
 uid Uid of the object that is referred to.
 causes Single causes of the failure, for example one of each invalid field.
 retryAfterSeconds Seconds that the client should wait before it tries again.
Table Objects as rows of a table, for display.
 metadata Resource version and paging of the list.
 columnDefinitions Columns of the table. Each row has one cell for each.
 rows Rows of the table, one for each object.
TableColumnDefinition A column of a table, with type and heading.
 name Heading of the column for people.
 type Type of the cells: "string", "integer", "number", "boolean" or another one of OpenAPI.
 format Format of the cells, such as "name" for the column that identifies the row. Often empty.
 description Explanation of the column for people.
 priority 0 for columns that are always shown; higher numbers are left out where there is less room.
TableOptions Parameters of a request for a table.
 includeObject What rows carry: "Metadata" (default), "Object" or "None".
TableRow A row of a table, for one object.
 cells Values of the row, one for each column.
 conditions Conditions of the row, such as that the object is completed.
 object The object of the row, or its metadata, as includeObject asked for.
TableRowCondition A condition of a row, which clients may show.
 type Name of the condition: "Completed".
 status "True", "False" or "Unknown".
Timestamp A point in time as protobuf has it.
 seconds Seconds since 1970-01-01T00:00:00Z.
 nanos Nanoseconds of the second, 0 to 999999999.
TypeMeta The kind and version that a JSON object begins with.
 kind Name of the kind, such as "Pod".
 apiVersion Group and version, such as "apps/v1".
UpdateOptions Query parameters of an update.
 dryRun "All" runs every step but stores nothing. No other value is valid.
 fieldManager Name of the manager in managedFields: printable, at most 128 characters. By default the first part of the
  User-Agent.
 fieldValidation What happens to unknown and duplicate fields: "Strict" refuses, "Warn" (default) warns, "Ignore" drops
  them.
Verbs Verbs that a resource supports.
 items Names of the verbs, such as "get" and "list".
WatchEvent One event of a watch: a change of an object.
 type "ADDED", "MODIFIED", "DELETED", "BOOKMARK" or "ERROR".
 object The object after the change, as it was before for "DELETED", its version only for "BOOKMARK", or a Status for
  "ERROR".
`,
};
