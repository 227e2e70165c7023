/** Descriptions of pods, by package; README.md explains the form. */
export const PODS_DESCRIPTIONS = {
  'core.v1': `
Affinity Rules that attract a pod to nodes, or to and away from other pods.
 nodeAffinity Rules about the labels and fields of nodes.
 podAffinity Rules that place the pod near other pods.
 podAntiAffinity Rules that keep the pod away from other pods.
AppArmorProfile The AppArmor profile that the processes of a pod or container run under.
 type "RuntimeDefault" for the profile of the container runtime, "Localhost" for one that is loaded on the node, or
  "Unconfined" for none.
 localhostProfile Name of a profile that is loaded on the node. Required with the type "Localhost", and forbidden with
  others.
AvoidPods Pods that a node should not run, as an annotation of old releases had it.
 preferAvoidPods Controllers whose pods should not be scheduled to the node.
Binding Assigns a pod to a node. The scheduler creates one as the subresource binding of the pod.
 target The node that the pod is assigned to, named by kind "Node" and name.
Capabilities Linux capabilities that are given to or taken from the processes of a container.
 add Capabilities that are added to those which the container runtime gives, such as "NET_ADMIN", or "ALL".
 drop Capabilities that are taken away, such as "NET_RAW", or "ALL".
ConfigMapEnvSource The ConfigMap whose keys become environment variables.
 optional Whether the ConfigMap may be missing. False by default, and the container then does not start.
ConfigMapKeySelector Selects one key of a ConfigMap of the namespace.
 key Key of the data whose value is used.
 optional Whether the ConfigMap or the key may be missing. False by default.
Container A container of a pod: what runs, with what, and how its health is checked.
 name Name of the container, a DNS label that is unique in the pod. It cannot be changed.
 image Image that runs, as REGISTRY/NAME:TAG or with a digest. It is one of the few fields that can be changed in a
  running pod.
 command Program and first arguments, instead of the entry point of the image. $(NAME) is replaced by an environment
  variable, $$(NAME) stays as $(NAME).
 args Arguments of the program, instead of the CMD of the image. $(NAME) is replaced as in command.
 workingDir Folder that the program starts in. By default that of the image.
 ports Ports that the container listens on. This is information, except for hostPort: other ports can be reached as
  well.
 envFrom ConfigMaps and Secrets whose keys become environment variables. A later source wins, and env wins over all.
 env Environment variables of the container.
 resources CPU, memory and other resources that the container requests and is limited to.
 resizePolicy For each resource, whether the container must be restarted when its amount is changed in place.
 restartPolicy Only for init containers: "Always" makes it a sidecar, which runs as long as the pod.
 volumeMounts Volumes of the pod that are mounted into the container.
 volumeDevices Raw block devices of the pod that the container uses.
 livenessProbe Check whose failure restarts the container.
 readinessProbe Check whose failure takes the pod out of its Services.
 startupProbe Check that must succeed before the other probes begin; its failure restarts the container.
 lifecycle Actions after the start and before the end of the container.
 terminationMessagePath File in the container whose contents become the message of its end, "/dev/termination-log" by
  default. At most 4096 bytes are read.
 terminationMessagePolicy "File" (default), or "FallbackToLogsOnError" to use the end of the log if the file is empty
  and the container failed.
 imagePullPolicy When the image is pulled: "Always", "Never" or "IfNotPresent". By default "Always" for the tag latest
  and "IfNotPresent" else.
 securityContext Security settings of this container; they take precedence over those of the pod.
 stdin Whether the container has a standard input that clients can attach to. False by default.
 stdinOnce Whether the standard input closes after the first client detaches. False by default.
 tty Whether the container has a terminal; it needs stdin. False by default.
ContainerImage An image that is present on a node.
 names Names of the image, with tags and digests.
 sizeBytes Size of the image in bytes.
ContainerPort A port that a container listens on.
 name Name by which Services refer to the port: at most 15 characters, unique in the pod.
 hostPort Port of the node that leads to the container, 1 to 65535. With hostNetwork it equals containerPort. Most pods
  need none.
 containerPort Port number in the pod's network, 1 to 65535.
 protocol "TCP" (default), "UDP" or "SCTP".
 hostIP Address of the node that hostPort is bound to. By default all.
ContainerResizePolicy What happens to a container when the amount of a resource is changed in place.
 resourceName Resource that the rule is for: "cpu" or "memory".
 restartPolicy "NotRequired" (default) or "RestartContainer".
ContainerState State of a container. At most one field is set; without any it is waiting.
 waiting Details of a container that does not run yet.
 running Details of a running container.
 terminated Details of a container that has ended.
ContainerStateRunning Details of a running container.
 startedAt When the container was last started or restarted.
ContainerStateTerminated Details of a container that has ended.
 exitCode Exit code with which the container has ended; 0 means success.
 signal Number of the signal that ended it, if one did.
 reason Short cause of the end, such as "Completed", "Error" or "OOMKilled".
 startedAt When this run of the container began.
 finishedAt When this run of the container ended.
 containerID Id of the container, as RUNTIME://ID.
ContainerStateWaiting Details of a container that does not run yet.
 reason Short cause of the waiting, such as "ContainerCreating" or "ImagePullBackOff".
ContainerStatus State of one container of a pod, as its node reports it.
 name Name of the container in the specification of the pod.
 state The current state of the container.
 lastState State of the previous run of the container. Empty if it was never restarted.
 ready Whether the container passes its readiness probe. Without a probe a running container is ready.
 restartCount How often the container was restarted. It can be too low when old containers are removed.
 image Name of the image that the container runs, which may differ from the one in the specification.
 imageID Id of the image that the container runs, usually with its digest.
 containerID Id of the container, as RUNTIME://ID.
 started Whether the startup probe has succeeded and the postStart hook has ended. It is false again after a restart.
 allocatedResources Resources that the node has set aside for the container, by resource.
 resources Requests and limits that are in force, as the container runtime reports them.
 volumeMounts Mounts of the container as they really are.
 user User that the first process of the container runs as.
 allocatedResourcesStatus Health of the devices that were given to the container, by resource.
ContainerUser The user that the first process of a container runs as.
 linux User and groups on Linux, as the process began with them.
DaemonEndpoint Port of a daemon on a node.
 Port Port number that the daemon listens on.
EnvFromSource A ConfigMap or Secret whose keys become environment variables. Exactly one of the references is set.
 prefix Text that is put before each key. With it the name must be a valid name of a variable.
 configMapRef ConfigMap of the namespace whose keys become variables.
 secretRef Secret of the namespace whose keys become variables.
EnvVar An environment variable of a container. It has a value or a source, not both.
 name Name of the variable, of printable ASCII characters without "=".
 value Value of the variable, "" by default. $(NAME) is replaced by a variable that is defined before, $$(NAME) stays
  as $(NAME).
 valueFrom Source of the value. It excludes a value that is not empty.
EnvVarSource The source of an environment variable. Exactly one field is set.
 fieldRef Field of the pod: name, namespace, uid, a label, an annotation, node name, service account, or an address.
 resourceFieldRef Request or limit of the container: of cpu, memory, ephemeral-storage or huge pages.
 configMapKeyRef Key of a ConfigMap of the namespace.
 secretKeyRef Key of a Secret of the namespace.
EphemeralContainer A container that is added to a running pod, for debugging. It is never restarted, has no guaranteed
  resources and cannot be removed.
 targetContainerName Container of the pod whose processes the ephemeral container sees. By default none.
EphemeralContainerCommon =Container The fields that ephemeral containers have in common with others. Some of them are
  refused in ephemeral containers.
 ports Must be empty: ephemeral containers have no ports.
 resources Must be empty: ephemeral containers use what the pod has left.
 resizePolicy Must be empty: ephemeral containers are not resized.
 restartPolicy Must be absent: ephemeral containers are never restarted.
 livenessProbe Must be absent: ephemeral containers are not probed.
 readinessProbe Must be absent: ephemeral containers are not probed.
 startupProbe Must be absent: ephemeral containers are not probed.
 lifecycle Must be absent: ephemeral containers have no hooks.
 volumeMounts Volumes of the pod that are mounted into the container. A subPath is not allowed.
ExecAction Runs a program in the container; exit code 0 is success.
 command Program and arguments. They are not run by a shell; name one to use its features.
GRPCAction Calls the health service of gRPC (grpc.health.v1.Health).
 port Port of the gRPC server, 1 to 65535.
 service Name of the service in the request, "" by default: the health of the whole server.
HTTPGetAction Sends an HTTP GET; a status from 200 to 399 is success.
 path Path of the request, "/" by default.
 port Number of the port, 1 to 65535, or name of a port of the container.
 host Host to connect to, the address of the pod by default. To set the Host header, use httpHeaders.
 scheme "HTTP" (default) or "HTTPS". Certificates are not verified.
 httpHeaders Headers of the request. A name may be repeated.
HTTPHeader A header of an HTTP request.
 name Name of the header. It is sent in its canonical case.
 value Value of the header, sent as it stands.
HostAlias A line of the hosts file of a pod.
 ip Address that the names lead to.
 hostnames Names that lead to the address.
HostIP An address of the node that a pod runs on.
 ip An IPv4 or IPv6 address of the node.
Lifecycle Actions at the start and the end of a container.
 postStart Action right after the start of the container, beside its program. If it fails, the container is ended and
  restarted by its policy.
 preStop Action before the container is ended by a request or a failed probe. The grace period runs meanwhile.
LifecycleHandler An action of a hook. Exactly one field is set.
 exec Runs a program in the container.
 httpGet Sends an HTTP GET to the container.
 tcpSocket Has no effect any more and is kept for compatibility only.
 sleep Pauses the container for a number of seconds.
LinuxContainerUser User and groups of the first process of a container.
 uid User id that the process began with.
 gid Primary group id that the process began with.
 supplementalGroups Further group ids that the process began with.
LocalObjectReference Names an object of a known kind in the same namespace.
 name Name of the object. It may be empty for historical reasons, but is then of no use.
NodeAffinity Rules about the nodes that a pod may or should be scheduled to.
 requiredDuringSchedulingIgnoredDuringExecution Terms of which a node must satisfy at least one. Later changes of the
  node do not move the pod.
 preferredDuringSchedulingIgnoredDuringExecution Terms with weights. Among the possible nodes, the one with the highest
  sum is preferred.
NodeSelector A union of terms: a node is selected if it satisfies at least one.
 nodeSelectorTerms Terms that are joined by "or". At least one is required.
NodeSelectorRequirement A condition on a label or field of a node.
 key Label key, or field path such as "metadata.name".
 operator "In", "NotIn", "Exists", "DoesNotExist", "Gt" or "Lt".
 values At least one value for "In" and "NotIn", none for "Exists" and "DoesNotExist", and one integer for "Gt" and
  "Lt".
NodeSelectorTerm Conditions that are joined by "and". A term without any selects no node.
 matchExpressions Conditions on the labels of the node.
 matchFields Conditions on fields of the node. Only "metadata.name" is supported.
ObjectFieldSelector Selects a field of the pod.
 apiVersion Version in which the path is written, "v1" by default.
 fieldPath Path of the field, such as "metadata.name" or "metadata.labels['app']".
Pod A group of containers that are scheduled together to one node and share network and volumes.
 spec What is to run. After creation only images, tolerations, some deadlines and a few more fields can be changed.
 status What is running, as the node reports it. It may be out of date.
PodAffinity Rules that place a pod in the same domain (node, zone, …) as other pods.
 requiredDuringSchedulingIgnoredDuringExecution Terms that must all hold when the pod is scheduled. Later changes do
  not move it.
 preferredDuringSchedulingIgnoredDuringExecution Terms with weights. Among the possible nodes, the one with the highest
  sum is preferred.
PodAffinityTerm Selects pods and the domain in which the rule relates to them.
 labelSelector Selects the pods by labels. Absent selects none.
 namespaces Namespaces of the pods, together with those of namespaceSelector. If both are absent, the pod's own.
 topologyKey Label of nodes whose equal values form a domain, such as the label of the zone. It must not be empty.
 namespaceSelector Selects the namespaces of the pods by labels. An empty selector selects all, an absent one none.
 matchLabelKeys Keys of labels whose values are taken from the pod itself and joined to labelSelector with "In". It
  needs labelSelector.
 mismatchLabelKeys Keys of labels whose values are taken from the pod itself and joined to labelSelector with "NotIn".
  It needs labelSelector.
PodAntiAffinity Rules that keep a pod out of the domain (node, zone, …) of other pods.
 requiredDuringSchedulingIgnoredDuringExecution Terms that must all hold when the pod is scheduled. Later changes do
  not move it.
 preferredDuringSchedulingIgnoredDuringExecution Terms with weights. The node with the lowest sum of broken terms is
  preferred.
PodAttachOptions Query parameters of a request that attaches to a container.
 stdin Whether the client sends the standard input. False by default.
 stdout Whether the client receives the standard output. True by default.
 stderr Whether the client receives the standard error. True by default.
 tty Whether a terminal is used; standard error is then part of the output. False by default.
 container Container to attach to. It may be left out if the pod has only one.
PodCondition One condition of a pod, such as that it is ready.
 type Name of the condition: "PodScheduled", "Initialized", "ContainersReady", "Ready", or one of a readiness gate.
 status "True", "False" or "Unknown".
PodDNSConfig Settings for the name resolution of a pod, which are added to those of dnsPolicy.
 nameservers Addresses of name servers, at most 3. Required with the policy "None".
 searches Domains in which short names are searched, at most 32.
 options Options of the resolver; they replace those of the same name.
PodDNSConfigOption An option of the resolver.
 name Name of the option, such as "ndots". Required.
 value Value of the option, if it has one.
PodExecOptions Query parameters of a request that runs a program in a container.
 stdin Whether the client sends the standard input. False by default.
 stdout Whether the client receives the standard output. True by default.
 stderr Whether the client receives the standard error. True by default.
 tty Whether a terminal is used; standard error is then part of the output. False by default.
 container Container to run the program in. It may be left out if the pod has only one.
 command Program and arguments, which no shell interprets.
PodIP An address of a pod in the cluster.
 ip An IPv4 or IPv6 address of the pod.
PodLogOptions Query parameters of a request for the log of a container.
 container Container whose log is read. It may be left out if the pod has only one.
 follow Whether the answer stays open and receives new lines. False by default.
 previous Whether the log of the previous, ended run is read. False by default.
 sinceSeconds Only lines of this many last seconds. It excludes sinceTime.
 sinceTime Only lines since this time. It excludes sinceSeconds.
 timestamps Whether each line begins with its time. False by default.
 tailLines Only this many last lines. By default all since the start of the container or since sinceTime.
 limitBytes Most bytes that are sent; the last line may be cut.
 insecureSkipTLSVerifyBackend Whether the certificate of the node is not verified. The log may then come from somebody
  else.
 stream Which stream is read: "All" (default), "Stdout" or "Stderr".
PodOS The operating system of a pod. Settings of the other one are refused.
 name Name of the system: "linux" or "windows".
PodPortForwardOptions Query parameters of a request that forwards ports of a pod.
 ports Ports of the pod that are forwarded.
PodProxyOptions Query parameters of a request that is passed on to a pod.
 path Path of the request to the pod.
PodReadinessGate A condition that must be true before the pod is ready.
 conditionType Name of a condition in the status of the pod.
PodResourceClaim A claim for devices that the pod refers to. One of the two names is set.
 name Name by which containers refer to the claim, unique in the pod.
 resourceClaimName Name of a ResourceClaim of the namespace.
 resourceClaimTemplateName Name of a ResourceClaimTemplate from which a claim is made for the pod.
PodResourceClaimStatus The claim that belongs to an entry of spec.resourceClaims.
 name Name of the entry in spec.resourceClaims.
 resourceClaimName Name of the claim that was made for the pod. Absent if none was needed.
PodSchedulingGate A reason for which the pod is not scheduled yet.
 name Name of the gate, unique in the pod. The pod is scheduled when no gate is left.
PodSecurityContext Security settings of a pod. Those of a container take precedence over the same settings here.
 seLinuxOptions SELinux labels of all containers. By default the container runtime chooses them.
 windowsOptions Settings for Windows; refused for the operating system "linux".
 runAsUser User id of the processes. By default that of the image.
 runAsGroup Primary group id of the processes. By default that of the image or of the runtime.
 runAsNonRoot Whether containers that would run as root are refused by the node. False by default.
 supplementalGroups Further group ids of the first process of each container.
 supplementalGroupsPolicy "Merge" (default) adds the groups of the image's user, "Strict" does not.
 fsGroup Group that owns the volumes, and that the processes belong to. Volumes which support it get this group and its
  write permission.
 sysctls Kernel parameters of the pod. Those that the node does not allow stop the pod from starting.
 fsGroupChangePolicy When owners of volumes are changed: "Always" (default), or "OnRootMismatch" only if the root of
  the volume differs.
 seccompProfile Seccomp profile of all containers.
 appArmorProfile AppArmor profile of all containers.
 seLinuxChangePolicy How volumes get the SELinux label: "MountOption" (default) or "Recursive".
PodSignature Names the controller of pods that a node should avoid.
 podController The controller whose pods are meant.
PodSpec What a pod runs, where, and with what rights.
 volumes Volumes that the containers can mount.
 initContainers Containers that run one after another to their end before the others start. Those with restartPolicy
  "Always" stay as sidecars.
 containers Containers of the pod, at least one. None can be added or removed later.
 ephemeralContainers Containers that were added for debugging. They are set by the subresource ephemeralcontainers
  only.
 restartPolicy When ended containers are restarted: "Always" (default), "OnFailure" or "Never".
 terminationGracePeriodSeconds Seconds that the containers have to end after a delete, 30 by default. 0 ends them at
  once.
 activeDeadlineSeconds Seconds after its start at which the pod is ended and marked as failed. A positive integer; it
  can be lowered later.
 dnsPolicy "ClusterFirst" (default), "ClusterFirstWithHostNet", "Default" for that of the node, or "None" with
  dnsConfig alone.
 nodeSelector Labels that the node must have, all of them.
 serviceAccountName Service account whose token the pod gets, "default" by default.
 serviceAccount Former name of serviceAccountName, kept equal to it. Deprecated.
 automountServiceAccountToken Whether a token of the service account is mounted. By default what the service account
  says, else true.
 nodeName Node that the pod is assigned to. Empty until it is scheduled; whoever sets it bypasses the scheduler.
 hostNetwork Whether the pod uses the network of the node. False by default.
 hostPID Whether the pod sees the processes of the node. False by default.
 hostIPC Whether the pod shares inter-process communication with the node. False by default.
 shareProcessNamespace Whether the containers see each other's processes. False by default; it excludes hostPID.
 securityContext Security settings for all containers of the pod.
 imagePullSecrets Secrets of the namespace with credentials for registries. By default those of the service account.
 hostname Host name in the pod, its name by default.
 subdomain With it, the full host name is HOSTNAME.SUBDOMAIN.NAMESPACE.svc.DOMAIN.
 affinity Rules about nodes and other pods for the scheduler.
 schedulerName Scheduler that assigns the pod, "default-scheduler" by default.
 tolerations Taints of nodes that the pod tolerates. Entries can be added later.
 hostAliases Lines that are added to the hosts file of the pod.
 priorityClassName Name of the PriorityClass that gives the priority. By default the global default class.
 priority Priority as a number, filled in from the class. Higher is more important.
 dnsConfig Settings of name resolution in addition to dnsPolicy.
 readinessGates Conditions that must be true, besides ready containers, before the pod is ready.
 runtimeClassName Name of the RuntimeClass that runs the pod. By default the runtime of the node.
 enableServiceLinks Whether environment variables tell the addresses of the namespace's Services. True by default.
 preemptionPolicy "PreemptLowerPriority" (default) lets the pod displace others, "Never" does not.
 overhead Resources that the runtime itself needs, filled in from the RuntimeClass.
 topologySpreadConstraints Rules by which pods are spread over zones, nodes and other domains. All must hold.
 setHostnameAsFQDN Whether the host name of the pod is its full name. False by default.
 os Operating system that the pod needs. With it, settings of the other one are refused.
 hostUsers Whether the pod uses the user ids of the node. True by default; false maps them to others.
 schedulingGates Gates that keep the pod from being scheduled. They can only be removed after creation.
 resourceClaims Claims for devices that the containers can refer to. They cannot be changed.
 resources Requests and limits of the pod as a whole, for cpu and memory.
PodStatus State of a pod, mostly as its node reports it.
 phase "Pending", "Running", "Succeeded", "Failed" or "Unknown": a summary of the containers' states.
 conditions Conditions of the pod, one of each type.
 reason Short cause of the state, such as "Evicted".
 nominatedNodeName Node on which lower pods are being displaced for this one. The pod may still land elsewhere.
 hostIP Address of the node that the pod runs on.
 hostIPs Addresses of the node; the first equals hostIP.
 podIP Address of the pod in the cluster.
 podIPs Addresses of the pod, at most one IPv4 and one IPv6; the first equals podIP.
 startTime When the node accepted the pod, before images were pulled.
 initContainerStatuses State of each init container.
 containerStatuses State of each container, in the order of their names.
 qosClass "Guaranteed", "Burstable" or "BestEffort", by requests and limits. It never changes.
 ephemeralContainerStatuses State of each ephemeral container.
 resize State of a change of resources in place: "Proposed", "InProgress", "Deferred" or "Infeasible".
 resourceClaimStatuses Claims that were made for the pod from templates.
PodStatusResult The status of a pod alone, as nodes exchange it.
 status Most recently observed status of the pod.
PodTemplate A template for pods that is stored as an object.
 template Metadata and specification of the pods that are made from it.
PodTemplateSpec Metadata and specification that pods get when they are made from a template.
 metadata Labels and annotations of the pods. The labels must match the selector of the controller.
 spec Containers, volumes and settings of the pods that are created.
Preconditions Conditions that must hold before an operation is carried out.
 uid The object must have this uid.
PreferAvoidPodsEntry Pods that a node should avoid, and why.
 podSignature The pods that are meant, by their controller.
 evictionTime When the entry was added to the list.
PreferredSchedulingTerm A term that nodes should satisfy, with its weight. A term without conditions counts for every
  node.
 weight Weight of the term, 1 to 100.
 preference Conditions that the node should satisfy.
Probe A check of a container that is repeated.
 initialDelaySeconds Seconds after the start of the container before the first check, 0 by default.
 timeoutSeconds Seconds after which a check has failed, at least 1, 1 by default.
 periodSeconds Seconds between checks, at least 1, 10 by default.
 successThreshold Successes in a row after a failure that count as success, 1 by default. It must be 1 for liveness and
  startup.
 failureThreshold Failures in a row after success that count as failure, 3 by default.
 terminationGracePeriodSeconds Grace period for the container when this probe fails, instead of the pod's. Not for
  readiness.
ProbeHandler The check itself. Exactly one field is set.
 exec Runs a program in the container; exit code 0 is success.
 httpGet Sends an HTTP GET; a status from 200 to 399 is success.
 tcpSocket Opens a TCP connection; an open port is success.
 grpc Calls the health service of gRPC.
ResourceClaim Names a claim of the pod whose devices a container gets.
 name Name of an entry of the pod's resourceClaims.
 request Name of one request in the claim. By default all devices of the claim are given.
ResourceFieldSelector Selects a request or limit of a container.
 containerName Container that is meant. Required in volumes, optional in environment variables.
 resource Field of the resources, such as "limits.cpu" or "requests.memory".
 divisor Unit in which the value is written, such as "1m" or "1Mi". 1 by default.
ResourceHealth Health of a device that a container has.
 resourceID Id of the device, unique for its resource.
 health "Healthy", "Unhealthy" or "Unknown".
ResourceRequirements Resources that a container or pod requests and is limited to.
 limits Most that may be used, by resource. CPU is throttled above it, and more memory ends the container.
 requests Least that is set aside, by resource. By default the limit, if there is one.
 claims Claims of the pod whose devices the container uses.
ResourceStatus Health of the devices of one resource that a container has.
 name Resource that is reported, as in the requests, or "claim:NAME/REQUEST".
 resources Devices and their health.
SELinuxOptions SELinux labels of the processes of a container.
 user User part of the label, such as "system_u".
 role Role part of the label, such as "system_r".
 type Type part of the label, such as "container_t".
 level Level part of the label, such as "s0:c123,c456".
SeccompProfile The seccomp profile that filters the system calls of a container.
 type "RuntimeDefault" for the profile of the container runtime, "Localhost" for a file on the node, or "Unconfined"
  for none.
 localhostProfile Path of a profile below the folder for profiles of the node. Required with the type "Localhost", and
  forbidden with others.
SecretEnvSource The Secret whose keys become environment variables.
 optional Whether the Secret may be missing. False by default, and the container then does not start.
SecretKeySelector Selects one key of a Secret of the namespace.
 key Key of the data whose value is used.
 optional Whether the Secret or the key may be missing. False by default.
SecurityContext Security settings of one container; they take precedence over those of the pod.
 capabilities Linux capabilities that are added or dropped. By default those of the container runtime.
 privileged Whether the processes have the rights of root on the node. False by default.
 seLinuxOptions SELinux labels of the container.
 windowsOptions Settings for Windows; refused for the operating system "linux".
 runAsUser User id of the processes. By default that of the pod, else of the image.
 runAsGroup Primary group id of the processes. By default that of the pod, else of the runtime.
 runAsNonRoot Whether the node refuses to run the container as root. By default what the pod says.
 readOnlyRootFilesystem Whether the root file system of the container is for reading only. False by default.
 allowPrivilegeEscalation Whether a process can gain more rights than its parent. It is always true for privileged
  containers and those with CAP_SYS_ADMIN.
 procMount Type of the proc mount: "Default" masks some paths, "Unmasked" does not and needs hostUsers false.
 seccompProfile Seccomp profile of the container, instead of the pod's.
 appArmorProfile AppArmor profile of the container, instead of the pod's.
SleepAction Pauses before the container continues.
 seconds Length of the pause in seconds, at most the grace period of the pod.
Sysctl A kernel parameter of the pod.
 name Name of the parameter, such as "net.core.somaxconn".
 value Value that the parameter is set to.
TCPSocketAction Opens a TCP connection; an open port is success.
 port Number of the port, 1 to 65535, or name of a port of the container.
 host Host to connect to, the address of the pod by default.
Toleration Lets a pod be scheduled to, or stay on, nodes with a matching taint.
 key Key of the taint. Empty, with the operator "Exists", matches all taints.
 operator "Equal" (default) compares the value, "Exists" matches every value.
 value Value of the taint. It must be empty with "Exists".
 effect Effect of the taint: "NoSchedule", "PreferNoSchedule" or "NoExecute". Empty matches all.
 tolerationSeconds With the effect "NoExecute": seconds that the pod stays. Absent means for ever, 0 and less at once.
TopologySpreadConstraint A rule by which pods are spread over domains.
 maxSkew Largest difference of the numbers of matching pods in two domains, at least 1.
 topologyKey Label of nodes whose equal values form a domain.
 whenUnsatisfiable "DoNotSchedule" leaves the pod pending, "ScheduleAnyway" only prefers.
 labelSelector Selects the pods that are counted.
 minDomains Smallest number of domains. With fewer, the global minimum counts as 0. Only with "DoNotSchedule"; 1 by
  default.
 nodeAffinityPolicy Whether nodes that do not match the pod's node affinity are left out: "Honor" (default) or
  "Ignore".
 nodeTaintsPolicy Whether nodes with taints that the pod does not tolerate are left out: "Honor", or "Ignore"
  (default).
 matchLabelKeys Keys of labels whose values are taken from the pod itself and joined to labelSelector. It needs
  labelSelector.
WeightedPodAffinityTerm A term about other pods, with its weight.
 weight Weight of the term, 1 to 100.
 podAffinityTerm Pods and domain that the term relates to.
WindowsSecurityContextOptions Security settings of Windows.
 gmsaCredentialSpecName Name of the object with the group managed service account.
 gmsaCredentialSpec Contents of the specification of the group managed service account, usually filled in by a webhook.
 runAsUserName User that the first process runs as, by default that of the image.
 hostProcess Whether the container runs as a process of the node. All containers of a pod must agree, and it needs
  hostNetwork.
`,
};
