import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import type { Naming } from '../../../core/naming.js';
import { labelSelectorText } from '../../../core/model/labelSelector.js';
import { absent, at, entries, fill, list, num, spec } from '../record.js';
import { templateDefaults } from '../pod-defaults.js';
import { templateViolations } from '../validation/pod-spec.js';
import { replicaSetStatusViolations, replicationControllerViolations } from '../validation/workload.js';

/** Rules of ServiceAccounts: who newly limits their Secrets is warned. */
export const serviceAccount = (naming: Naming): Partial<Strategy> => {
  const limit = naming.label('orchestrator.io/enforce-mountable-secrets');
  const why = `metadata.annotations[${limit}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`;
  const limits = ({ metadata }: ApiObject): boolean => Object.hasOwn(metadata.annotations ?? {}, limit);
  return {
    deleteAnswer: 'object',
    validateCreate: (object, rules) => {
      if (limits(object)) rules.warn?.(why);
      return [];
    },
    validateUpdate: (object, old, rules) => {
      if (limits(object) && !limits(old)) rules.warn?.(why);
      return [];
    },
  };
};

/** Rules of ResourceQuotas. */
export const resourceQuota = (): Partial<Strategy> => ({ hasStatus: true, deleteAnswer: 'object' });

/** Rules of LimitRanges: for containers, what is allowed at most is the default limit, which is the default request. */
export const limitRange = (): Partial<Strategy> => ({
  createOnUpdate: true,
  defaults: object => {
    for (const limit of list(at(object, 'spec'), 'limits')) {
      if (limit.type !== 'Container') continue;
      copyAbsent(limit, 'max', 'default');
      copyAbsent(limit, 'default', 'defaultRequest');
      copyAbsent(limit, 'min', 'defaultRequest');
    }
  },
});

function copyAbsent(owner: { [member: string]: unknown }, from: string, to: string): void {
  const amounts = entries(owner, from);
  if (amounts.length === 0) return;
  const target = new Map(entries(owner, to));
  for (const [name, amount] of amounts) if (absent(target.get(name))) target.set(name, amount);
  owner[to] = Object.fromEntries(target);
}

/** Rules of PodTemplates. */
export const podTemplate = (): Partial<Strategy> => ({
  hasGeneration: true,
  deleteAnswer: 'object',
  defaults: object => templateDefaults(at(object, 'template')),
  validateCreate: object => templateViolations(at(object, 'template'), 'template'),
  validateUpdate: object => templateViolations(at(object, 'template'), 'template'),
});

/** Rules of ReplicationControllers: selector and labels follow the template's labels. */
export const replicationController = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  orphansByDefault: true,
  defaults: object => {
    const s = spec(object);
    fill(s, 'replicas', 1);
    const labels = at(s, 'template', 'metadata', 'labels');
    if (labels) {
      if (entries(s, 'selector').length === 0) s.selector = { ...labels };
      if (Object.keys(object.metadata.labels ?? {}).length === 0) {
        object.metadata.labels = Object.fromEntries(Object.entries(labels).map(([k, v]) => [k, String(v)]));
      }
    }
    templateDefaults(at(s, 'template'));
  },
  prepareCreate: object => {
    object.status = { replicas: 0 };
  },
  validateCreate: replicationControllerViolations,
  validateUpdate: object => replicationControllerViolations(object),
  validateStatus: replicaSetStatusViolations,
  selectableFields: new Map([['status.replicas', object => String(num(at(object, 'status'), 'replicas') ?? 0)]]),
  scale: {
    spec: ['spec', 'replicas'],
    status: ['status', 'replicas'],
    selector: object => labelSelectorText({ matchLabels: at(object, 'spec', 'selector') }),
    missing: { group: 'autoscaling', resource: 'replicationcontrollers/scale' },
  },
});
