/** Descriptions of the core group except pods and volumes, by package; README.md explains the form. */
export const CORE_DESCRIPTIONS = {
  'core.v1': `
AttachedVolume A volume that is attached to a node.
 name Name of the attached volume, as the driver forms it.
 devicePath Path of the device on the node.
ClientIPConfig Settings of session affinity by client address.
 timeoutSeconds Seconds for which a client stays with its pod, 1 to 86400, 10800 (three hours) by default.
ComponentCondition A condition of a component of the control plane.
 type Name of the condition: only "Healthy" exists.
 status "True", "False" or "Unknown".
 message Message about the condition, such as the answer of the health check.
 error Error of the check, if there was one.
ComponentStatus Health of a component of the control plane. Deprecated: read the health endpoints of the components.
 conditions Conditions that were observed, one of each type.
ConfigMap Settings that pods read as files, environment variables or through the API. At most 1 MiB.
 immutable Whether data and binaryData can no longer be changed. Once true it stays so. False by default.
 data Settings as text, by key. Keys have letters, digits, "-", "_" and ".", and none may be in binaryData too.
 binaryData Settings as bytes (base64 in JSON), by key.
ConfigMapNodeConfigSource A ConfigMap with the configuration of a node. Deprecated: nodes no longer read it.
 namespace Namespace of the ConfigMap. Required.
 name Name of the ConfigMap. Required.
 uid Uid of the ConfigMap, only in the status of the node.
 resourceVersion Resource version of the ConfigMap, only in the status of the node.
 kubeletConfigKey Key of the ConfigMap whose value is the configuration.
EndpointAddress An address of an Endpoints object.
 ip IPv4 or IPv6 address. Loopback, link-local and multicast addresses are refused.
 hostname Host name of the endpoint, a DNS label.
 nodeName Node that the endpoint is on.
 targetRef Object behind the address, usually a pod.
EndpointPort A port of an Endpoints object.
 name Name of the port, as in the Service. Required if there are several.
 port Number of the port, from 1 to 65535.
 protocol "TCP" (default), "UDP" or "SCTP".
 appProtocol Protocol of the application, such as "http" or a name with a domain.
EndpointSubset Addresses that share the same ports: each address with each port is an endpoint.
 addresses Addresses that are ready.
 notReadyAddresses Addresses that are not ready: starting, failing their probe or ending.
 ports Ports of all addresses of this subset.
Endpoints Addresses behind a Service of the same name. EndpointSlices are newer and scale better.
 subsets Sets of addresses with the same ports. An address that is in several has the ports of all.
Event Report of something that happened to an object, for people. Events are deleted after some time, one hour by
  default.
 metadata Name, namespace and the bookkeeping of the server. The name is usually that of the object with a unique
  suffix.
 involvedObject Object that the event is about.
 reason Short, machine-readable cause, in CamelCase.
 message Description for people of what happened.
 source Component that reports the event, in the older form.
 firstTimestamp When the event was first recorded.
 lastTimestamp When the event last occurred.
 count How often the event has occurred.
 type "Normal" or "Warning"; more may come.
 eventTime When the event was first observed, with microseconds.
 series Further occurrences of the event. Absent if it is a single one.
 action Action that was taken or failed, in CamelCase.
 related Second object that is involved, for example the target of the action.
 reportingComponent Name of the controller that reports the event, such as "example.com/controller".
 reportingInstance Id of the instance of the controller in reportingComponent, such as the name of its pod.
EventSeries Repeated occurrences of an event.
 count How often the event has occurred in this series so far.
 lastObservedTime When the last occurrence was seen.
EventSource Component that reports an event.
 component Name of the component that reports, such as a controller.
 host Node on which the component runs.
LimitRange Smallest, largest and default amounts of resources for the objects of a namespace.
 spec Limits that are enforced when pods and claims are created or changed.
LimitRangeItem Limits for one kind of objects, each by resource.
 type What the limits apply to: "Container", "Pod" or "PersistentVolumeClaim".
 max Largest amount of each resource.
 min Smallest amount of each resource.
 default Limit of containers that have none. Only for "Container".
 defaultRequest Request of containers that have none. Only for "Container"; by default the limit.
 maxLimitRequestRatio Largest quotient of limit and request, for each resource.
LimitRangeSpec The limits of a LimitRange.
 limits Limits by what they apply to.
List A list of objects, which may be of different kinds.
 metadata Resource version and paging of the list.
 items List of returned objects, each with its own kind and version.
LoadBalancerIngress A point of entry of a load balancer: an address or a host name.
 ip Address of the load balancer. Not set if it has a host name only.
 hostname Host name of the load balancer. Not set if it has an address only.
 ipMode With ip: "VIP" if packets keep the address as their destination (default), "Proxy" if they arrive at a node or
  pod.
 ports State of each port of the Service at this point of entry.
LoadBalancerStatus State of a load balancer.
 ingress Points of entry. Traffic that arrives there goes to the Service.
Namespace A scope for names. Deleting it deletes everything inside.
 spec Finalizers that must be done before the namespace is gone.
 status Phase of the namespace, and what hinders its end.
NamespaceCondition A condition of a namespace, mostly about its deletion.
 type Name of the condition, such as "NamespaceDeletionContentFailure" or "NamespaceFinalizersRemaining".
 status "True", "False" or "Unknown".
NamespaceSpec What must happen before a namespace is gone.
 finalizers Finalizers of the namespace. They are removed by the subresource finalize; the namespace is gone when none
  is left.
NamespaceStatus State of a namespace, with what hinders its deletion.
 phase "Active", or "Terminating" once it has been deleted but still has contents.
 conditions Conditions of the namespace, one of each type.
Node A machine that runs pods. Its own agent registers it and reports its state.
 spec What administrators and controllers decide about the node.
 status What the node reports about itself.
NodeAddress An address at which a node can be reached.
 type "Hostname", "InternalIP", "ExternalIP", "InternalDNS" or "ExternalDNS".
 address The address or the name, as the type says.
NodeCondition One condition of a node, as its agent reports it.
 type Name of the condition: "Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable" or one of
  others' own.
 status "True", "False" or "Unknown".
 lastHeartbeatTime When the node last reported this condition.
NodeConfigSource Source of a node's configuration. Deprecated: nodes no longer read it.
 configMap ConfigMap with the configuration of the node.
NodeConfigStatus State of a node's configuration from the API. Deprecated: nodes no longer report it.
 assigned Configuration that the node will try to use.
 active Configuration that the node uses.
 lastKnownGood Configuration that the node falls back to if the assigned one fails.
 error Problem with the assigned configuration, if there is one.
NodeDaemonEndpoints Ports of the daemons on a node.
 kubeletEndpoint Port on which the agent of the node listens.
NodeFeatures Features that the container runtimes of a node implement.
 supplementalGroupsPolicy Whether the runtime honours supplementalGroupsPolicy of pods.
NodeProxyOptions Query parameters of a request that is passed on to a node.
 path Path of the request to the node.
NodeRuntimeHandler A handler of the container runtime of a node.
 name Name of the handler. Empty for the default one.
 features Features that the handler supports.
NodeRuntimeHandlerFeatures Features of a handler of the container runtime.
 recursiveReadOnlyMounts Whether the handler supports mounts that are recursively read-only.
 userNamespaces Whether the handler supports user namespaces, including those of volumes.
NodeSpec Decisions of administrators and controllers about a node.
 podCIDR Range of addresses for the pods of the node.
 podCIDRs Ranges of addresses for the pods, at most one IPv4 and one IPv6; the first equals podCIDR.
 providerID Id of the machine at the cloud provider, as PROVIDER://ID. It cannot be changed once set.
 unschedulable Whether no new pods are scheduled to the node. False by default.
 taints Taints that keep pods away which do not tolerate them.
 configSource Source of the node's configuration. Deprecated: it has no effect.
 externalID Id of old nodes. Deprecated: it has no effect.
NodeStatus State of a node, as its agent reports it.
 capacity Total resources of the node.
 allocatable Resources that pods can use: the capacity without what the system reserves.
 phase Phase of the node. Deprecated and never set.
 conditions Conditions of the node, one of each type.
 addresses Addresses at which the node can be reached.
 daemonEndpoints Ports of the daemons of the node.
 nodeInfo Ids and versions of the node.
 images Images that are present on the node.
 volumesInUse Attachable volumes that pods on the node use.
 volumesAttached Volumes that are attached to the node.
 config State of the configuration from the API. Deprecated: it is not set any more.
 runtimeHandlers Handlers of the container runtime, with their features.
 features Features that the container runtimes implement.
NodeSystemInfo Ids and versions of a node.
 machineID Id of the machine, from /etc/machine-id or its like.
 systemUUID UUID that the hardware or the hypervisor gives the machine.
 bootID Id of this boot of the machine.
 kernelVersion Version of the kernel, such as "6.1.0".
 osImage Name of the operating system, such as "Debian GNU/Linux 12".
 containerRuntimeVersion Name and version of the container runtime, as NAME://VERSION.
 kubeletVersion Version of the agent of the node.
 kubeProxyVersion Version of the network proxy. Deprecated: it does not come from the proxy itself.
 operatingSystem Operating system of the node, such as "linux".
 architecture Architecture of the processor, such as "amd64".
ObjectReference Names an object, or a part of it, of any kind.
 kind Kind of the object that is referred to.
 namespace Namespace of the object. Empty for objects of the cluster.
 name Name of the object that is referred to.
 uid Uid of the object, so that a later one of the same name is not meant.
 apiVersion Group and version of the object that is referred to.
 resourceVersion Resource version of the object that is referred to.
 fieldPath Part of the object, such as "spec.containers{web}".
PortStatus State of a port of a load balancer.
 port Number of the port of the Service.
 protocol Protocol of the port: "TCP", "UDP" or "SCTP".
 error Problem of the port, as a reason in CamelCase. Absent if there is none.
RangeAllocation A record of which numbers of a range are in use. It is not served as a resource.
 range Range of the record, such as "10.0.0.0/24" or "30000-32767".
 data Bitmap of the numbers that are in use.
ReplicationController Keeps a number of equal pods running. Deployments with ReplicaSets have taken its place.
 spec Number of pods, how they are found and how they are made.
 status Numbers of pods, as the controller last saw them.
ReplicationControllerCondition A condition of a replication controller.
 type Name of the condition: "ReplicaFailure".
 status "True", "False" or "Unknown".
ReplicationControllerSpec What a replication controller keeps running.
 replicas Number of pods, 1 by default. 0 is allowed.
 minReadySeconds Seconds that a pod must be ready before it counts as available, 0 by default.
 selector Labels of the pods that are counted. By default those of the template.
 template Pods that are made when there are too few. Its labels must match the selector.
ReplicationControllerStatus Numbers of pods of a replication controller.
 replicas Number of pods that match the selector.
 fullyLabeledReplicas Number of pods that match the selector and have all labels of the template.
 readyReplicas Number of pods that match the selector and are ready.
 availableReplicas Number of pods that match the selector and have been ready for minReadySeconds.
 conditions Conditions of the controller, one of each type.
ResourceQuota Bounds on what a namespace may use in total: resources of pods, storage and numbers of objects.
 spec Bounds and the objects that they count.
 status Bounds in force and what is used of them.
ResourceQuotaSpec Bounds of a quota, and the objects that it counts.
 hard Bound of each resource, such as "pods", "requests.cpu" or "count/deployments.apps".
 scopes Counts only objects that every one of these scopes includes, such as "BestEffort" or "Terminating".
 scopeSelector As scopes, with operators and values, for example of priority classes.
ResourceQuotaStatus Bounds of a quota that are in force, and their use.
 hard Bounds that are in force.
 used Amounts that the namespace uses at present.
ScopeSelector Selects the objects that a quota counts. All expressions must hold.
 matchExpressions Expressions about scopes, joined by "and".
ScopedResourceSelectorRequirement An expression about a scope.
 scopeName Name of the scope, such as "PriorityClass".
 operator "In", "NotIn", "Exists" or "DoesNotExist". Only the scope "PriorityClass" allows others than "Exists".
 values At least one value for "In" and "NotIn", none for the others.
Secret Data that only some may read, such as passwords and keys. At most 1 MiB.
 immutable Whether data can no longer be changed. Once true it stays so. False by default.
 data Secret values as bytes (base64 in JSON), by key. Keys have letters, digits, "-", "_" and ".".
 stringData Values as text, for writing only: they are merged into data and never returned.
 type Purpose of the Secret, which decides about required keys, "Opaque" by default. It cannot be changed.
SecretReference Names a Secret in any namespace.
 name Name of the Secret, unique in its namespace.
 namespace Namespace of the Secret. Required unless the place of use says otherwise.
SerializedReference A reference to an object, as annotations of old releases carry it.
 reference The object that is referred to.
Service A stable name and address for a set of pods that offer the same thing.
 spec Ports, the pods behind them, and how the Service can be reached.
 status State of the load balancer, if the Service has one.
ServiceAccount An identity for programs in pods. Tokens for it are requested by the subresource token.
 secrets Secrets that pods of this account may use, where that is enforced. It is not needed for tokens.
 imagePullSecrets Secrets with credentials for registries that pods of this account get by default.
 automountServiceAccountToken Whether pods of this account get a token by default. A pod's own setting takes
  precedence.
ServicePort A port at which a Service can be reached.
 name Name of the port, a DNS label. Required and unique if there are several.
 protocol "TCP" (default), "UDP" or "SCTP".
 appProtocol Protocol of the application, such as "http", or a name with a domain, as a hint for implementations.
 port Port of the Service, 1 to 65535.
 targetPort Number or name of the port of the pods. By default the same number as port.
 nodePort Port of all nodes that leads to the Service, for the types "NodePort" and "LoadBalancer". By default one is
  allocated.
ServiceProxyOptions Query parameters of a request that is passed on to a Service.
 path Path of the request, as it begins after the Service: the rest of the URL.
ServiceSpec Ports, pods and reach of a Service.
 ports Ports of the Service. Required unless it is headless or of the type "ExternalName".
 selector Labels of the pods behind the Service. Without a selector somebody else manages the endpoints.
 clusterIP Address of the Service in the cluster: allocated by default, a free one of the range, or "None" for a
  headless Service.
 clusterIPs Addresses of the Service, at most one IPv4 and one IPv6; the first equals clusterIP.
 type "ClusterIP" (default), "NodePort", "LoadBalancer", or "ExternalName" for a DNS alias.
 externalIPs Further addresses at which nodes accept traffic for the Service. Nobody checks who owns them.
 sessionAffinity "None" (default), or "ClientIP" to send a client to the same pod each time.
 loadBalancerIP Wanted address of the load balancer. Deprecated: its meaning differs between implementations.
 loadBalancerSourceRanges Ranges of client addresses that the load balancer accepts. By default all.
 externalName DNS name that the Service is an alias of. Required with the type "ExternalName".
 externalTrafficPolicy Where traffic from outside goes: "Cluster" (default) to all endpoints, or "Local" to those of
  the node, which keeps the client's address.
 healthCheckNodePort Port at which nodes say whether they have endpoints, for the type "LoadBalancer" with the policy
  "Local". By default allocated; it cannot be changed.
 publishNotReadyAddresses Whether addresses that are not ready are published as well. False by default.
 sessionAffinityConfig Settings of session affinity.
 ipFamilies Families of the addresses, "IPv4", "IPv6" or both, in order. The first cannot be changed.
 ipFamilyPolicy "SingleStack" (default), "PreferDualStack" or "RequireDualStack".
 allocateLoadBalancerNodePorts Whether a Service of the type "LoadBalancer" gets node ports. True by default.
 loadBalancerClass Implementation of the load balancer. By default that of the platform. It cannot be changed once set.
 internalTrafficPolicy Where traffic from pods goes: "Cluster" (default) to all endpoints, or "Local" to those of the
  same node only.
 trafficDistribution Preference for endpoints, such as "PreferClose". It is a hint for implementations.
ServiceStatus State of a Service and of its load balancer.
 loadBalancer State of its load balancer, if it has one.
 conditions Conditions of the Service, one of each type.
SessionAffinityConfig Settings of session affinity.
 clientIP Settings of affinity by client address. Only with sessionAffinity "ClientIP".
Taint Keeps pods away from a node unless they tolerate it.
 key Key of the taint, in the form of a label key.
 value Value of the taint. It may be empty.
 effect "NoSchedule" for new pods, "PreferNoSchedule" as a preference, or "NoExecute" also for running pods.
 timeAdded When the taint was added, for the effect "NoExecute".
TopologySelectorLabelRequirement A label of nodes with its possible values.
 key Key of the label that the node must have.
 values Values of which the label must have one. At least one is required.
TopologySelectorTerm Selects domains by labels of their nodes. All expressions must hold.
 matchLabelExpressions Labels and their possible values.
`,
};
