import type { Pod, ContainerStatus, ContainerStateTerminated } from '../../../../kinds/v1.js';
import type { Column } from '../../../../core/api/strategy.js';
import type { CellValue } from '../../../../core/model/age.js';
import { AGE, column, conditionOf, isConditionTrue, NAME, wideColumn } from '../../shared/columns.js';

/** The state of a pod's containers, for its columns. */
interface Summary {
  readonly ready: number;
  readonly total: number;
  readonly status: string;
  readonly restarts: number;
  /** When a container last ended before a restart, in milliseconds; 0 if never. */
  readonly lastRestart: number;
}

interface Tally {
  restarts: number;
  lastRestart: number;
}

function addRestarts(tally: Tally, status: ContainerStatus): void {
  tally.restarts += status.restartCount;
  const finished = Date.parse(status.lastState.terminated?.finishedAt ?? '');
  if (finished > tally.lastRestart) tally.lastRestart = finished;
}

/** Why a container ended: its reason, else its signal, else its exit code. */
function endReason(terminated: ContainerStateTerminated): string {
  const signal = terminated.signal ?? 0;
  return (terminated.reason ?? '') || (signal !== 0 ? `Signal:${signal}` : `ExitCode:${terminated.exitCode}`);
}

/** The status of a pod whose init containers have not completed; undefined if they have. */
function initStatus(status: ContainerStatus, sidecar: boolean, position: number, total: number): string | undefined {
  const terminated = status.state.terminated;
  if (terminated !== undefined && terminated.exitCode === 0) return undefined;
  if (sidecar && status.started === true) return undefined;
  if (terminated !== undefined) return `Init:${endReason(terminated)}`;
  const waiting = status.state.waiting?.reason ?? '';
  return waiting !== '' && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${position}/${total}`;
}

/**
 * Status and number of ready containers of the main containers. The first container with a reason determines the
 * status.
 */
function mainStatus(pod: Pod, tally: Tally, before: string): { status: string; ready: number } {
  let status = before;
  let ready = 0;
  for (const container of (pod.status?.containerStatuses ?? []).toReversed()) {
    addRestarts(tally, container);
    const terminated = container.state.terminated;
    const waiting = container.state.waiting?.reason ?? '';
    if (waiting !== '') status = waiting;
    else if (terminated !== undefined) status = endReason(terminated);
    else if (container.ready === true && container.state.running !== undefined) ready++;
  }
  if (status === 'Completed' && ready > 0) status = isConditionTrue(pod, 'Ready') ? 'Running' : 'NotReady';
  return { status, ready };
}

/** The status of a pod that is being deleted, unless it has already ended. */
function deletionStatus(pod: Pod, status: string): string {
  if (!pod.metadata.deletionTimestamp) return status;
  if (pod.status?.reason === 'NodeLost') return 'Unknown';
  const phase = pod.status?.phase;
  return phase === 'Succeeded' || phase === 'Failed' ? status : 'Terminating';
}

/** Summaries by pod, because three columns of a row use the same one. */
const made = new WeakMap<Pod, Summary>();

/** The summary of a pod, computed once. The pod must not be changed afterwards. */
function cachedSummary(pod: Pod): Summary {
  let summary = made.get(pod);
  if (!summary) made.set(pod, (summary = summarize(pod)));
  return summary;
}

/** Summarizes the states of all containers as command-line clients show them. */
function summarize(pod: Pod): Summary {
  const specs = pod.spec.initContainers ?? [];
  const sidecars = new Set(specs.filter(spec => spec.restartPolicy === 'Always').map(spec => spec.name));
  let status = (pod.status?.reason ?? '') || (pod.status?.phase ?? '');
  if (conditionOf(pod, 'PodScheduled')?.reason === 'SchedulingGated') status = 'SchedulingGated';
  const all: Tally = { restarts: 0, lastRestart: 0 };
  const lasting: Tally = { restarts: 0, lastRestart: 0 };
  let ready = 0;
  let held: string | undefined;
  for (const [position, container] of (pod.status?.initContainerStatuses ?? []).entries()) {
    const sidecar = sidecars.has(container.name);
    addRestarts(all, container);
    if (sidecar) addRestarts(lasting, container);
    held = initStatus(container, sidecar, position, specs.length);
    if (held !== undefined) break;
    if (sidecar && container.started === true && container.ready === true) ready++;
  }
  let tally = all;
  if (held !== undefined) status = held;
  if (held === undefined || isConditionTrue(pod, 'Initialized')) {
    tally = lasting;
    const main = mainStatus(pod, tally, status);
    status = main.status;
    ready += main.ready;
  }
  const total = (pod.spec.containers ?? []).length + sidecars.size;
  return {
    ready,
    total,
    status: deletionStatus(pod, status),
    restarts: tally.restarts,
    lastRestart: tally.lastRestart,
  };
}

function restartsCell(pod: Pod): CellValue {
  const { restarts, lastRestart } = cachedSummary(pod);
  if (restarts <= 0 || lastRestart <= 0) return String(restarts);
  return { since: lastRestart, before: `${restarts} (`, after: ' ago)' };
}

function readinessGatesCell(pod: Pod): string {
  const gates = pod.spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const conditions = (pod.status?.conditions ?? []).filter(entry => entry.status === 'True');
  const met = new Set(conditions.map(entry => entry.type));
  return `${gates.filter(gate => met.has(gate.conditionType)).length}/${gates.length}`;
}

/** Columns of pods. */
export const podColumns: readonly Column<Pod>[] = [
  NAME,
  column(
    'Ready',
    pod => {
      const { ready, total } = cachedSummary(pod);
      return `${ready}/${total}`;
    },
    { description: 'Containers that are ready, of all that keep running.' },
  ),
  column('Status', pod => cachedSummary(pod).status, { description: 'State of the pod, or why it is not running.' }),
  column('Restarts', restartsCell, { description: 'How often containers were restarted, and when last.' }),
  AGE,
  wideColumn('IP', pod => ((pod.status?.podIPs ?? [])[0]?.ip ?? '') || '<none>'),
  wideColumn('Node', object => object.spec.nodeName || '<none>'),
  wideColumn('Nominated Node', object => object.status?.nominatedNodeName || '<none>'),
  wideColumn('Readiness Gates', readinessGatesCell),
];
