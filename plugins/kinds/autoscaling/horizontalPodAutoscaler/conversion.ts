import type {
  HorizontalPodAutoscaler as AutoscalerV1,
  MetricSpec as OlderSpec,
  MetricStatus as OlderStatus,
} from '../../../../kinds/autoscaling/v1.js';
import type {
  HorizontalPodAutoscaler as AutoscalerV2,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  HPAScalingRules,
  MetricSpec,
  MetricStatus,
} from '../../../../kinds/autoscaling/v2.js';
import type { Json } from '../../../../core/model/object.js';
import { normalize, TypeMismatch } from '../../../../core/schema/decode/decode.js';
import { typeOf } from '../../../../core/schema/table/types.js';
import { OutOfRange, readJson, writeJson } from '../../../../core/model/text/jsonText.js';
import { isAbsent, replaceMembers } from '../../../../core/model/record.js';
import type { Naming } from '../../../../core/naming.js';
import { toNewerMetrics, toOlderMetrics } from './metricForms.js';

/** The target CPU utilization of an autoscaler without metrics, in percent of the requests. */
export const DEFAULT_CPU_PERCENT = 80;

/** An autoscaler in one of its two versions. */
export type Autoscaler = AutoscalerV1 | AutoscalerV2;

/** A metric with a target for the CPU of all pods, in percent of their requests. */
export const cpuMetric = (percent: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percent } },
});

const CONDITION = 'autoscaling.v2.HorizontalPodAutoscalerCondition';

/**
 * An autoscaler that is converted. An apply also converts objects without the fields that it removes: their results
 * lack members as well, and are not validated.
 */
type Convertible<T extends Autoscaler> = Omit<T, 'spec' | 'status'> & {
  readonly spec?: Partial<T['spec']>;
  readonly status?: Partial<NonNullable<T['status']>>;
};

/** Annotations of v1 objects that contain, as JSON, the values for which v1 has no fields. */
const CARRIED = ['metrics', 'behavior', 'current-metrics', 'conditions'] as const;

const isCpu = (metric: MetricSpec): boolean =>
  metric.type === 'Resource' &&
  metric.resource?.name === 'cpu' &&
  typeof metric.resource.target.averageUtilization === 'number';

const annotationOf = (naming: Naming, what: (typeof CARRIED)[number]): string =>
  naming.label(`autoscaling.alpha.orchestrator.io/${what}`);

/** In the annotation, the members of the behavior begin with capital letters, as in upstream's unversioned type. */
function toCapitals(behavior: HorizontalPodAutoscalerBehavior): object {
  const rules = (given: HPAScalingRules | undefined): object | null =>
    given
      ? {
          StabilizationWindowSeconds: given.stabilizationWindowSeconds ?? null,
          SelectPolicy: given.selectPolicy ?? null,
          Policies: isAbsent(given.policies)
            ? null
            : given.policies.map(({ type, value, periodSeconds }) => ({
                Type: type,
                Value: value,
                PeriodSeconds: periodSeconds,
              })),
        }
      : null;
  return { ScaleUp: rules(behavior.scaleUp), ScaleDown: rules(behavior.scaleDown) };
}

/** The inverse of `toCapitals`. Members in lower case are not changed. */
function toLowerCase(value: Json): Json {
  if (Array.isArray(value)) return value.map(toLowerCase);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(
    members.map(([name, inner]) => [name.charAt(0).toLowerCase() + name.slice(1), toLowerCase(inner)]),
  );
}

/** The decoded value of an annotation; undefined if it cannot be read. */
function readCarried<T>(json: string | undefined, decode: (value: Json) => T): T | undefined {
  if (json === undefined) return undefined;
  try {
    return decode(readJson(json));
  } catch (cause) {
    if (cause instanceof SyntaxError || cause instanceof OutOfRange || cause instanceof TypeMismatch) return undefined;
    throw cause;
  }
}

/** Decodes a list of objects of a type; undefined for anything but a list. */
const listOf =
  <T>(typeId: string) =>
  (value: Json): T[] | undefined =>
    Array.isArray(value) ? value.map(item => normalize(typeOf(typeId), item, { strictErrors: [] }) as T) : undefined;

const behaviorOf = (value: Json): HorizontalPodAutoscalerBehavior =>
  normalize(typeOf('autoscaling.v2.HorizontalPodAutoscalerBehavior'), toLowerCase(value), { strictErrors: [] });

function toV2(autoscaler: Convertible<AutoscalerV1>, naming: Naming): AutoscalerV2 {
  const { targetCPUUtilizationPercentage: percent, ...spec } = autoscaler.spec ?? {};
  const { currentCPUUtilizationPercentage: used, ...status } = autoscaler.status ?? {};
  const annotations = { ...autoscaler.metadata.annotations };
  const take = <T>(what: (typeof CARRIED)[number], decode: (value: Json) => T): T | undefined => {
    const name = annotationOf(naming, what);
    const found = readCarried(annotations[name], decode);
    delete annotations[name];
    return found;
  };
  const carried = take('metrics', listOf<OlderSpec>('autoscaling.v1.MetricSpec')) ?? [];
  const behavior = take('behavior', behaviorOf);
  const measured = take('current-metrics', listOf<OlderStatus>('autoscaling.v1.MetricStatus'));
  const conditions = take('conditions', listOf<HorizontalPodAutoscalerCondition>(CONDITION));
  const metrics = [...toNewerMetrics(carried, 'target'), ...(percent === undefined ? [] : [cpuMetric(percent)])];
  const usedCpu: MetricStatus = { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: used } } };
  // The annotation has all metrics.
  const current = measured ? toNewerMetrics(measured, 'current') : used === undefined ? [] : [usedCpu];
  return {
    ...autoscaler,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(autoscaler, annotations),
    spec: {
      ...spec,
      // Upstream's conversion sets this default too: an apply in one version cannot drop all metrics of another.
      metrics: metrics.length > 0 ? metrics : [cpuMetric(DEFAULT_CPU_PERCENT)],
      ...(behavior ? { behavior } : {}),
    },
    status: {
      ...status,
      ...(current.length > 0 ? { currentMetrics: current } : {}),
      ...(conditions ? { conditions } : {}),
    },
  } as AutoscalerV2;
}

function withAnnotations(
  autoscaler: Pick<Autoscaler, 'metadata'>,
  annotations: { [key: string]: string },
): Autoscaler['metadata'] {
  const { annotations: _, ...metadata } = autoscaler.metadata;
  return Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata;
}

function toV1(autoscaler: Convertible<AutoscalerV2>, naming: Naming): AutoscalerV1 {
  const { metrics, behavior, ...spec } = autoscaler.spec ?? {};
  const {
    currentMetrics,
    conditions,
    // v1 always shows both counts.
    currentReplicas = 0,
    desiredReplicas = 0,
    ...status
  } = autoscaler.status ?? {};
  const annotations = { ...autoscaler.metadata.annotations };
  const carry = (what: (typeof CARRIED)[number], value: object | undefined): void => {
    if (value && !(Array.isArray(value) && value.length === 0))
      annotations[annotationOf(naming, what)] = writeJson(value);
  };
  const others = (metrics ?? []).filter(metric => !isCpu(metric));
  carry('metrics', toOlderMetrics(others, 'target'));
  carry('behavior', behavior && toCapitals(behavior));
  carry('current-metrics', toOlderMetrics(currentMetrics ?? [], 'current'));
  carry('conditions', conditions);
  const target = metrics?.find(isCpu)?.resource?.target.averageUtilization;
  const cpu = currentMetrics?.find(({ type, resource }) => type === 'Resource' && resource?.name === 'cpu');
  const used = cpu?.resource?.current.averageUtilization;
  return {
    ...autoscaler,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(autoscaler, annotations),
    spec: { ...spec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    status: {
      ...status,
      currentReplicas,
      desiredReplicas,
      ...(used === undefined ? {} : { currentCPUUtilizationPercentage: used }),
    },
  } as AutoscalerV1;
}

/** Whether an object of v1 has a value in an annotation. */
export const isCarried = (autoscaler: Autoscaler, what: (typeof CARRIED)[number], naming: Naming): boolean =>
  autoscaler.metadata.annotations?.[annotationOf(naming, what)] !== undefined;

/** Rewrites the annotations of an object of v1 as the server writes them. Those that cannot be read are removed. */
export function normalizeCarried(autoscaler: AutoscalerV1, naming: Naming): void {
  if (CARRIED.some(what => isCarried(autoscaler, what, naming)))
    replaceMembers(autoscaler, toV1(toV2(autoscaler, naming), naming));
}

/** Whether an autoscaler is one of version 1. */
export const isV1 = (autoscaler: Autoscaler): autoscaler is AutoscalerV1 => autoscaler.apiVersion === 'autoscaling/v1';

/** An autoscaler of any version in version 1. */
export const asV1 = (autoscaler: Autoscaler, naming: Naming): AutoscalerV1 =>
  isV1(autoscaler) ? autoscaler : toV1(autoscaler, naming);

/** An autoscaler of any version in version 2, which is stored. */
export const asV2 = (autoscaler: Autoscaler, naming: Naming): AutoscalerV2 =>
  isV1(autoscaler) ? toV2(autoscaler, naming) : autoscaler;
