/** Descriptions of networks, endpoints and leases, by package; README.md explains the form. */
export const NETWORKS_DESCRIPTIONS = {
  'networking.v1': `
HTTPIngressPath A path of an Ingress, and where its requests go.
 path Path of the URL that is matched. It must begin with "/" for "Exact" and "Prefix".
 pathType "Exact", "Prefix" by elements of the path, or "ImplementationSpecific".
 backend Service or resource that the requests go to.
HTTPIngressRuleValue Paths of a host and where their requests go.
 paths Paths and their backends. The longest match decides.
IPBlock A range of addresses with exceptions.
 cidr Range of addresses, such as "192.168.1.0/24" or "2001:db8::/64".
 except Ranges inside cidr that are left out.
Ingress Rules by which HTTP requests from outside reach Services.
 spec Rules, certificates and the class that serves them.
 status Addresses of the load balancer.
IngressBackend Where requests go: to a Service or a resource, not both.
 service Service and port that the requests go to.
 resource Object of the namespace that the requests go to, such as storage for files.
IngressClass A class of Ingresses: the controller that serves them, with parameters.
 spec Controller and parameters of the class.
IngressClassParametersReference Names an object with parameters of a class.
 apiGroup API group of the object. Absent means the core group.
 kind Kind of the object that is referred to.
 name Name of the object that is referred to.
 scope "Cluster" (default) or "Namespace".
 namespace Namespace of the object. Required with the scope "Namespace", and forbidden with "Cluster".
IngressClassSpec Controller and parameters of a class of Ingresses.
 controller Name of the controller, with a domain, such as "example.com/ingress". It cannot be changed.
 parameters Object with further settings for the controller.
IngressLoadBalancerIngress A point of entry of an Ingress.
 ip Address of the load balancer.
 hostname Host name of the load balancer.
 ports Ports that are open at this point of entry.
IngressLoadBalancerStatus State of the load balancer of an Ingress.
 ingress Points of entry of the load balancer.
IngressPortStatus State of a port of an Ingress.
 port Port number of the point of entry.
 protocol Protocol of the port: "TCP", "UDP" or "SCTP".
 error Problem of the port, as a reason in CamelCase. Absent if there is none.
IngressRule Rules for one host, or for all.
 host Full host name, or with "*" as its first label. By default all hosts.
IngressRuleValue The rules of a host, by protocol.
 http Paths for HTTP requests. By default all requests go to the default backend.
IngressServiceBackend A Service as the target of requests.
 name Name of the Service in the namespace of the Ingress.
 port Port of the Service, by name or by number.
IngressSpec Rules, certificates and class of an Ingress.
 ingressClassName Class that serves the Ingress. By default the default class, if there is one.
 defaultBackend Where requests go that no rule matches. Required if there are no rules.
 tls Certificates, by host names.
 rules Rules by host. By default all requests go to the default backend.
IngressStatus State of an Ingress and its load balancer.
 loadBalancer State of the load balancer.
IngressTLS A certificate of an Ingress.
 hosts Host names of the certificate. By default those of the controller.
 secretName Secret with certificate and key for port 443.
NetworkPolicy Says which traffic is allowed to and from pods. Once a policy selects a pod, other traffic of that
  direction is refused.
 spec Pods and the allowed traffic.
NetworkPolicyEgressRule Allowed traffic from the pods: to these peers at these ports.
 ports Ports that are allowed. Empty means all.
 to Peers that are allowed. Empty means all.
NetworkPolicyIngressRule Allowed traffic to the pods: from these peers at these ports.
 ports Ports that are allowed. Empty means all.
 from Peers that are allowed. Empty means all.
NetworkPolicyPeer Pods, namespaces or addresses. ipBlock excludes the other two.
 podSelector Selects pods: of the policy's namespace, or of those that namespaceSelector selects.
 namespaceSelector Selects namespaces by labels. An empty selector selects all.
 ipBlock Range of addresses outside of the cluster.
NetworkPolicyPort One port, or a range of them, of a protocol.
 protocol "TCP" (default), "UDP" or "SCTP".
 port Number or name of the port. Absent means all.
 endPort Last port of a range that begins with port, which must then be a number.
NetworkPolicySpec Pods of a policy and their allowed traffic.
 podSelector Selects the pods of the namespace that the policy is for. An empty selector selects all.
 ingress Allowed traffic to the pods. Empty allows none, if policyTypes has "Ingress".
 egress Allowed traffic from the pods. Empty allows none, if policyTypes has "Egress".
 policyTypes Directions that the policy is about: "Ingress", "Egress" or both. By default "Ingress", and "Egress" if
  there are such rules.
ServiceBackendPort A port of a Service, by name or by number.
 name Name of the port. It excludes number.
 number Number of the port. It excludes name.
`,
  'networking.v1beta1': `
IPAddress Records that an address of a Service range is in use. Its name is the address.
 spec The object that uses the address.
IPAddressSpec The object that uses an address.
 parentRef Reference to the object that the address belongs to, usually a Service. Required.
ParentReference Names the object that an address belongs to.
 group API group of the object. Empty means the core group.
 resource Plural name of the resource. Required.
 namespace Namespace of the object that is referred to.
 name Name of the object. Required.
ServiceCIDR A range of addresses for Services.
 spec The ranges of addresses that Services get.
 status Whether the range can be used.
ServiceCIDRSpec The ranges of a ServiceCIDR.
 cidrs Ranges of addresses, one of each family at most. They cannot be changed.
ServiceCIDRStatus State of a ServiceCIDR, with its conditions.
 conditions Conditions of the range, one of each type, such as "Ready".
`,
  'discovery.v1': `
Endpoint An endpoint of a Service, usually a pod.
 addresses Addresses of the endpoint, 1 to 100, of the type of the slice. Consumers use the first.
 conditions Whether the endpoint is ready, serving or terminating.
 hostname Host name of the endpoint, a DNS label. Endpoints with the same one share it.
 targetRef Object behind the endpoint, usually a pod.
 deprecatedTopology Topology of the endpoint in version v1beta1. Deprecated: it can be kept but not set.
 nodeName Node that the endpoint is on.
 zone Zone that the endpoint is in.
 hints Hints about who should use the endpoint.
EndpointConditions Conditions of an endpoint. Absent means not known.
 ready Whether the endpoint takes traffic. Not known counts as true. Endpoints that end are not ready.
 serving As ready, but also true while the endpoint ends and still serves.
 terminating Whether the endpoint is ending. Not known counts as false.
EndpointHints Hints about who should use an endpoint.
 forZones Zones whose clients should use the endpoint, at most 8.
EndpointPort A port of the endpoints of a slice.
 name Name of the port, unique in the slice. Empty, or a DNS label.
 protocol "TCP" (default), "UDP" or "SCTP".
 port Port number. Absent means that it is not restricted, and the meaning depends on the consumer.
 appProtocol Protocol of the application, such as "http", or a name with a domain.
EndpointSlice A part of the endpoints of a Service. A Service may have many slices.
 addressType "IPv4", "IPv6" or "FQDN" (deprecated). It cannot be changed.
 endpoints Endpoints of the slice, at most 1000.
 ports Ports of every endpoint of the slice, at most 100.
ForZone A zone whose clients should use an endpoint.
 name Name of the zone, as nodes have it.
`,
  'coordination.v1': `
Lease A claim of one process on something for a time, for leader election and heartbeats.
 spec Holder and times of the lease.
LeaseSpec Holder and times of a lease.
 holderIdentity Who holds the lease. Empty means nobody.
 leaseDurationSeconds Seconds after renewTime that others must wait before they take the lease, above 0.
 acquireTime When the present holder got the lease.
 renewTime When the holder last renewed the lease.
 leaseTransitions How often the lease went from one holder to another.
 strategy How the leader is chosen in coordinated election, such as "OldestEmulationVersion".
 preferredHolder Who should get the lease next. Its present holder should give it up. It needs strategy.
`,
  'coordination.v1alpha2': `
LeaseCandidate A candidate for a lease in coordinated leader election.
 spec The lease and the versions of the candidate.
LeaseCandidateSpec Lease and versions of a candidate.
 leaseName Name of the lease that the candidate wants. It cannot be changed.
 pingTime When the candidate was last asked whether it is alive. It answers by renewTime.
 renewTime When the candidate last renewed its candidacy.
 binaryVersion Version of the candidate's program. Required.
 emulationVersion Version that the candidate emulates, at most binaryVersion. Required for "OldestEmulationVersion".
 strategy How the leader is chosen, such as "OldestEmulationVersion". The strategies of all candidates should agree.
`,
};
