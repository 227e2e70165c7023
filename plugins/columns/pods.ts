import type { Column } from '../../core/api/strategy.js';
import type { ApiObject } from '../../core/model/object.js';
import { AGE, at, column, condition, isTrue, list, member, NAME, num, since, str, text, wide } from './cells.js';

/** What the columns of a pod say about its containers. */
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

function addRestarts(tally: Tally, status: unknown): void {
  tally.restarts += num(member(status, 'restartCount'));
  const finished = Date.parse(str(at(status, 'lastState', 'terminated', 'finishedAt')));
  if (finished > tally.lastRestart) tally.lastRestart = finished;
}

/** Why a container ended: its reason, else its signal, else its exit code. */
function ending(terminated: unknown): string {
  const signal = num(member(terminated, 'signal'));
  return (
    str(member(terminated, 'reason')) ||
    (signal !== 0 ? `Signal:${signal}` : `ExitCode:${num(member(terminated, 'exitCode'))}`)
  );
}

/**
 * What a container in its current state says about an unfinished initialisation; undefined if it does not hold it up.
 */
function initialising(status: unknown, sidecar: boolean, position: number, total: number): string | undefined {
  const terminated = at(status, 'state', 'terminated');
  if (terminated !== undefined && num(member(terminated, 'exitCode')) === 0) return undefined;
  if (sidecar && member(status, 'started') === true) return undefined;
  if (terminated !== undefined) return `Init:${ending(terminated)}`;
  const waiting = str(at(status, 'state', 'waiting', 'reason'));
  return waiting !== '' && waiting !== 'PodInitializing' ? `Init:${waiting}` : `Init:${position}/${total}`;
}

/** State of the main containers: the first in the list that has something to say wins, so it is read last. */
function mainContainers(pod: ApiObject, tally: Tally, before: string): { status: string; ready: number } {
  let status = before;
  let ready = 0;
  for (const container of list(at(pod, 'status', 'containerStatuses')).toReversed()) {
    addRestarts(tally, container);
    const terminated = at(container, 'state', 'terminated');
    const waiting = str(at(container, 'state', 'waiting', 'reason'));
    if (waiting !== '') status = waiting;
    else if (terminated !== undefined) status = ending(terminated);
    else if (member(container, 'ready') === true && at(container, 'state', 'running') !== undefined) ready++;
  }
  if (status === 'Completed' && ready > 0) status = isTrue(pod, 'Ready') ? 'Running' : 'NotReady';
  return { status, ready };
}

/** Deletion goes before everything else, except for pods that already ended. */
function whileDeleted(pod: ApiObject, status: string): string {
  if (!pod.metadata.deletionTimestamp) return status;
  if (at(pod, 'status', 'reason') === 'NodeLost') return 'Unknown';
  const phase = at(pod, 'status', 'phase');
  return phase === 'Succeeded' || phase === 'Failed' ? status : 'Terminating';
}

/** Summaries made: three columns of a row show parts of one. */
const made = new WeakMap<ApiObject, Summary>();

/**
 * Sums up the states of all containers of a pod the way command-line clients show them. The pod must not change any
 * more.
 */
function summarise(pod: ApiObject): Summary {
  let summary = made.get(pod);
  if (!summary) made.set(pod, (summary = summaryOf(pod)));
  return summary;
}

function summaryOf(pod: ApiObject): Summary {
  const specs = list(at(pod, 'spec', 'initContainers'));
  const sidecars = new Set(
    specs.filter(spec => member(spec, 'restartPolicy') === 'Always').map(spec => member(spec, 'name')),
  );
  let status = str(at(pod, 'status', 'reason')) || str(at(pod, 'status', 'phase'));
  if (member(condition(pod, 'PodScheduled'), 'reason') === 'SchedulingGated') status = 'SchedulingGated';
  const all: Tally = { restarts: 0, lastRestart: 0 };
  const lasting: Tally = { restarts: 0, lastRestart: 0 };
  let ready = 0;
  let held: string | undefined;
  for (const [position, container] of list(at(pod, 'status', 'initContainerStatuses')).entries()) {
    const sidecar = sidecars.has(member(container, 'name'));
    addRestarts(all, container);
    if (sidecar) addRestarts(lasting, container);
    held = initialising(container, sidecar, position, specs.length);
    if (held !== undefined) break;
    if (sidecar && member(container, 'started') === true && member(container, 'ready') === true) ready++;
  }
  let tally = all;
  if (held !== undefined) status = held;
  if (held === undefined || isTrue(pod, 'Initialized')) {
    tally = lasting;
    const main = mainContainers(pod, tally, status);
    status = main.status;
    ready += main.ready;
  }
  const total = list(at(pod, 'spec', 'containers')).length + sidecars.size;
  return { ready, total, status: whileDeleted(pod, status), restarts: tally.restarts, lastRestart: tally.lastRestart };
}

function restarts(pod: ApiObject, now: number): string {
  const summary = summarise(pod);
  const last = summary.restarts > 0 && summary.lastRestart > 0;
  return last
    ? `${summary.restarts} (${since(new Date(summary.lastRestart).toISOString(), now)} ago)`
    : String(summary.restarts);
}

function readinessGates(pod: ApiObject): string {
  const gates = list(at(pod, 'spec', 'readinessGates'));
  if (gates.length === 0) return '<none>';
  const conditions = list(at(pod, 'status', 'conditions')).filter(entry => member(entry, 'status') === 'True');
  const met = new Set(conditions.map(entry => member(entry, 'type')));
  return `${gates.filter(gate => met.has(member(gate, 'conditionType'))).length}/${gates.length}`;
}

/** Columns of pods. */
export const PODS: readonly Column[] = [
  NAME,
  column(
    'Ready',
    pod => {
      const { ready, total } = summarise(pod);
      return `${ready}/${total}`;
    },
    { description: 'Containers that are ready, of all that keep running.' },
  ),
  column('Status', pod => summarise(pod).status, { description: 'State of the pod, or why it is not running.' }),
  column('Restarts', restarts, { description: 'How often containers were restarted, and when last.' }),
  AGE,
  wide('IP', pod => str(member(list(at(pod, 'status', 'podIPs'))[0], 'ip')) || '<none>'),
  wide('Node', text('spec.nodeName', '<none>')),
  wide('Nominated Node', text('status.nominatedNodeName', '<none>')),
  wide('Readiness Gates', readinessGates),
];
