import type { ResourceQuota } from '../../../../kinds/v1.js';
import {
  type ApiObject,
  controller,
  type Controller,
  type Frozen,
  type Host,
  type KeyOf,
  type Plugin,
  reconciler,
  Refusal,
  type ResourceEvent,
} from '../../../../core/api/index.js';
import { monotonicTime } from '../../../../core/runtime/clock.js';
import { formatQuantity } from '../../../../core/model/quantity.js';
import { type Amounts, amountsOf } from '../../limitRanger/amounts.js';
import { ObjectCounts } from './counts.js';
import { UsageCounter } from './counter.js';

const QUOTAS = 'core/resourcequotas';
/** How often all quotas are counted, in milliseconds: pods whose grace period has ended no longer use anything. */
const RECOUNT_MS = 5 * 60_000;
/**
 * How long the changes of a quota are gathered, in milliseconds: admission changes it with each object. The time
 * doubles while changes go on.
 */
const GATHER_MS = { min: 50, max: 2000 };
/** The largest share of the time in which one quota may be counted. */
const SHARE = 1 / 5;
/** Admission may change a quota between two attempts. */
const BACK_OFF = { min: 5, max: 1000 };

type Quota = Frozen<ResourceQuota>;

const isEqual = (a: Amounts, b: Amounts): boolean =>
  a.size === b.size && [...a].every(([name, { nano }]) => b.get(name)?.nano === nano);

const written = (amounts: Amounts): { [resource: string]: string } =>
  Object.fromEntries(
    [...amounts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, amount]) => [name, formatQuantity(amount)]),
  );

/** The known state of a quota. */
interface Known {
  /** The quota at its last change. */
  quota: () => Quota;
  /** When its changes are processed, by the clock of `performance`; 0: there are none. */
  lookAt: number;
  /** How long its changes are gathered, and until when that time grows. */
  gatherMs: number;
  growsUntil: number;
  /** Whether it is to be counted. */
  isDue: boolean;
  /** When it may be counted again, by the clock of `performance`. */
  countAt: number;
}

function lookLater(known: Known, now: number): void {
  known.gatherMs = now < known.growsUntil ? Math.min(known.gatherMs * 2, GATHER_MS.max) : GATHER_MS.min;
  known.lookAt = now + known.gatherMs;
  known.growsUntil = known.lookAt + GATHER_MS.max;
}

/** The quotas of all namespaces. */
class Quotas {
  readonly #namespaces = new Map<string, Map<string, Known>>();

  /** Takes a change of a quota. Returns whether it must be reconciled. */
  take({ type, namespace, name, object }: ResourceEvent<ResourceQuota>): boolean {
    let quotas = this.#namespaces.get(namespace);
    if (type === 'DELETED') {
      quotas?.delete(name);
      if (quotas?.size === 0) this.#namespaces.delete(namespace);
      return false;
    }
    if (!quotas) this.#namespaces.set(namespace, (quotas = new Map()));
    const known = quotas.get(name);
    if (!known) quotas.set(name, { quota: object, lookAt: 0, gatherMs: 0, growsUntil: 0, isDue: true, countAt: 0 });
    else {
      known.quota = object;
      if (type === 'ADDED') known.isDue = true;
      else if (known.lookAt > 0) return false;
      else lookLater(known, monotonicTime());
    }
    return true;
  }

  get(namespace: string, name: string): Known | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  of(namespace: string): Iterable<[string, Known]> {
    return this.#namespaces.get(namespace) ?? [];
  }
}

/** Whether the status shows the limits of the spec, with an amount for each that can be counted. */
const isPublished = ({ spec, status }: Quota): boolean =>
  status?.hard !== undefined && status.used !== undefined && isEqual(amountsOf(spec.hard), amountsOf(status.hard));

/**
 * The new status of a quota; undefined if it stays the same. A resource that nothing counts now keeps its last amount.
 */
function statusOf({ spec, status }: Quota, counted: Amounts): object | undefined {
  const hard = amountsOf(spec.hard);
  const before = amountsOf(status?.used);
  const kept = [...before].filter(([name]) => hard.has(name));
  const used = new Map([...kept, ...[...counted].filter(([name]) => hard.has(name))]);
  if (isEqual(hard, amountsOf(status?.hard)) && isEqual(used, before) && status?.used !== undefined) return undefined;
  return { hard: { ...spec.hard }, used: written(used) };
}

/**
 * Keeps the status of quotas: their limits, and the used amounts. Admission charges a quota when an object is
 * written; here it is counted again when an object is gone or uses less, when its limits change, and from time to time.
 * The count is that of one moment, and is only written if the quota has not been charged since.
 */
function quotaController(host: Host<'control'>): Controller {
  const counts = new ObjectCounts();
  const usage = new UsageCounter(host, counts);
  const quotas = new Quotas();
  const isCounted = ({ spec }: Quota, storageName: string): boolean =>
    Object.keys(spec.hard ?? {}).some(resource => usage.storageNameOf(resource) === storageName);

  /** Whether an event may lower the usage of quotas. */
  function mayFree({ type, storageName, object, old, mentions }: ResourceEvent<ApiObject>): boolean {
    if (type === 'DELETED') return true;
    if (!old || !usage.isMeasured(storageName)) return false;
    if (storageName === 'core/pods' && mentions?.('"Succeeded"') === false && !mentions('"Failed"')) return false;
    return usage.mayFall(storageName, object(), old());
  }

  function* affected(event: ResourceEvent<ApiObject>): Iterable<KeyOf> {
    counts.take(event);
    const { type, namespace, storageName } = event;
    // Quotas that must be counted anyway are queued already.
    const others = type === 'ADDED' ? [] : [...quotas.of(namespace)].filter(([, { isDue }]) => !isDue);
    if (others.length === 0 || !mayFree(event)) return;
    for (const [name, quota] of others) {
      if (!isCounted(quota.quota(), storageName)) continue;
      quota.isDue = true;
      yield { namespace, name };
    }
  }

  return reconciler({
    name: 'resourcequota-controller',
    for: QUOTAS,
    predicate: event => quotas.take(event as ResourceEvent<ResourceQuota>),
    watches: [{ resource: '*', keys: affected }],
    resync: RECOUNT_MS,
    concurrency: 4,
    backOff: BACK_OFF,
    async reconcile({ namespace, name }, { object: quota, client }) {
      const known = quotas.get(namespace, name);
      if (!quota || !known) return undefined;
      const began = monotonicTime();
      const wait = known.isDue ? known.countAt - began : known.lookAt - began;
      if (wait > 0) return { after: Math.ceil(wait) };
      known.lookAt = 0;
      if (!known.isDue && isPublished(quota)) return undefined;
      known.isDue = false;
      const status = statusOf(quota, usage.usedOf(quota));
      const ended = monotonicTime();
      known.countAt = ended + (ended - began) / SHARE;
      if (!status) return undefined;
      try {
        await client.resource(QUOTAS).setStatus(quota, status);
      } catch (thrown) {
        if (thrown instanceof Refusal && thrown.reason === 'NotFound') return undefined;
        known.isDue = true;
        throw thrown;
      }
      return undefined;
    },
  })(host);
}

/** Counts the usage of the quotas of namespaces by their objects. */
export const resourceQuotas = {
  name: 'controllers/resource-quotas',
  parse: () => ({}),
  contribute: () => [controller.of(quotaController)],
} satisfies Plugin;
