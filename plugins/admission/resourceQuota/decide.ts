import type { ResourceQuota } from '../../../kinds/v1.js';
import type { ApiObject, Frozen } from '../../../core/model/object.js';
import { formatQuantity, type Quantity } from '../../../core/model/quantity.js';
import { type Amounts, amountsOf } from '../limitRanger/amounts.js';
import type { GroupResource } from '../../../core/model/refusal.js';
import type { Evaluator } from './usage/evaluator.js';
import { type ScopeTerm, scopesOf } from './usage/scopes.js';
import type { LimitedResource } from './config.js';

/** A change of an object that quotas count. */
export interface CountedChange {
  readonly object: Frozen<ApiObject>;
  /** The object that an update replaces. */
  readonly old?: Frozen<ApiObject> | undefined;
  /** The resource, as clients name it. */
  readonly of: GroupResource;
  readonly evaluator: Evaluator;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The charges of a change, by quota, or why it is refused. */
export type Decision =
  /** `isError`: upstream answers 500. */
  | { readonly refusal: string; readonly isError?: true }
  | { readonly charges: readonly { readonly quota: Frozen<ResourceQuota>; readonly amounts: Amounts }[] };

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

/** Amounts as messages show them: `pods=1,requests.cpu=300m`. */
const show = (amounts: Iterable<readonly [string, Quantity]>): string =>
  [...amounts]
    .sort(byName)
    .map(([name, amount]) => `${name}=${formatQuantity(amount)}`)
    .join(',');

/** The limits of a quota, and the used amounts. */
interface Limits {
  readonly hard: Amounts;
  readonly used: Amounts;
  readonly scopes: readonly ScopeTerm[];
}

/** The limits of a quota, with the resources among them of the kinds that were counted. */
interface KnownLimits extends Limits {
  readonly resources: WeakMap<Evaluator, readonly string[]>;
}

/** A quota that counts an object. */
interface Covering extends Limits {
  readonly quota: Frozen<ResourceQuota>;
  /** The resources of the object that it limits. */
  readonly resources: readonly string[];
}

/**
 * The limits of quotas, by object: an informer has one object for each revision of a quota, which many requests share.
 */
const knownLimits = new WeakMap<Frozen<ResourceQuota>, KnownLimits>();

function limitsOf(quota: Frozen<ResourceQuota>): KnownLimits {
  let limits = knownLimits.get(quota);
  if (!limits) {
    const { hard, used } = quota.status ?? {};
    limits = { hard: amountsOf(hard), used: amountsOf(used), scopes: scopesOf(quota), resources: new WeakMap() };
    knownLimits.set(quota, limits);
  }
  return limits;
}

/** The scopes of a list that an object is in. */
const matching = ({ object, evaluator }: CountedChange, scopes: readonly ScopeTerm[]): readonly ScopeTerm[] =>
  scopes.filter(scope => evaluator.isInScope(object, scope));

/** The resources that a quota limits and that objects of a kind use. */
function limitedResources({ hard, resources }: KnownLimits, evaluator: Evaluator): readonly string[] {
  let found = resources.get(evaluator);
  if (!found) resources.set(evaluator, (found = [...hard.keys()].filter(name => evaluator.counts(name))));
  return found;
}

/** How a quota covers the object of a change; undefined if it does not count it. */
function coverOf(change: CountedChange, quota: Frozen<ResourceQuota>): Covering | undefined {
  const limits = limitsOf(quota);
  const { hard, used, scopes } = limits;
  const resources = limitedResources(limits, change.evaluator);
  if (resources.length === 0 || matching(change, scopes).length < scopes.length) return undefined;
  return { quota, hard, used, scopes, resources };
}

/** Why a quota cannot count an object. */
function problemOf({ object, evaluator }: CountedChange, { quota, used, resources }: Covering): string | undefined {
  const missing = evaluator.missing(object, resources);
  if (missing !== undefined) return `failed quota: ${quota.metadata.name}: ${missing}`;
  if (resources.every(name => used.has(name))) return undefined;
  return `status unknown for quota: ${quota.metadata.name}, resources: ${[...resources].sort().join(',')}`;
}

/** The increase of the amounts by a change. Updates never lower the used amounts of a quota: the controller does. */
function addedBy({ object, old, evaluator, now }: CountedChange): Amounts {
  const before: Amounts = old ? evaluator.usage(old, now) : new Map();
  return new Map(
    [...evaluator.usage(object, now)]
      .map(([name, { nano, format }]) => [name, { nano: nano - (before.get(name)?.nano ?? 0n), format }] as const)
      .filter(([, { nano }]) => nano > 0n),
  );
}

/** The resources of an object that can be used only where a quota covers them, and that no quota covers. */
function uncoveredNames(
  { object, of, evaluator, now }: CountedChange,
  covering: readonly Covering[],
  limited: readonly LimitedResource[],
): readonly string[] {
  const ofKind = limited.filter(({ apiGroup, resource }) => apiGroup === of.group && resource === of.resource);
  const texts = ofKind.flatMap(({ matchContains }) => matchContains);
  if (texts.length === 0) return [];
  const covered = new Set(covering.flatMap(({ resources }) => resources));
  return [...evaluator.usage(object, now)]
    .filter(([name, { nano }]) => nano > 0n && !covered.has(name) && texts.some(text => name.includes(text)))
    .map(([name]) => name)
    .sort();
}

/** Scopes in the form of upstream's messages. */
const showScopes = (scopes: readonly ScopeTerm[]): string =>
  `[${scopes.map(({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(' ')}]}`).join(' ')}]`;

/**
 * The scopes of an object that no quota has. As in upstream, the scopes of all limited resources count, including
 * resources that are not the object's.
 */
function uncoveredScopes(
  change: CountedChange,
  quotas: readonly Frozen<ResourceQuota>[],
  limited: readonly LimitedResource[],
): readonly ScopeTerm[] {
  const wanted = limited.flatMap(({ matchScopes }) => matching(change, matchScopes));
  if (wanted.length === 0) return [];
  const present = new Set(
    quotas.flatMap(quota => matching(change, limitsOf(quota).scopes).map(({ scopeName }) => scopeName)),
  );
  return wanted.filter(({ scopeName }) => !present.has(scopeName));
}

/** Why the amounts that a change adds exceed a quota. */
function excess({ quota, hard, used }: Covering, amounts: Amounts): string | undefined {
  const exceeded = [...amounts].filter(
    ([name, { nano }]) => nano + (used.get(name)?.nano ?? 0n) > hard.get(name)!.nano,
  );
  if (exceeded.length === 0) return undefined;
  const of = (all: Amounts) => exceeded.flatMap(([name]) => (all.has(name) ? [[name, all.get(name)!] as const] : []));
  return `exceeded quota: ${quota.metadata.name}, requested: ${show(exceeded)}, used: ${show(of(used))}, limited: ${show(of(hard))}`;
}

/**
 * Decides about a change by the quotas of its namespace, and by the resources that are limited without a quota
 * (`limited`). Refusals have the words of upstream's plugin.
 */
export function decide(
  change: CountedChange,
  quotas: readonly Frozen<ResourceQuota>[],
  limited: readonly LimitedResource[],
): Decision {
  const covering = quotas.flatMap(quota => coverOf(change, quota) ?? []);
  for (const cover of covering) {
    const refusal = problemOf(change, cover);
    if (refusal !== undefined) return { refusal };
  }
  const names = uncoveredNames(change, covering, limited);
  if (names.length > 0) return { refusal: `insufficient quota to consume: ${names.join(',')}` };
  const scopes = uncoveredScopes(change, quotas, limited);
  if (scopes.length > 0)
    return { refusal: `insufficient quota to match these scopes: ${showScopes(scopes)}`, isError: true };
  const added = covering.length > 0 ? addedBy(change) : new Map<string, Quantity>();
  const charges = [];
  for (const cover of covering) {
    const amounts = new Map([...added].filter(([name]) => cover.hard.has(name)));
    if (amounts.size === 0) continue;
    const exceeded = excess(cover, amounts);
    if (exceeded !== undefined) return { refusal: exceeded };
    charges.push({ quota: cover.quota, amounts });
  }
  return { charges };
}
