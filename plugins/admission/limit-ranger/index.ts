import { type Mutator, mutator, type Validator, validator } from '../../../core/api/admission.js';
import type { Host } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import type { Plugin } from '../../../core/api/point.js';
import type { ApiObject, Frozen } from '../../../core/model/object.js';
import {
  recordAt,
  ensureRecord,
  entriesAt,
  recordsAt,
  specOf,
  stringAt,
  type UnknownRecord,
} from '../../../core/model/record.js';
import { forbiddenError, parseNothing, POD_CREATES, podForbiddenError } from '../pod-draft.js';
import { aboveMaximum, aboveRatio, amountsAt, belowMinimum, podAmounts, requestAboveMaximum } from './amounts.js';

const RANGES = 'core/limitranges';
const CLAIMS = { group: '', resource: 'persistentvolumeclaims' };

/** The lists of containers that have limits, with the words for one of them. */
const CONTAINERS = [
  ['containers', 'container'],
  ['initContainers', 'init container'],
] as const;

/** Sets amounts that a container does not have. Returns the sorted names of those resources. */
function setAmounts(container: UnknownRecord, member: 'limits' | 'requests', amounts: UnknownRecord): string[] {
  const absent = Object.keys(amounts).filter(
    name => !entriesAt(container, 'resources', member).some(([known]) => known === name),
  );
  if (absent.length === 0) return [];
  const target = ensureRecord(ensureRecord(container, 'resources'), member);
  for (const name of absent) target[name] = amounts[name];
  return absent.sort();
}

/** Sets the default amounts of a range in a pod. Returns what it has set, in words. */
function setDefaults(range: Frozen<ApiObject>, pod: UnknownRecord): string[] {
  const limits = recordsAt(range, 'spec', 'limits').filter(({ type }) => type === 'Container');
  const defaultsOf = (member: string): UnknownRecord =>
    Object.fromEntries(limits.flatMap(limit => entriesAt(limit, member)));
  const [ofRequests, ofLimits] = [defaultsOf('defaultRequest'), defaultsOf('default')];
  return CONTAINERS.flatMap(([list, what]) =>
    recordsAt(pod, list).flatMap(container => {
      const whose = `for ${what} ${stringAt(container, 'name')}`;
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

/** Sets the amounts of resources that new pods leave open, and says so in an annotation. */
function defaulting(host: Host<'request'>): Mutator {
  const ranges = host.informer(RANGES);
  const annotation = host.naming.label('orchestrator.io/limit-ranger');
  return {
    on: POD_CREATES,
    mutate({ target }, draft) {
      for (const range of ranges.list(target.namespace)) {
        const set = setDefaults(range, specOf(draft));
        if (set.length === 0) continue;
        const text = `LimitRanger plugin set: ${set.join('; ')}`;
        draft.metadata.annotations = { ...draft.metadata.annotations, [annotation]: text };
      }
    },
  };
}

type Check = (limit: UnknownRecord, type: string) => string[];

/** What a limit says about requests and limits of a container or a whole pod. */
const checkAmounts =
  (...[requests, limits]: [ReturnType<typeof amountsAt>, ReturnType<typeof amountsAt>]): Check =>
  (limit, type) =>
    [
      { member: 'min', complaints: belowMinimum },
      { member: 'max', complaints: aboveMaximum },
      { member: 'maxLimitRequestRatio', complaints: aboveRatio },
    ].flatMap(({ member, complaints }) =>
      [...amountsAt(limit, member)].flatMap(([name, amount]) => complaints(type, name, amount, requests, limits)),
    );

function podComplaints(limit: UnknownRecord, type: string, pod: UnknownRecord): string[] {
  if (type === 'Pod') return checkAmounts(podAmounts(pod, 'requests'), podAmounts(pod, 'limits'))(limit, type);
  if (type !== 'Container') return [];
  return CONTAINERS.flatMap(([list]) =>
    recordsAt(pod, list).flatMap(container =>
      checkAmounts(amountsAt(container, 'resources', 'requests'), amountsAt(container, 'resources', 'limits'))(
        limit,
        type,
      ),
    ),
  );
}

function claimComplaints(limit: UnknownRecord, type: string, claim: UnknownRecord): string[] {
  if (type !== 'PersistentVolumeClaim') return [];
  const requests = amountsAt(claim, 'resources', 'requests');
  return [
    ...[...amountsAt(limit, 'min')].flatMap(([name, least]) => belowMinimum(type, name, least, requests, new Map())),
    ...[...amountsAt(limit, 'max')].flatMap(([name, most]) => requestAboveMaximum(type, name, most, requests)),
  ];
}

/** Refuses new pods, and claims, with less or more than a range of their namespace permits. */
function limiting(host: Host<'request'>): Validator {
  const ranges = host.informer(RANGES);
  return {
    on: { groups: [''], resources: ['pods', CLAIMS.resource], operations: ['CREATE', 'UPDATE'] },
    validate({ target, operation }, object) {
      const isPod = target.resource === 'pods';
      // The containers of a pod cannot change.
      if (!object || (isPod && operation === 'UPDATE')) return [];
      const complaintsOf = isPod ? podComplaints : claimComplaints;
      const spec = recordAt(object, 'spec') ?? {};
      for (const range of ranges.list(target.namespace)) {
        const found = recordsAt(range, 'spec', 'limits').flatMap(limit =>
          complaintsOf(limit, stringAt(limit, 'type'), spec),
        );
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
