import type { Container, LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod, PodSpec } from '../../../kinds/v1.js';
import type { Quantity } from '../../../core/model/scalars.js';
import { type Mutator, mutator, type Validator, validator } from '../../../core/api/admission.js';
import type { Informer, Host } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import type { Frozen } from '../../../core/model/object.js';
import { forbiddenError, parseNothing, POD_CREATES, podForbiddenError } from '../podDraft.js';
import { type Amounts, amountsOf, podAmounts } from './amounts.js';
import { aboveMaximum, aboveRatio, belowMinimum, requestAboveMaximum } from './complaints.js';

const RANGES = 'core/limitranges';
const CLAIMS = { group: '', resource: 'persistentvolumeclaims' };

/** The lists of containers that have limits, with the words for one of them. */
const CONTAINERS = [
  ['containers', 'container'],
  ['initContainers', 'init container'],
] as const;

/** Amounts as they are written, by the name of the resource. */
type Written = { readonly [resource: string]: Quantity };

/** Sets amounts that a container does not have. Returns the sorted names of those resources. */
function setAmounts(container: Container, member: 'limits' | 'requests', amounts: Written): string[] {
  const absent = Object.keys(amounts).filter(
    name => !Object.entries(container.resources[member] ?? {}).some(([known]) => known === name),
  );
  if (absent.length === 0) return [];
  const target = (container.resources[member] ??= {});
  for (const name of absent) target[name] = amounts[name]!;
  return absent.sort();
}

/** Sets the default amounts of a range in a pod. Returns the changes as texts for an annotation. */
function setDefaults(range: LimitRange, pod: PodSpec): string[] {
  const limits = (range.spec.limits ?? []).filter(({ type }) => type === 'Container');
  const defaultsOf = (member: 'default' | 'defaultRequest'): Written =>
    Object.fromEntries(limits.flatMap(limit => Object.entries(limit[member] ?? {})));
  const [ofRequests, ofLimits] = [defaultsOf('defaultRequest'), defaultsOf('default')];
  return CONTAINERS.flatMap(([list, what]) =>
    (pod[list] ?? []).flatMap(container => {
      const whose = `for ${what} ${container.name}`;
      const [limited, requested] = [
        setAmounts(container, 'limits', ofLimits),
        setAmounts(container, 'requests', ofRequests),
      ];
      return [
        ...(requested.length > 0 ? [`${requested.join(', ')} request ${whose}`] : []),
        ...(limited.length > 0 ? [`${limited.join(', ')} limit ${whose}`] : []),
      ];
    }),
  );
}

/** Sets the amounts of resources that new pods do not specify, and records that in an annotation. */
function defaulting(host: Host<'pool'>): Mutator {
  const ranges = host.informer(RANGES) as Informer<LimitRange>;
  const annotation = host.naming.label('orchestrator.io/limit-ranger');
  return {
    on: POD_CREATES,
    mutate({ target }, draft) {
      for (const range of ranges.list(target.namespace)) {
        const set = setDefaults(range, (draft as Pod).spec);
        if (set.length === 0) continue;
        const text = `LimitRanger plugin set: ${set.join('; ')}`;
        draft.metadata.annotations = { ...draft.metadata.annotations, [annotation]: text };
      }
    },
  };
}

type Check = (limit: LimitRangeItem, type: string) => string[];

/** Violations of a limit by the requests and limits of a container or a whole pod. */
const checkAmounts =
  (...[requests, limits]: [Amounts, Amounts]): Check =>
  (limit, type) =>
    (
      [
        { member: 'min', complaints: belowMinimum },
        { member: 'max', complaints: aboveMaximum },
        { member: 'maxLimitRequestRatio', complaints: aboveRatio },
      ] as const
    ).flatMap(({ member, complaints }) =>
      [...amountsOf(limit[member])].flatMap(([name, amount]) => complaints(type, name, amount, requests, limits)),
    );

function podComplaints(limit: LimitRangeItem, type: string, { spec: pod }: Frozen<Pod>): string[] {
  if (type === 'Pod') return checkAmounts(podAmounts(pod, 'requests'), podAmounts(pod, 'limits'))(limit, type);
  if (type !== 'Container') return [];
  return CONTAINERS.flatMap(([list]) =>
    (pod[list] ?? []).flatMap(container =>
      checkAmounts(amountsOf(container.resources.requests), amountsOf(container.resources.limits))(limit, type),
    ),
  );
}

function claimComplaints(limit: LimitRangeItem, type: string, { spec }: Frozen<PersistentVolumeClaim>): string[] {
  if (type !== 'PersistentVolumeClaim') return [];
  const requests = amountsOf(spec.resources.requests);
  return [
    ...[...amountsOf(limit.min)].flatMap(([name, least]) => belowMinimum(type, name, least, requests, new Map())),
    ...[...amountsOf(limit.max)].flatMap(([name, most]) => requestAboveMaximum(type, name, most, requests)),
  ];
}

/** Refuses new pods, and claims, with amounts below or above those that a range of their namespace permits. */
function limiting(host: Host<'pool'>): Validator {
  const ranges = host.informer(RANGES) as Informer<LimitRange>;
  return {
    on: { groups: [''], resources: ['pods', CLAIMS.resource], operations: ['CREATE', 'UPDATE'] },
    validate({ target, operation }, object) {
      const isPod = target.resource === 'pods';
      // The containers of a pod cannot change.
      if (!object || (isPod && operation === 'UPDATE')) return [];
      const complaintsOf = (limit: LimitRangeItem): string[] =>
        isPod
          ? podComplaints(limit, limit.type, object as Frozen<Pod>)
          : claimComplaints(limit, limit.type, object as Frozen<PersistentVolumeClaim>);
      for (const range of ranges.list(target.namespace)) {
        const found = (range.spec.limits ?? []).flatMap(complaintsOf);
        if (found.length === 0) continue;
        const distinct = [...new Set(found)];
        const why = distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
        throw isPod
          ? podForbiddenError(object.metadata, why)
          : forbiddenError(CLAIMS, object.metadata.name ?? target.name, why);
      }
      return [];
    },
  };
}

/** The limit ranges of a namespace: defaults for its pods, and bounds for its pods and claims. */
export default definePlugin<undefined>({
  name: 'limit-ranger',
  parse: parseNothing,
  contribute: () => [mutator.of(defaulting), validator.of(limiting)],
}) satisfies Plugin<undefined>;
