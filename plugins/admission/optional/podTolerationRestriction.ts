import type { Namespace, Pod, PodSpec, Toleration } from '../../../kinds/v1.js';
import { type Change, mutator, type Mutator, validator, type Validator } from '../../../core/api/admission.js';
import type { Match } from '../../../core/api/checks/match.js';
import type { Host, Informer } from '../../../core/api/host.js';
import { definePlugin } from '../../../core/api/plugin.js';
import { ConfigError, type Plugin } from '../../../core/api/point.js';
import type { Frozen } from '../../../core/model/object.js';
import { isAbsent, isRecord, ownValue, type UnknownRecord } from '../../../core/model/record.js';
import { labelValue, qualifiedName } from '../../../core/model/names.js';
import { goQuote } from '../../../core/model/text/quote.js';
import { qosClassOf } from '../../../core/model/qosClass.js';
import { COMPARED_TOLERATIONS } from '../../../core/limits.js';
import { Refusal } from '../../../core/model/refusal.js';
import { toNumber } from '../../../core/model/scalars.js';

import { checkConfigKind, recordOf } from '../configuration.js';
import { POD_CREATES } from '../podDraft.js';

/** The tolerations of namespaces that do not set their own. */
interface Tolerations {
  readonly default: readonly Toleration[];
  readonly whitelist: readonly Toleration[];
}

const GROUP = 'podtolerationrestriction.admission.orchestrator.io';
const SECONDS = 'tolerationSeconds';
const MEMBERS: readonly string[] = ['key', 'operator', 'value', 'effect', SECONDS];
const OPERATORS: readonly unknown[] = [undefined, null, '', 'Equal', 'Exists'];
const EFFECTS: readonly unknown[] = [undefined, null, '', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** The fault of a value that should be a toleration; undefined without a fault. */
function problemOf(value: unknown): string | undefined {
  if (!isRecord(value)) return 'must be a toleration';
  const unknown = Object.keys(value).find(member => !MEMBERS.includes(member));
  if (unknown !== undefined) return `has the unknown field ${unknown}`;
  const { key, operator, value: text, effect, tolerationSeconds } = value;
  if ([key, text].some(one => one !== undefined && typeof one !== 'string')) return 'must have texts as key and value';
  if (!OPERATORS.includes(operator)) return 'must have the operator Equal or Exists';
  if (!EFFECTS.includes(effect)) return 'must have the effect NoSchedule, PreferNoSchedule or NoExecute';
  if (!key && operator !== 'Exists') return 'must have the operator Exists if it has no key';
  if (operator === 'Exists' && text) return 'must have no value if it has the operator Exists';
  const [problem] = [
    ...(key ? qualifiedName(key as string).map(why => `key ${goQuote(key as string)}: ${why}`) : []),
    ...(text ? labelValue(text as string).map(why => `value ${goQuote(text as string)}: ${why}`) : []),
  ];
  if (problem !== undefined) return `has an invalid ${problem}`;
  if (tolerationSeconds === undefined) return undefined;
  if (!Number.isInteger(tolerationSeconds)) return 'must have whole seconds as tolerationSeconds';
  return effect === 'NoExecute' ? undefined : 'must have the effect NoExecute if it has tolerationSeconds';
}

function tolerationsAt(config: UnknownRecord, member: keyof Tolerations): readonly Toleration[] {
  const list = config[member] ?? [];
  if (!Array.isArray(list)) throw new ConfigError(member, 'must be a list of tolerations');
  for (const [i, toleration] of list.entries()) {
    const problem = problemOf(toleration);
    if (problem !== undefined) throw new ConfigError(`${member}[${i}]`, problem);
  }
  return list as readonly Toleration[];
}

function parseConfig(config: unknown): Tolerations {
  if (config === undefined || config === null) return { default: [], whitelist: [] };
  const whole = recordOf(config, '', ['apiVersion', 'kind', 'default', 'whitelist']);
  checkConfigKind(whole, GROUP, ['v1alpha1'], 'Configuration');
  return { default: tolerationsAt(whole, 'default'), whitelist: tolerationsAt(whole, 'whitelist') };
}

/** The tolerations in an annotation of a namespace; undefined where it has none. Throws Refusal for another text. */
function annotated(namespace: Namespace | undefined, annotation: string): readonly Toleration[] | undefined {
  const text = ownValue(namespace?.metadata.annotations, annotation);
  if (text === undefined || text === '') return text === '' ? [] : undefined;
  const refuse = (why: string): Refusal => new Refusal('', `annotation ${annotation} of the namespace: ${why}`);
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    throw refuse((error as Error).message);
  }
  if (list === null) return undefined;
  if (!Array.isArray(list)) throw refuse('must be a list of tolerations');
  if (list.length > COMPARED_TOLERATIONS) throw refuse(`must have at most ${COMPARED_TOLERATIONS} tolerations`);
  return list.map((item: unknown, i): Toleration => {
    if (!isRecord(item)) throw refuse(`[${i}] must be a toleration`);
    return Object.fromEntries(
      MEMBERS.filter(member => !isAbsent(item[member])).map(member => {
        const value = item[member];
        if (member === SECONDS ? Number.isSafeInteger(value) : typeof value === 'string') return [member, value];
        throw refuse(`[${i}].${member} must be ${member === SECONDS ? 'an integer' : 'a string'}`);
      }),
    );
  });
}

/** A toleration as it is compared: an absent member is ''. */
interface Compared {
  readonly key: string;
  readonly operator: string;
  readonly value: string;
  readonly effect: string;
  readonly seconds: number | undefined;
}

const comparedOf = ({ key, operator, value, effect, tolerationSeconds }: Frozen<Toleration>): Compared => ({
  key: key ?? '',
  operator: operator ?? '',
  value: value ?? '',
  effect: effect ?? '',
  seconds: toNumber(tolerationSeconds),
});

const isSame = (one: Compared, other: Compared): boolean =>
  one.key === other.key &&
  one.operator === other.operator &&
  one.value === other.value &&
  one.effect === other.effect &&
  one.seconds === other.seconds;

/** Whether a toleration tolerates all that another one tolerates. */
function includes(wide: Compared, other: Compared): boolean {
  if (isSame(wide, other)) return true;
  const { key, operator, value, effect, seconds } = wide;
  if (other.key !== key && (key !== '' || operator !== 'Exists')) return false;
  if (other.effect !== effect && effect !== '') return false;
  if (effect === 'NoExecute' && seconds !== undefined && (other.seconds === undefined || other.seconds > seconds))
    return false;
  return operator === 'Exists' || (other.operator === 'Equal' && other.value === value);
}

/** Joins two lists, without the tolerations that are included in others. */
function merge(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second].map(toleration => ({ toleration, compared: comparedOf(toleration) }));
  const merged: typeof all = [];
  for (const [i, { toleration, compared }] of all.entries()) {
    if (merged.some(other => includes(other.compared, compared))) continue;
    const isIncluded = all.some(
      (other, j) => j > i && !isSame(compared, other.compared) && includes(other.compared, compared),
    );
    if (!isIncluded) merged.push({ toleration, compared });
  }
  return merged.map(({ toleration }) => toleration);
}

/** Throws 403 for more tolerations than are compared. */
function checkNumber(tolerations: readonly unknown[]): void {
  if (tolerations.length > COMPARED_TOLERATIONS)
    throw new Refusal('Forbidden', `a pod must have at most ${COMPARED_TOLERATIONS} tolerations`, { kind: 'pods' });
}

/** The lists of the namespace of a change, or those of the configuration. */
function listsOf(host: Host<'pool'>, config: Tolerations) {
  const namespaces = host.informer('core/namespaces') as Informer<Namespace>;
  const label = (name: string): string => host.naming.label(`scheduler.alpha.orchestrator.io/${name}`);
  const [defaults, whitelist] = [label('defaultTolerations'), label('tolerationsWhitelist')];
  const namespaceOf = ({ target }: Change): Namespace | undefined => namespaces.get('', target.namespace);
  return {
    defaults: (change: Change) => annotated(namespaceOf(change), defaults) ?? config.default,
    check(change: Change, { tolerations = [] }: Frozen<PodSpec>): void {
      if (tolerations.length === 0) return;
      checkNumber(tolerations);
      const own = annotated(namespaceOf(change), whitelist);
      const allowed = own ?? config.whitelist;
      if (allowed.length === 0) return;
      const wide = allowed.map(comparedOf);
      if (tolerations.map(comparedOf).every(one => wide.some(other => includes(other, one)))) return;
      const scope = own ? 'namespace' : 'cluster';
      const what = 'pod tolerations (possibly merged with namespace default tolerations)';
      throw new Refusal('', `${what} conflict with its ${scope} whitelist`);
    },
  };
}

const ON: Match = { ...POD_CREATES, operations: ['CREATE', 'UPDATE'] };

/** Adds the tolerations of the namespace to new pods, and one for memory pressure to those that request resources. */
const addTolerations =
  (config: Tolerations) =>
  (host: Host<'pool'>): Mutator => {
    const lists = listsOf(host, config);
    const key = host.naming.label('node.orchestrator.io/memory-pressure');
    return {
      on: ON,
      mutate(change, draft) {
        const pod = (draft as Pod).spec;
        const own = pod.tolerations ?? [];
        checkNumber(own);
        const defaults = change.operation === 'CREATE' ? lists.defaults(change) : [];
        const merged = defaults.length > 0 ? merge(own, structuredClone(defaults)) : own;
        const all =
          qosClassOf(pod) === 'BestEffort'
            ? merged
            : merge(merged, [{ key, operator: 'Exists', effect: 'NoSchedule' }]);
        if (all.length > 0) pod.tolerations = all;
        lists.check(change, pod);
      },
    };
  };

/** Refuses pods with tolerations that their namespace may not have. */
const checkTolerations =
  (config: Tolerations) =>
  (host: Host<'pool'>): Validator => {
    const lists = listsOf(host, config);
    return {
      on: ON,
      validate(change, object) {
        lists.check(change, (object as Frozen<Pod>).spec);
        return [];
      },
    };
  };

/** The tolerations that pods of a namespace get, and those that they may have. */
export default definePlugin<Tolerations>({
  name: 'pod-toleration-restriction',
  parse: parseConfig,
  contribute: config => [mutator.of(addTolerations(config)), validator.of(checkTolerations(config))],
}) satisfies Plugin<Tolerations>;
