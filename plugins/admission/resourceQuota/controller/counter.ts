import type { ResourceQuota } from '../../../../kinds/v1.js';
import type { ApiObject, Frozen, Host } from '../../../../core/api/index.js';
import type { Quantity } from '../../../../core/model/quantity.js';
import { addAmounts, type Amounts } from '../../limitRanger/amounts.js';
import { CLASSIC, countOf, type Evaluator, objectCount } from '../usage/evaluator.js';
import { evaluators } from '../usage/evaluators.js';
import { scopesOf } from '../usage/scopes.js';
import type { ObjectCounts } from './counts.js';

/** Resources for which quotas count more than the number of objects. */
const MEASURED = ['pods', 'services', 'persistentvolumeclaims'];
const COUNT = 'count/';

interface Measured {
  readonly storageName: string;
  readonly evaluator: Evaluator;
}

/** Computes the amounts of quotas that objects use. */
export class UsageCounter {
  readonly #host: Host<'control'>;
  readonly #measured: readonly Measured[];
  readonly #counts: ObjectCounts;

  constructor(host: Host<'control'>, counts: ObjectCounts) {
    this.#host = host;
    this.#counts = counts;
    const evaluatorOf = evaluators(host.naming);
    this.#measured = MEASURED.map(plural => ({ storageName: `core/${plural}`, evaluator: evaluatorOf('', plural) }));
  }

  /** The storage name of the objects that a resource of a quota counts; undefined if there are none. */
  storageNameOf(resource: string): string | undefined {
    const measured = this.#measured.find(({ evaluator }) => evaluator.counts(resource));
    if (measured) return measured.storageName;
    if (CLASSIC.includes(resource)) return `core/${resource}`;
    if (!resource.startsWith(COUNT)) return undefined;
    const name = resource.slice(COUNT.length);
    const dot = name.indexOf('.');
    const [plural, group] = dot < 0 ? [name, 'core'] : [name.slice(0, dot), name.slice(dot + 1)];
    try {
      return this.#host.resources.find(`${group}/${plural}`)?.storageName;
    } catch {
      // No resource can have this name.
      return undefined;
    }
  }

  /** Whether quotas count more than the number of the objects of a resource. */
  isMeasured(storageName: string): boolean {
    return this.#measured.some(measured => measured.storageName === storageName);
  }

  /** Whether a change of an object may lower its usage. */
  mayFall(storageName: string, object: Frozen<ApiObject>, old: Frozen<ApiObject>): boolean {
    const measured = this.#measured.find(one => one.storageName === storageName);
    if (!measured) return false;
    const now = this.#host.now();
    const [after, before] = [measured.evaluator.usage(object, now), measured.evaluator.usage(old, now)];
    return [...before].some(([name, { nano }]) => (after.get(name)?.nano ?? 0n) < nano);
  }

  /** The amounts that the objects of a quota's namespace use. Resources that nothing counts are left out. */
  usedOf(quota: Frozen<ResourceQuota>): Amounts {
    const resources = Object.keys(quota.spec.hard ?? {});
    const namespace = quota.metadata.namespace ?? '';
    const used = new Map<string, Quantity>();
    for (const measured of this.#measured) {
      const own = resources.filter(resource => measured.evaluator.counts(resource));
      if (own.length === 0) continue;
      const sum = this.#sum(quota, measured, own);
      for (const resource of own) used.set(resource, sum.get(resource) ?? countOf(0));
    }
    const hasScopes = scopesOf(quota).length > 0;
    for (const resource of resources) {
      const storageName = used.has(resource) ? undefined : this.storageNameOf(resource);
      if (storageName !== undefined)
        used.set(resource, countOf(hasScopes ? 0 : this.#counts.of(namespace, storageName)));
    }
    return used;
  }

  #sum(quota: Frozen<ResourceQuota>, { storageName, evaluator }: Measured, resources: readonly string[]): Amounts {
    const namespace = quota.metadata.namespace ?? '';
    const scopes = scopesOf(quota);
    const plural = storageName.slice('core/'.length);
    // Only their number counts: the objects need not be read.
    if (scopes.length === 0 && resources.every(name => name === objectCount('', plural)))
      return new Map([[resources[0]!, countOf(this.#counts.of(namespace, storageName))]]);
    const now = this.#host.now();
    return this.#host
      .informer(storageName)
      .list(namespace)
      .filter(object => scopes.every(scope => evaluator.isInScope(object, scope)))
      .reduce<Amounts>((sum, object) => addAmounts(sum, evaluator.usage(object, now)), new Map());
  }
}
