import type { Namespace } from '../../../kinds/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { qualifiedName } from '../../../core/model/names.js';
import { setDefault } from '../../../core/model/record.js';
import { invalid, invalidObject, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, NAME } from '../shared/columns.js';
import { checkLabelName } from '../shared/values/names.js';
import { toViolations } from '../shared/violations.js';

/** Checks that the phase is Terminating if and only if a deletion has begun. */
function validatePhase(object: Namespace): Violation[] {
  const phase = object.status?.phase ?? '';
  const ending = Boolean(object.metadata.deletionTimestamp);
  if (ending ? phase === 'Terminating' : phase === 'Active') return [];
  const why = ending
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty";
  return [invalid('status.Phase', phase, why)];
}

/** Checks that a finalizer is a qualified name. Without a domain it must be a standard one or `own`. */
function validateFinalizer(name: string, own: string, field: string): Violation[] {
  const found = qualifiedName(name);
  if (!name.includes('/') && ![own, 'orphan', 'foregroundDeletion'].includes(name))
    found.push('name is neither a standard finalizer name nor is it fully qualified');
  return toViolations(field, name, found);
}

const COLUMNS: readonly Column<Namespace>[] = [NAME, column('Status', object => object.status?.phase ?? ''), AGE];

/** Namespace. It is removed once its spec has no finalizers; only the subresource `finalize` writes them. */
export const namespace = builtInKind<Namespace>('core/namespaces', naming => {
  const finalizer = naming.product;
  const nameLabel = naming.label('orchestrator.io/metadata.name');
  return {
    checkName: checkLabelName,
    hasStatus: true,
    applyDefaults: object => {
      setDefault((object.status ??= {}), 'phase', 'Active');
      if (object.metadata.name)
        object.metadata.labels = { ...object.metadata.labels, [nameLabel]: object.metadata.name };
    },
    prepareCreate: object => {
      object.status = { phase: 'Active' };
      const finalizers = object.spec.finalizers ?? [];
      if (!finalizers.includes(finalizer)) object.spec.finalizers = [...finalizers, finalizer];
    },
    prepareUpdate: (object, old) => {
      object.spec.finalizers = old.spec.finalizers ?? [];
    },
    validateCreate: object => {
      const finalizers = object.spec.finalizers ?? [];
      return finalizers.flatMap(name => validateFinalizer(name, finalizer, 'spec.finalizers'));
    },
    validateUpdate: () => [],
    validateStatus: validatePhase,
    extraFinalizers: object => object.spec.finalizers ?? [],
    beginDeletion: object => {
      (object.status ??= {}).phase = 'Terminating';
      delete object.metadata.deletionGracePeriodSeconds;
    },
    subresources: new Map([
      [
        'finalize',
        (body, current) => {
          const name = current.metadata.name ?? '';
          const finalizers = body.spec.finalizers ?? [];
          const violations = finalizers.flatMap((text, i) =>
            validateFinalizer(text, finalizer, `spec.finalizers[${i}]`),
          );
          if (violations.length > 0) throw invalidObject('', 'Namespace', name, violations);
          const labels = { ...body.metadata.labels, [nameLabel]: name };
          const finalized = { ...structuredClone(current), metadata: { ...body.metadata, labels } };
          const spec = finalized.spec;
          if (finalizers.length > 0) spec.finalizers = finalizers;
          else delete spec.finalizers;
          return finalized;
        },
      ],
    ]),
    selectableFields: new Map([['status.phase', object => object.status?.phase ?? '']]),
    columns: COLUMNS,
  };
});
