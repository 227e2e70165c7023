import { isRecord, recordAt, type UnknownRecord } from '../../../model/record.js';
import { ensure, fill, type Rewrite, type Rewrites } from './rewrite.js';

/** In old versions, an absent limit meant no limit; new ones have a smaller default. */
const NO_LIMIT = 2 ** 31 - 1;

/** In old versions, a workload without a selector selected the labels of its template. */
function fillSelector(spec: UnknownRecord): void {
  const labels = recordAt(spec, 'template', 'metadata', 'labels');
  if (labels && !isRecord(spec['selector'])) spec['selector'] = { matchLabels: { ...labels } };
}

const fillType = (spec: UnknownRecord, member: string, type: string): void => fill(ensure(spec, member), 'type', type);

const deployment =
  (defaults: { readonly history: number; readonly deadline?: number; readonly step?: number }): Rewrite =>
  object => {
    const spec = ensure(object, 'spec');
    fillSelector(spec);
    delete spec['rollbackTo'];
    fill(spec, 'revisionHistoryLimit', defaults.history);
    if (defaults.deadline !== undefined) fill(spec, 'progressDeadlineSeconds', defaults.deadline);
    const strategy = recordAt(spec, 'strategy') ?? {};
    if (defaults.step === undefined || (strategy['type'] ?? 'RollingUpdate') !== 'RollingUpdate') return;
    fillType(spec, 'strategy', 'RollingUpdate');
    const rolling = ensure(ensure(spec, 'strategy'), 'rollingUpdate');
    fill(rolling, 'maxUnavailable', defaults.step);
    fill(rolling, 'maxSurge', defaults.step);
  };

const daemonSet: Rewrite = object => {
  const spec = ensure(object, 'spec');
  fillSelector(spec);
  delete spec['templateGeneration'];
  fillType(spec, 'updateStrategy', 'OnDelete');
};

const statefulSet: Rewrite = object => {
  const spec = ensure(object, 'spec');
  fillSelector(spec);
  fillType(spec, 'updateStrategy', 'OnDelete');
};

const replicaSet: Rewrite = object => fillSelector(ensure(object, 'spec'));

/** Workloads of extensions/v1beta1. */
export const EXTENSIONS_WORKLOADS: Rewrites = {
  DaemonSet: daemonSet,
  Deployment: deployment({ history: NO_LIMIT, deadline: NO_LIMIT, step: 1 }),
  ReplicaSet: replicaSet,
};

/** Workloads of apps/v1beta1. */
export const APPS_V1BETA1: Rewrites = {
  Deployment: deployment({ history: 2 }),
  ReplicaSet: replicaSet,
  StatefulSet: statefulSet,
};

/** Workloads of apps/v1beta2, which has the defaults of v1, and requires the selector. */
export const APPS_V1BETA2: Rewrites = {
  DaemonSet: object => delete ensure(object, 'spec')['templateGeneration'],
};
