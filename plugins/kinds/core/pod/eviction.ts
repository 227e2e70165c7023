import type { Time } from '../../../../core/model/scalars.js';
import type { Eviction, PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../../../kinds/policy/v1.js';
import type { Pod } from '../../../../kinds/v1.js';
import type { StrategyContext, SubresourceDeletion } from '../../../../core/api/strategy.js';
import { requirementsOf } from '../../../../core/model/selectors/labelSelector.js';
import { Refusal } from '../../../../core/model/refusal.js';
import { matchesLabels } from '../../../../core/model/selectors/selector.js';
import { setCondition } from '../../shared/conditions.js';

/** The storage name of budgets, for `Strategy.reads`. */
export const BUDGETS = 'policy/poddisruptionbudgets';

/** Largest number of pods that a budget may list as evicted before its controller has seen that they are gone. */
const DISRUPTED_PODS = 2000;
/** Seconds after which a client may try again while the controller has not seen the newest budget. */
const PROCESSING_SECONDS = 10;

const VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget.";

/**
 * The eviction of a pod: a delete that a disruption budget of the pod must allow (spec, "What the service does"; R012,
 * R479, R480). The budget counts it in the same transaction. Throws 429 if the budget forbids it, 403 for a budget
 * whose status makes no sense, and 500 for a pod with several budgets.
 */
export const evictPod: SubresourceDeletion<Pod> = (body, pod, context) => {
  const budget = protectingBudget(pod, context);
  const status = (pod.status ??= {});
  const before = (status.conditions ?? []).find(({ type }) => type === 'DisruptionTarget');
  setCondition(status, {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: before?.status === 'True' ? before.lastTransitionTime : context.now,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  });
  return {
    options: (body as Eviction).deleteOptions ?? {},
    object: pod,
    changes: budget ? [{ storageName: BUDGETS, object: countEviction(budget, pod, context.now) }] : [],
  };
};

/** The budget that has to count the eviction; undefined if no budget protects the pod. */
function protectingBudget(pod: Pod, context: StrategyContext): PodDisruptionBudget | undefined {
  if (hasEnded(pod)) return undefined;
  const budgets = (context.list(BUDGETS) as readonly PodDisruptionBudget[]).filter(budget => selects(budget, pod));
  if (budgets.length > 1)
    throw new Refusal(
      '',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  const [budget] = budgets;
  return budget && (isReady(pod) || !allowsUnready(budget)) ? budget : undefined;
}

/** Whether a pod does no work that a budget could protect: it has ended, not begun, or is being deleted. */
const hasEnded = (pod: Pod): boolean =>
  pod.metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(pod.status?.phase ?? '');

/** An empty selector selects all pods of the namespace, an absent one none. */
function selects(budget: PodDisruptionBudget, pod: Pod): boolean {
  const selector = budget.spec.selector;
  return (
    selector !== undefined &&
    budget.metadata.namespace === pod.metadata.namespace &&
    matchesLabels(requirementsOf(selector), pod.metadata.labels ?? {})
  );
}

const isReady = (pod: Pod): boolean =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

/** Whether a budget allows the eviction of pods that are not ready: always, or while enough others are healthy. */
function allowsUnready(budget: PodDisruptionBudget): boolean {
  if ((budget.spec.unhealthyPodEvictionPolicy ?? '') === 'AlwaysAllow') return true;
  const desired = budget.status?.desiredHealthy ?? 0;
  return desired > 0 && (budget.status?.currentHealthy ?? 0) >= desired;
}

/** The status of a budget that its controller has not seen. */
const NO_STATUS: PodDisruptionBudgetStatus = {
  disruptionsAllowed: 0,
  currentHealthy: 0,
  desiredHealthy: 0,
  expectedPods: 0,
};

/** The budget with one allowed disruption fewer. Throws 429 and 403. */
function countEviction(current: PodDisruptionBudget, pod: Pod, now: Time): PodDisruptionBudget {
  const budget = structuredClone(current);
  const { name = '', generation = 0 } = budget.metadata;
  const status = (budget.status ??= { ...NO_STATUS });
  if ((status.observedGeneration ?? 0) < generation)
    throw violated(`The disruption budget ${name} is still being processed by the server.`, PROCESSING_SECONDS);
  const allowed = status.disruptionsAllowed;
  if (allowed < 0) throw senseless(name, 'pdb disruptions allowed is negative');
  const disrupted = (status.disruptedPods ??= {});
  if (Object.keys(disrupted).length > DISRUPTED_PODS)
    throw senseless(name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  if (allowed === 0)
    throw violated(
      `The disruption budget ${name} needs ${status.desiredHealthy} healthy pods and has ${status.currentHealthy} currently`,
    );
  status.disruptionsAllowed = allowed - 1;
  disrupted[pod.metadata.name!] = now;
  if (allowed === 1) setDisallowed(status, now);
  return budget;
}

/** Sets the condition that the budget allows no further disruption. */
function setDisallowed(status: PodDisruptionBudgetStatus, now: Time): void {
  const before = (status.conditions ?? []).find(({ type }) => type === 'DisruptionAllowed');
  setCondition(status, {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration: status.observedGeneration,
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : now,
    reason: 'InsufficientPods',
    message: '',
  });
}

/** 429: the budget does not allow the eviction now. */
const violated = (message: string, retryAfterSeconds?: number): Refusal =>
  new Refusal('TooManyRequests', VIOLATED, {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(retryAfterSeconds ? { retryAfterSeconds } : {}),
  });

/** 403: the status of a budget makes no sense. */
const senseless = (name: string, why: string): Refusal =>
  new Refusal('Forbidden', `poddisruptionbudget.policy ${JSON.stringify(name)} is forbidden: ${why}`, {
    name,
    group: 'policy',
    kind: 'poddisruptionbudget',
  });
