import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  ensureRecord,
  recordAt,
  setDefault,
  specOf,
  stringAt,
  type UnknownRecord,
  valueAt,
} from '../../../core/model/record.js';
import { invalid, notSupported, required, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, integerColumn, labelsText, NAME } from '../shared/columns.js';
import { validateAtMostAll, leadingNumber, goIntOrString } from '../shared/intOrPercent.js';
import { setTemplateDefaults } from '../shared/podSpec/defaults.js';
import { warnAboutChangedTemplate } from '../shared/podSpec/warnings.js';
import { isUnchanged } from '../shared/equality.js';
import { CONTAINERS, IMAGES, podTemplateIn, SELECTOR } from '../shared/podTemplateColumns.js';
import {
  validateCounts,
  validateImmutableSelector,
  podTemplateOf,
  validateReplicaStatus,
  validateRollingCounts,
  validateTemplateAndSelector,
} from '../shared/workloads.js';

/**
 * Exactly one of maxUnavailable and maxSurge must be 0: during an update, a pod is replaced either before or after the
 * new one starts.
 */
function validateRollingUpdate(owner: UnknownRecord | undefined, field: string): Violation[] {
  if (!owner) return [required(field)];
  const found = validateRollingCounts(owner, field);
  for (const member of ['maxUnavailable', 'maxSurge'])
    found.push(...validateAtMostAll(owner, member, `${field}.${member}`));
  const [missing, surge] = [leadingNumber(owner.maxUnavailable) !== 0, leadingNumber(owner.maxSurge) !== 0];
  if (missing && surge)
    found.push(
      invalid(`${field}.maxSurge`, goIntOrString(owner.maxSurge), 'may not be set when maxUnavailable is non-zero'),
    );
  if (!missing && !surge) found.push(required(`${field}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  return found;
}

/** Violations of a DaemonSet. */
function validateDaemonSet(object: ApiObject): Violation[] {
  const spec = recordAt(object, 'spec');
  const found = [
    ...validateTemplateAndSelector(object, { kind: 'daemonset', owner: 'DaemonSet', omitsMissingSelector: true }),
    ...validateCounts(spec, ['minReadySeconds', 'revisionHistoryLimit']),
  ];
  const strategy = recordAt(spec, 'updateStrategy');
  const type = stringAt(strategy, 'type');
  if (type === 'OnDelete') return found;
  if (type === 'RollingUpdate')
    return [
      ...found,
      ...validateRollingUpdate(recordAt(strategy, 'rollingUpdate'), 'spec.updateStrategy.rollingUpdate'),
    ];
  return [
    ...found,
    notSupported(
      'spec.updateStrategy',
      new Verbatim(
        `apps.DaemonSetUpdateStrategy{Type:${JSON.stringify(type)}, RollingUpdate:(*apps.RollingUpdateDaemonSet)(nil)}`,
      ),
      ['RollingUpdate', 'OnDelete'],
    ),
  ];
}

const DAEMONS = ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'];

/** Checks that the counts of a status are not negative. */
const validateDaemonSetStatus = (object: ApiObject, old: ApiObject): Violation[] =>
  validateReplicaStatus(
    object,
    old,
    [...DAEMONS, 'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'],
    [],
  );

/** The annotation that counts changes of the template. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const COLUMNS: readonly Column[] = [
  NAME,
  integerColumn('Desired', 'status.desiredNumberScheduled'),
  integerColumn('Current', 'status.currentNumberScheduled'),
  integerColumn('Ready', 'status.numberReady'),
  integerColumn('Up-to-date', 'status.updatedNumberScheduled'),
  integerColumn('Available', 'status.numberAvailable'),
  column('Node Selector', object => labelsText(valueAt(podTemplateIn(object), 'spec', 'nodeSelector'))),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];

const strategy = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  applyDefaults: object => {
    const spec = specOf(object);
    const strategy = ensureRecord(spec, 'updateStrategy');
    setDefault(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate') {
      const rolling = ensureRecord(strategy, 'rollingUpdate');
      setDefault(rolling, 'maxUnavailable', 1);
      setDefault(rolling, 'maxSurge', 0);
    }
    const unused = recordAt(strategy, 'rollingUpdate');
    for (const member of ['maxUnavailable', 'maxSurge']) if (unused) setDefault(unused, member, 0);
    setDefault(spec, 'revisionHistoryLimit', 10);
    setTemplateDefaults(podTemplateOf(object));
    // The annotation counts as a field that the client has set, whatever its value becomes.
    object.metadata.annotations = { [TEMPLATE_GENERATION]: '0', ...object.metadata.annotations };
  },
  validateCreate: validateDaemonSet,
  validateUpdate: (object, old) => [...validateDaemonSet(object), ...validateImmutableSelector(object, old)],
  validateStatus: validateDaemonSetStatus,
  prepareCreate: object => {
    const asked = Number(object.metadata.annotations?.[TEMPLATE_GENERATION] ?? '0');
    object.metadata.annotations = {
      ...object.metadata.annotations,
      [TEMPLATE_GENERATION]: String(Math.max(asked || 0, 1)),
    };
  },
  prepareUpdate: (object, old) => {
    const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? '0');
    const next = before + (isUnchanged(podTemplateOf(object), podTemplateOf(old)) ? 0 : 1);
    object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: String(next) };
  },
  prepareStatus: (object, old) => {
    const generation = old.metadata.annotations?.[TEMPLATE_GENERATION] ?? '0';
    object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: generation };
  },
  columns: COLUMNS,
});

/** DaemonSet. */
export const daemonSet = builtInKind('apps/daemonsets', naming => warnAboutChangedTemplate(strategy(), naming));
