import { readJson, writeJson } from '../../../../core/model/jsonText.js';
import type { ApiObject } from '../../../../core/model/object.js';
import {
  isAbsent,
  isRecord,
  recordAt,
  recordsAt,
  replaceMembers,
  setDefault,
  stringAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import type { Naming } from '../../../../core/naming.js';
import { toNewerMetrics, toOlderMetrics } from './metricForms.js';

/** The use of CPU that is aimed at where an autoscaler has no metrics, in percent of the requests. */
export const DEFAULT_CPU_PERCENT = 80;

/** A metric with a target for the CPU of all pods, in percent of their requests. */
export const cpuMetric = (percent: unknown): UnknownRecord => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percent } },
});

/** Annotations of v1 objects that contain, as JSON, what v1 has no fields for. */
const CARRIED = ['metrics', 'behavior', 'current-metrics', 'conditions'] as const;

const isCpu = (metric: UnknownRecord): boolean =>
  metric.type === 'Resource' &&
  stringAt(metric, 'resource', 'name') === 'cpu' &&
  typeof recordAt(metric, 'resource', 'target')?.averageUtilization === 'number';

const annotationOf = (naming: Naming, what: (typeof CARRIED)[number]): string =>
  naming.label(`autoscaling.alpha.orchestrator.io/${what}`);

/** In the annotation, the members of the behavior begin with capital letters, as in upstream's unversioned type. */
function toCapitals(behavior: UnknownRecord): UnknownRecord {
  const rules = (given: UnknownRecord | undefined): UnknownRecord | null =>
    given
      ? {
          StabilizationWindowSeconds: given.stabilizationWindowSeconds ?? null,
          SelectPolicy: given.selectPolicy ?? null,
          Policies: isAbsent(given.policies)
            ? null
            : recordsAt(given, 'policies').map(({ type, value, periodSeconds }) => ({
                Type: type,
                Value: value,
                PeriodSeconds: periodSeconds,
              })),
        }
      : null;
  return { ScaleUp: rules(recordAt(behavior, 'scaleUp')), ScaleDown: rules(recordAt(behavior, 'scaleDown')) };
}

/** The inverse of `toCapitals`. Members in lower case are not changed. */
function toLowerCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toLowerCase);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(
    members.map(([name, inner]) => [name.charAt(0).toLowerCase() + name.slice(1), toLowerCase(inner)]),
  );
}

function tryParse(json: string | undefined): unknown {
  if (json === undefined) return undefined;
  try {
    return readJson(json);
  } catch {
    return undefined;
  }
}

function toV2(autoscaler: ApiObject, naming: Naming): ApiObject {
  const { targetCPUUtilizationPercentage: percent, ...spec } = recordAt(autoscaler, 'spec') ?? {};
  const { currentCPUUtilizationPercentage: current, ...status } = recordAt(autoscaler, 'status') ?? {};
  const annotations = { ...autoscaler.metadata.annotations };
  const carried = CARRIED.map(what => {
    const found = tryParse(annotations[annotationOf(naming, what)]);
    delete annotations[annotationOf(naming, what)];
    return found;
  });
  const [metrics, behavior, currentMetrics, conditions] = carried;
  const all = [...(toNewerMetrics(metrics, 'target') ?? []), ...(isAbsent(percent) ? [] : [cpuMetric(percent)])];
  // As upstream, whose conversion sets this default: an apply in one version cannot drop all metrics of another.
  spec.metrics = all.length > 0 ? all : [cpuMetric(DEFAULT_CPU_PERCENT)];
  if (isRecord(behavior)) spec.behavior = toLowerCase(behavior);
  const usedCpu = { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } };
  // The annotation has all metrics.
  const now = toNewerMetrics(currentMetrics, 'current') ?? (isAbsent(current) ? [] : [usedCpu]);
  if (now.length > 0) status.currentMetrics = now;
  if (Array.isArray(conditions) && conditions.every(isRecord)) status.conditions = conditions;
  return {
    ...autoscaler,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(autoscaler, annotations),
    spec,
    status,
  };
}

function withAnnotations(autoscaler: ApiObject, annotations: { [key: string]: string }): ApiObject['metadata'] {
  const { annotations: _, ...metadata } = autoscaler.metadata;
  return Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata;
}

function toV1(autoscaler: ApiObject, naming: Naming): ApiObject {
  const { metrics: _m, behavior, ...spec } = recordAt(autoscaler, 'spec') ?? {};
  const { currentMetrics: _c, conditions, ...status } = recordAt(autoscaler, 'status') ?? {};
  // v1 always shows both counts.
  setDefault(status, 'currentReplicas', 0);
  setDefault(status, 'desiredReplicas', 0);
  const metrics = recordsAt(autoscaler, 'spec', 'metrics');
  const cpu = metrics.find(isCpu);
  if (cpu) spec.targetCPUUtilizationPercentage = recordAt(cpu, 'resource', 'target')?.averageUtilization;
  const current = recordsAt(autoscaler, 'status', 'currentMetrics');
  const currentCpu = current.find(m => m.type === 'Resource' && stringAt(m, 'resource', 'name') === 'cpu');
  const utilization = recordAt(currentCpu, 'resource', 'current')?.averageUtilization;
  if (typeof utilization === 'number') status.currentCPUUtilizationPercentage = utilization;
  const annotations = { ...autoscaler.metadata.annotations };
  const carry = (what: (typeof CARRIED)[number], value: unknown): void => {
    if (isRecord(value) || (Array.isArray(value) && value.length > 0))
      annotations[annotationOf(naming, what)] = writeJson(value);
  };
  const others = metrics.filter(metric => !isCpu(metric));
  carry('metrics', toOlderMetrics(others, 'target'));
  carry('behavior', isRecord(behavior) ? toCapitals(behavior) : undefined);
  carry('current-metrics', toOlderMetrics(current, 'current'));
  carry('conditions', conditions);
  return {
    ...autoscaler,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(autoscaler, annotations),
    spec,
    status,
  };
}

/** Whether an object of v1 has a value in an annotation. */
export const isCarried = (autoscaler: ApiObject, what: (typeof CARRIED)[number], naming: Naming): boolean =>
  autoscaler.metadata.annotations?.[annotationOf(naming, what)] !== undefined;

/** Rewrites the annotations of an object of v1 as the server writes them. Those that cannot be read are removed. */
export function normalizeCarried(autoscaler: ApiObject, naming: Naming): void {
  if (CARRIED.some(what => isCarried(autoscaler, what, naming)))
    replaceMembers(autoscaler, toV1(toV2(autoscaler, naming), naming));
}

/** Converts an autoscaler to another version; v2 is stored. */
export function convertAutoscaler(autoscaler: ApiObject, apiVersion: string, naming: Naming): ApiObject {
  if (autoscaler.apiVersion === apiVersion) return autoscaler;
  return apiVersion === 'autoscaling/v1' ? toV1(autoscaler, naming) : toV2(autoscaler, naming);
}
