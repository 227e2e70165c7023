/** Descriptions of workloads, their scaling and disruption, by package; README.md explains the form. */
export const WORKLOADS_DESCRIPTIONS = {
  'apps.v1': `
ControllerRevision A former state of a controller's template, kept for history and rollback. Its data cannot be
  changed.
 data The state as the controller wrote it.
 revision Number of the revision; higher is newer.
DaemonSet Runs a copy of a pod on every node, or on those that match.
 spec What runs on the nodes, and how it is updated.
 status Numbers of pods and nodes, as the controller last saw them.
DaemonSetCondition A condition of a daemon set.
 type Name of the condition, unique in its list.
 status "True", "False" or "Unknown".
DaemonSetSpec What a daemon set runs, where and how it is updated.
 selector Selects the pods of the daemon set. It must match the labels of the template and cannot be changed.
 template Pods that run on the nodes. Only the restart policy "Always" is allowed.
 updateStrategy How pods are replaced when the template changes.
 minReadySeconds Seconds that a pod must be ready before it counts as available, 0 by default.
 revisionHistoryLimit Number of former revisions that are kept for rollback, 10 by default.
DaemonSetStatus Numbers of nodes and pods of a daemon set.
 currentNumberScheduled Nodes that run a pod and should.
 numberMisscheduled Nodes that run a pod and should not.
 desiredNumberScheduled Nodes that should run a pod.
 numberReady Nodes that should run a pod and have a ready one.
 updatedNumberScheduled Nodes that run a pod of the current template.
 numberAvailable Nodes whose pod has been ready for minReadySeconds.
 numberUnavailable Nodes that should have an available pod and do not.
 collisionCount Number of collisions of names of revisions so far.
 conditions Conditions of the daemon set, one of each type.
DaemonSetUpdateStrategy How the pods of a daemon set are replaced.
 type "RollingUpdate" (default), or "OnDelete" when somebody deletes the pod.
 rollingUpdate Settings of the type "RollingUpdate".
Deployment Keeps a number of equal pods running, and replaces them step by step when their template changes.
 spec Wanted pods and how they are replaced.
 status Numbers of pods and progress, as the controller last saw them.
DeploymentCondition A condition of a deployment.
 type "Available", "Progressing" or "ReplicaFailure".
 status "True", "False" or "Unknown".
DeploymentSpec Wanted pods of a deployment.
 replicas Number of pods, 1 by default. 0 is allowed.
 selector Selects the pods of the deployment. It must match the labels of the template and cannot be changed.
 template Pods that are made. Only the restart policy "Always" is allowed. A change begins a rollout.
 strategy How old pods are replaced by new ones.
 minReadySeconds Seconds that a new pod must be ready before it counts as available, 0 by default.
 revisionHistoryLimit Number of old ReplicaSets that are kept for rollback, 10 by default.
 paused Whether the rollout is paused: changes of the template then wait. False by default.
 progressDeadlineSeconds Seconds without progress after which the rollout counts as failed, 600 by default. It must be
  above minReadySeconds.
DeploymentStatus Numbers of pods and progress of a deployment.
 replicas Number of pods that the selector matches and that have not ended.
 updatedReplicas Number of pods of the current template.
 readyReplicas Number of pods that are ready.
 availableReplicas Number of pods that have been ready for minReadySeconds.
 unavailableReplicas Number of pods that are still missing before all are available.
 conditions Conditions of the deployment, one of each type.
 collisionCount Number of collisions of names of ReplicaSets so far.
DeploymentStrategy How the pods of a deployment are replaced.
 type "RollingUpdate" (default), or "Recreate" to end all old pods before new ones start.
 rollingUpdate Settings of the type "RollingUpdate". Absent for "Recreate".
ReplicaSet Keeps a number of equal pods running. Usually a Deployment makes and manages it.
 spec Number of pods, how they are found and how they are made.
 status Numbers of pods, as the controller last saw them.
ReplicaSetCondition A condition of a ReplicaSet.
 type Name of the condition: "ReplicaFailure".
 status "True", "False" or "Unknown".
ReplicaSetSpec What a ReplicaSet keeps running.
 replicas Number of pods, 1 by default. 0 is allowed.
 minReadySeconds Seconds that a pod must be ready before it counts as available, 0 by default.
 selector Selects the pods that are counted. It must match the labels of the template and cannot be changed.
 template Pods that are made when there are too few.
ReplicaSetStatus Numbers of pods of a ReplicaSet.
 replicas Number of pods that match the selector.
 fullyLabeledReplicas Number of pods that match the selector and have all labels of the template.
 readyReplicas Number of pods that match the selector and are ready.
 availableReplicas Number of pods that match the selector and have been ready for minReadySeconds.
 conditions Conditions of the ReplicaSet, one of each type.
RollingUpdateDaemonSet Steps of a rolling update of a daemon set.
 maxUnavailable Most nodes without an available pod, as a number or a percentage of all, 1 by default. It may be 0 only
  if maxSurge is not.
 maxSurge Most nodes that run an old and a new pod at once, as a number or a percentage, 0 by default.
RollingUpdateDeployment Steps of a rolling update of a deployment.
 maxUnavailable Most pods that may be missing, as a number or a percentage rounded down, 25% by default. It may be 0
  only if maxSurge is not.
 maxSurge Most pods above the wanted number, as a number or a percentage rounded up, 25% by default.
RollingUpdateStatefulSetStrategy Steps of a rolling update of a stateful set.
 partition Only pods with at least this ordinal are updated, 0 by default: all.
 maxUnavailable Most pods that may be missing during an update, as a number or a percentage rounded up, 1 by default.
StatefulSet Runs pods with stable names, order and storage.
 spec Wanted pods, their volumes and how they are updated.
 status Numbers and revisions of pods, as the controller last saw them.
StatefulSetCondition A condition of a stateful set.
 type Name of the condition, unique in its list.
 status "True", "False" or "Unknown".
StatefulSetOrdinals Numbering of the pods of a stateful set.
 start Ordinal of the first pod, 0 by default.
StatefulSetPersistentVolumeClaimRetentionPolicy What happens to the claims that were made from templates.
 whenDeleted When the stateful set is deleted: "Retain" (default) or "Delete".
 whenScaled When the number of pods falls: "Retain" (default) or "Delete" the claims of the pods that go.
StatefulSetSpec Wanted pods of a stateful set.
 replicas Number of pods, 1 by default. 0 is allowed.
 selector Selects the pods. It must match the labels of the template and cannot be changed.
 template Pods that are made, with the name SET-ORDINAL. Only the restart policy "Always" is allowed.
 volumeClaimTemplates Claims that each pod gets, with the name CLAIM-SET-ORDINAL. They cannot be changed.
 serviceName Headless Service that gives the pods their DNS names. It must be made by the user, and cannot be changed.
 podManagementPolicy "OrderedReady" (default) starts and ends pods one by one, "Parallel" all at once. It cannot be
  changed.
 updateStrategy How pods are replaced when the template changes.
 revisionHistoryLimit Number of former revisions that are kept, 10 by default.
 minReadySeconds Seconds that a pod must be ready before it counts as available, 0 by default.
 persistentVolumeClaimRetentionPolicy What happens to claims when pods go. By default they are kept.
 ordinals Numbering of the pods. By default they begin with 0.
StatefulSetStatus Numbers of a stateful set.
 replicas Number of pods that the controller has made.
 readyReplicas Number of pods that are ready.
 currentReplicas Number of pods of the revision currentRevision.
 updatedReplicas Number of pods of the revision updateRevision.
 currentRevision Revision of the pods that are not updated yet.
 updateRevision Revision that the pods are updated to.
 collisionCount Number of collisions of names of revisions so far.
 conditions Conditions of the stateful set, one of each type.
 availableReplicas Number of pods that have been ready for minReadySeconds.
StatefulSetUpdateStrategy How the pods of a stateful set are replaced.
 type "RollingUpdate" (default), or "OnDelete" when somebody deletes the pod.
 rollingUpdate Settings of the type "RollingUpdate".
`,
  'batch.v1': `
CronJob Creates jobs at the times of a schedule.
 spec Schedule, and the jobs that are created.
 status Running jobs and the last times.
CronJobSpec Schedule of a cron job and what it creates.
 schedule Times in the form of cron: minute, hour, day of the month, month, day of the week; or "@hourly", "@daily" and
  the like.
 timeZone Name of the time zone of the schedule, such as "Europe/Berlin". By default that of the controller.
 startingDeadlineSeconds Seconds after which a missed run is no longer made up for. By default there is no bound.
 concurrencyPolicy While a job still runs: "Allow" another one (default), "Forbid" and skip, or "Replace" it.
 suspend Whether no new jobs are created; running ones continue. False by default.
 jobTemplate Template of the jobs that are created.
 successfulJobsHistoryLimit Number of finished jobs that are kept, 3 by default.
 failedJobsHistoryLimit Number of failed jobs that are kept, 1 by default.
CronJobStatus Running jobs and last times of a cron job.
 active Jobs of the cron job that are running.
 lastScheduleTime When a job was last created by the schedule.
 lastSuccessfulTime When a job last ended successfully.
Job Runs pods until a number of them has succeeded.
 spec What runs, how often and what counts as success or failure.
 status Numbers of pods and the end, as the controller last saw them.
JobCondition One condition of a job, such as its end.
 type "Complete", "Failed", "Suspended", "SuccessCriteriaMet" or "FailureTarget".
 status "True", "False" or "Unknown".
JobSpec What a job runs. Most of it cannot be changed later.
 parallelism Most pods that run at once, 1 by default. It can be changed; 0 pauses the job.
 completions Number of pods that must succeed. Absent, with parallelism, means that one success ends the job; 1 by
  default if both are absent.
 activeDeadlineSeconds Seconds after its start at which the job is ended and marked as failed. A positive integer.
 podFailurePolicy Rules by which failed pods are ignored, counted, or fail the job. It needs the restart policy
  "Never".
 successPolicy Rules by which an indexed job is successful before all indexes are.
 backoffLimit Failed pods after which the job has failed, 6 by default.
 backoffLimitPerIndex Failed pods of one index after which that index has failed. It needs the mode "Indexed" and the
  restart policy "Never".
 maxFailedIndexes Failed indexes after which the job has failed. It needs backoffLimitPerIndex.
 selector Selects the pods of the job. By default the server makes one; it cannot be changed.
 manualSelector Whether selector and labels of the template are the user's own. False by default; wrong ones damage
  other jobs.
 template Pods that run. The restart policy must be "Never" or "OnFailure".
 ttlSecondsAfterFinished Seconds after its end at which the job is deleted. By default never; 0 means at once.
 completionMode "NonIndexed" (default), or "Indexed" to give each pod an index from 0 to completions - 1.
 suspend Whether the job has no running pods. Setting it ends those that run. False by default.
 podReplacementPolicy When a pod is replaced: "TerminatingOrFailed" (default) or "Failed" only when it has ended.
 managedBy Controller that manages the job, as a name with a domain. By default the built-in one. It cannot be changed.
JobStatus Numbers of pods of a job, and its end.
 conditions Conditions of the job, one of each type. "Complete" or "Failed" marks its end.
 startTime When the controller began with the job. It is reset when a suspended job is resumed.
 completionTime When the job ended successfully. Only set for completed jobs.
 active Number of running and pending pods.
 succeeded Number of pods that ended with success.
 failed Number of pods that ended with failure.
 terminating Number of pods that are being deleted and still run.
 completedIndexes Indexes that succeeded, such as "1,3-5,7", for the mode "Indexed".
 failedIndexes Indexes that failed, in the same form, if backoffLimitPerIndex is set.
 uncountedTerminatedPods Ended pods that are not yet in the counters.
 ready Number of active pods that are ready.
JobTemplateSpec Metadata and specification of the jobs of a cron job.
 metadata Labels and annotations that the jobs get.
 spec Pods, parallelism, retries and limits of the jobs that are created.
PodFailurePolicy Rules for failed pods. The first that matches decides.
 rules Rules in order, at most 20. Without a match the failure counts to backoffLimit.
PodFailurePolicyOnExitCodesRequirement A condition on exit codes.
 containerName Container whose exit code is meant. By default all containers.
 operator "In" or "NotIn" the list of values.
 values Exit codes in ascending order, 1 to 255 of them. 0 is not allowed with "In".
PodFailurePolicyOnPodConditionsPattern A condition of a failed pod that a rule looks at.
 type Type of the pod's condition.
 status Status of the condition, "True" by default.
PodFailurePolicyRule A rule for failed pods. Exactly one of the two requirements is set.
 action "FailJob", "FailIndex", "Ignore" the failure, or "Count" it.
 onExitCodes Requirement on the exit codes of the containers.
 onPodConditions Conditions of the pod of which one must match, at most 20.
SuccessPolicy Rules by which an indexed job is successful early.
 rules Rules of which one must hold, at most 20.
SuccessPolicyRule A rule of success. At least one field is set; both must hold.
 succeededIndexes Indexes that must have succeeded, such as "0-2,5".
 succeededCount Number of indexes that must have succeeded, among succeededIndexes if that is set.
UncountedTerminatedPods Ended pods that are not yet in the counters of a job.
 succeeded Uids of pods that ended with success.
 failed Uids of pods that ended with failure.
`,
  'autoscaling.v2': `
ContainerResourceMetricSource Usage of a resource by one container of the pods.
 name Name of the resource, such as "cpu" or "memory", as in the requests of the containers.
 target Wanted value of the metric.
 container Name of the container in the pods.
ContainerResourceMetricStatus Current usage of a resource by one container of the pods.
 name Name of the resource, such as "cpu" or "memory", as in the requests of the containers.
 current Current value of the metric.
 container Name of the container in the pods.
CrossVersionObjectReference Names an object in the same namespace.
 kind Kind of the object that is referred to.
 name Name of the object that is referred to.
 apiVersion Group and version of the object that is referred to.
ExternalMetricSource A metric of something outside of the cluster, such as the length of a queue.
 metric Name of the metric and a selector of its series.
 target Wanted value of the metric.
ExternalMetricStatus Current value of a metric of something outside of the cluster.
 metric Name of the metric and a selector of its series.
 current Current value of the metric.
HPAScalingPolicy How much may be scaled in a time.
 type "Pods" for a number, "Percent" for a share of the pods.
 value Amount of the change, above 0.
 periodSeconds Time in which at most this amount is changed, 1 to 1800 seconds.
HPAScalingRules Rules for one direction of scaling.
 stabilizationWindowSeconds Seconds for which former recommendations are considered, 0 to 3600. By default 0 up and 300
  down.
 selectPolicy "Max" (default) for the policy with the largest change, "Min" for the smallest, "Disabled" for no scaling
  in this direction.
 policies Policies of which one is chosen. Absent means the defaults of the direction.
HorizontalPodAutoscaler Changes the number of pods of a workload so that metrics stay near their targets.
 spec Workload, bounds and metrics.
 status Numbers of pods and metrics, as the controller last saw them.
HorizontalPodAutoscalerBehavior Rules for scaling up and down.
 scaleUp Rules for scaling up. By default the larger of 4 pods and 100 % in 15 seconds.
 scaleDown Rules for scaling down. By default down to minReplicas, after 300 seconds of stability.
HorizontalPodAutoscalerCondition A condition of an autoscaler.
 type "ScalingActive", "AbleToScale" or "ScalingLimited".
 status "True", "False" or "Unknown".
HorizontalPodAutoscalerSpec Workload, bounds and metrics of an autoscaler.
 scaleTargetRef Workload that is scaled. It must have the subresource scale.
 minReplicas Fewest pods, 1 by default. 0 needs a gate and an object or external metric.
 maxReplicas Most pods. It must not be below minReplicas.
 metrics Metrics; the one that asks for most pods decides. By default 80 % of the requested CPU.
 behavior Rules for the speed of scaling. Absent means the defaults.
HorizontalPodAutoscalerStatus State of an autoscaler, with its last decision.
 lastScaleTime When the autoscaler last changed the number of pods.
 currentReplicas Number of pods, as last seen.
 desiredReplicas Number of pods, as last computed.
 currentMetrics Values of the metrics, as last read.
 conditions Conditions of the autoscaler, one of each type.
MetricIdentifier Name of a metric with a selector.
 name Name of the metric, as its source knows it.
 selector Selects series of the metric by labels. By default only the name counts.
MetricSpec A metric with its target. The field that the type names is set.
 type "Object", "Pods", "Resource", "ContainerResource" or "External".
 object A metric of one object of the namespace.
 pods A metric of each pod, averaged over the pods.
 resource Usage of a resource that the containers of the pods request.
 containerResource Usage of a resource by one container of the pods.
 external A metric of something outside of the cluster.
MetricStatus Current value of a metric. The field that the type names is set.
 type "Object", "Pods", "Resource", "ContainerResource" or "External".
 object Current value of a metric of one object.
 pods Current value of a metric of the pods, averaged.
 resource Current usage of a resource by the pods.
 containerResource Current usage of a resource by one container of the pods.
 external Current value of a metric from outside of the cluster.
MetricTarget Wanted value of a metric.
 type "Utilization", "Value" or "AverageValue": which of the other fields says what is wanted.
 value Wanted value of the metric as a quantity.
 averageValue Wanted average over the pods, as a quantity.
 averageUtilization Wanted average share of the requests, in percent. Only for resources.
MetricValueStatus Current value of a metric.
 value Current value of the metric as a quantity.
 averageValue Current average over the pods, as a quantity.
 averageUtilization Current average share of the requests, in percent. Only for resources.
ObjectMetricSource A metric of one object of the namespace, such as the hits of an Ingress.
 describedObject Object that the metric is about.
 target Wanted value of the metric.
 metric Name of the metric and a selector of its series.
ObjectMetricStatus Current value of a metric of one object.
 metric Name of the metric and a selector of its series.
 current Current value of the metric.
 describedObject Object that the metric is about.
PodsMetricSource A metric of each pod, averaged over the pods.
 metric Name of the metric and a selector of its series.
 target Wanted value; only "AverageValue" is allowed.
PodsMetricStatus Current value of a metric of the pods.
 metric Name of the metric and a selector of its series.
 current Current value of the metric.
ResourceMetricSource Usage of a resource that the containers of the pods request.
 name Name of the resource, such as "cpu" or "memory", as in the requests of the containers.
 target Wanted value of the metric.
ResourceMetricStatus Current usage of a resource by the pods.
 name Name of the resource, such as "cpu" or "memory", as in the requests of the containers.
 current Current value of the metric.
`,
  'autoscaling.v1': `
ContainerResourceMetricSource Usage of a resource by one container, as annotations of version v1 carry it.
 targetAverageUtilization Wanted average share of the requests, in percent.
 targetAverageValue Wanted average over the pods, as a quantity.
ContainerResourceMetricStatus Current usage of a resource by one container, as annotations of version v1 carry it.
 currentAverageUtilization Current average share of the requests, in percent.
 currentAverageValue Current average over the pods, as a quantity.
ExternalMetricSource A metric from outside of the cluster, as annotations of version v1 carry it.
 metricName Name of the metric, as its source knows it.
 metricSelector Selects series of the metric by labels.
 targetValue Wanted value as a quantity. It excludes targetAverageValue.
 targetAverageValue Wanted average over the pods. It excludes targetValue.
ExternalMetricStatus Current value of a metric from outside, as annotations of version v1 carry it.
 metricName Name of the metric, as its source knows it.
 metricSelector Selects series of the metric by labels.
 currentValue Current value as a quantity.
 currentAverageValue Current average over the pods, as a quantity.
HorizontalPodAutoscalerSpec Workload and bounds of an autoscaler, with the target of CPU alone.
 targetCPUUtilizationPercentage Wanted average share of the requested CPU, in percent. By default 80.
HorizontalPodAutoscalerStatus State of an autoscaler, with the use of CPU alone.
 currentCPUUtilizationPercentage Current average share of the requested CPU, in percent.
ObjectMetricSource A metric of one object, as annotations of version v1 carry it.
 target Object that the metric is about.
 metricName Name of the metric, as its source knows it.
 targetValue Wanted value as a quantity.
 selector Selects series of the metric by labels.
 averageValue Wanted average over the pods, as a quantity.
ObjectMetricStatus Current value of a metric of one object, as annotations of version v1 carry it.
 target Object that the metric is about.
 metricName Name of the metric, as its source knows it.
 currentValue Current value as a quantity.
 selector Selects series of the metric by labels.
 averageValue Current average over the pods, as a quantity.
PodsMetricSource A metric of the pods, as annotations of version v1 carry it.
 metricName Name of the metric, as its source knows it.
 targetAverageValue Wanted average over the pods, as a quantity.
 selector Selects series of the metric by labels.
PodsMetricStatus Current value of a metric of the pods, as annotations of version v1 carry it.
 metricName Name of the metric, as its source knows it.
 currentAverageValue Current average over the pods, as a quantity.
 selector Selects series of the metric by labels.
ResourceMetricSource Usage of a resource, as annotations of version v1 carry it.
 targetAverageUtilization Wanted average share of the requests, in percent.
 targetAverageValue Wanted average over the pods, as a quantity.
ResourceMetricStatus Current usage of a resource, as annotations of version v1 carry it.
 currentAverageUtilization Current average share of the requests, in percent.
 currentAverageValue Current average over the pods, as a quantity.
Scale Number of pods of a workload, as the subresource scale shows and changes it.
 spec The number of pods that is wanted.
 status The number of pods that there are.
ScaleSpec Wanted number of pods of a workload.
 replicas Wanted number of pods, 0 or more.
ScaleStatus Actual number of pods of a workload.
 replicas Number of pods that exist.
 selector Label selector of the pods as text, as in a query parameter.
`,
  'policy.v1': `
Eviction Asks for a pod to be removed, within what disruption budgets allow. It is created as the subresource eviction
  of the pod.
 metadata Name and namespace of the pod that is to be removed.
 deleteOptions Options of the delete that follows.
PodDisruptionBudget Bounds how many pods of a set may be removed at once by evictions.
 spec Pods and how many of them may be missing.
 status How many pods may be removed at present.
PodDisruptionBudgetSpec Pods and the bound of a budget. minAvailable and maxUnavailable exclude each other.
 minAvailable Pods that must stay available, as a number or a percentage.
 selector Selects the pods. An empty selector selects all of the namespace, an absent one none.
 maxUnavailable Pods that may be unavailable, as a number or a percentage.
 unhealthyPodEvictionPolicy Whether running pods that are not ready may be evicted: "IfHealthyBudget" (default) or
  "AlwaysAllow".
PodDisruptionBudgetStatus State of a budget: how many pods may be removed.
 disruptedPods Pods whose eviction was granted and whose end the controller has not seen, with the time.
 disruptionsAllowed Number of pods that may be removed at present.
 currentHealthy Number of pods that are healthy at present.
 desiredHealthy Number of pods that must stay healthy.
 expectedPods Number of pods that the budget counts.
 conditions Conditions of the budget; "DisruptionAllowed" tells whether pods may be removed.
`,
};
