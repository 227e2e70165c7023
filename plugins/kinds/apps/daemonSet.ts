import type { Naming } from '../../../core/naming.js';
import type { DaemonSet, RollingUpdateDaemonSet } from '../../../kinds/apps/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import { isSemanticallyEqual, setDefault } from '../../../core/model/record.js';
import { invalid, notSupported, required, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, integerColumn, labelsText, NAME } from '../shared/columns.js';
import { validateAtMostAll, leadingNumber, goIntOrString } from '../shared/values/intOrPercent.js';
import { setTemplateDefaults } from '../shared/podSpec/defaults.js';
import { withPodSpec } from '../shared/podSpec/podSpecStrategy.js';
import { isUnchanged } from '../shared/values/equality.js';
import { CONTAINERS, IMAGES, SELECTOR } from '../shared/podTemplateColumns.js';
import {
  validateCounts,
  validateImmutableSelector,
  validateReplicaStatus,
  validateRollingCounts,
  validateTemplateAndSelector,
} from '../shared/workloads.js';

/**
 * Exactly one of maxUnavailable and maxSurge must be 0: during an update, a pod is replaced either before or after the
 * new one starts.
 */
function validateRollingUpdate(owner: RollingUpdateDaemonSet | undefined, field: string): Violation[] {
  if (!owner) return [required(field)];
  const found = validateRollingCounts(owner, field);
  for (const member of ['maxUnavailable', 'maxSurge'] as const)
    found.push(...validateAtMostAll(owner[member], `${field}.${member}`));
  const [missing, surge] = [leadingNumber(owner.maxUnavailable) !== 0, leadingNumber(owner.maxSurge) !== 0];
  if (missing && surge)
    found.push(
      invalid(`${field}.maxSurge`, goIntOrString(owner.maxSurge), 'may not be set when maxUnavailable is non-zero'),
    );
  if (!missing && !surge) found.push(required(`${field}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  return found;
}

/** Violations of a DaemonSet. */
function validateDaemonSet(object: DaemonSet, naming: Naming): Violation[] {
  const spec = object.spec;
  const found = [
    ...validateTemplateAndSelector(
      object,
      { kind: 'daemonset', owner: 'DaemonSet', omitsMissingSelector: true },
      naming,
    ),
    ...validateCounts(spec, ['minReadySeconds', 'revisionHistoryLimit']),
  ];
  const strategy = spec.updateStrategy;
  const type = strategy.type ?? '';
  if (type === 'OnDelete') return found;
  if (type === 'RollingUpdate')
    return [...found, ...validateRollingUpdate(strategy.rollingUpdate, 'spec.updateStrategy.rollingUpdate')];
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

const DAEMONS = ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'] as const;

/** Checks that the counts of a status are not negative. */
const validateDaemonSetStatus = (object: DaemonSet, old: DaemonSet): Violation[] =>
  validateReplicaStatus(
    object,
    old,
    [...DAEMONS, 'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'],
    [],
  );

/** The annotation that counts changes of the template. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const COLUMNS: readonly Column<DaemonSet>[] = [
  NAME,
  integerColumn('Desired', object => object.status?.desiredNumberScheduled),
  integerColumn('Current', object => object.status?.currentNumberScheduled),
  integerColumn('Ready', object => object.status?.numberReady),
  integerColumn('Up-to-date', object => object.status?.updatedNumberScheduled),
  integerColumn('Available', object => object.status?.numberAvailable),
  column('Node Selector', object => labelsText(object.spec.template.spec.nodeSelector)),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];

const strategy = (naming: Naming): Partial<Strategy<DaemonSet>> => ({
  hasGeneration: true,
  revalidatesName: 'first',
  hasStatus: true,
  applyDefaults: object => {
    const spec = object.spec;
    const strategy = spec.updateStrategy;
    setDefault(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate') {
      const rolling = (strategy.rollingUpdate ??= {});
      setDefault(rolling, 'maxUnavailable', 1);
      setDefault(rolling, 'maxSurge', 0);
    }
    // Upstream's internal type has no absent counts here: with another strategy than RollingUpdate they become 0.
    const unused = strategy.rollingUpdate;
    for (const member of ['maxUnavailable', 'maxSurge'] as const) if (unused) setDefault(unused, member, 0);
    setDefault(spec, 'revisionHistoryLimit', 10);
    setTemplateDefaults(object.spec.template);
    // Set with the defaults, so that the annotation counts as a field of the client. `prepareCreate` sets its value.
    object.metadata.annotations = { [TEMPLATE_GENERATION]: '0', ...object.metadata.annotations };
  },
  validateCreate: object => validateDaemonSet(object, naming),
  validateUpdate: (object, old) => [...validateDaemonSet(object, naming), ...validateImmutableSelector(object, old)],
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
    const next = before + (isUnchanged(object.spec.template, old.spec.template) ? 0 : 1);
    object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: String(next) };
  },
  prepareStatus: (object, old) => {
    const generation = old.metadata.annotations?.[TEMPLATE_GENERATION] ?? '0';
    object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: generation };
  },
  columns: COLUMNS,
});

const ifTemplateDiffers = (object: DaemonSet, old: DaemonSet): DaemonSet | undefined =>
  isSemanticallyEqual(object.spec.template, old.spec.template) ? undefined : object;

/** DaemonSet. */
export const daemonSet = builtInKind<DaemonSet>('apps/daemonsets', naming =>
  withPodSpec(strategy(naming), naming, 'spec.template.spec', object => object.spec.template, ifTemplateDiffers),
);
