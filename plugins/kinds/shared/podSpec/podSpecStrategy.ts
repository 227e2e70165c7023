import type { StrategyContext, Strategy } from '../../../../core/api/strategy.js';
import type { ApiObject } from '../../../../core/model/object.js';
import type { Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import type { PodTemplateSpec } from '../../../../kinds/v1.js';
import { removeImageVolumes } from './disabledFields.js';
import { podWarnings } from './warnings/warnings.js';

/** The object whose spec an update is warned about; undefined if its warnings would be those of the last write. */
type WarnedOnUpdate<T> = (object: T, old: T) => T | undefined;

/** Warns about the new object if its spec differs. */
const ifGenerationDiffers = <T extends ApiObject>(object: T, old: T): T | undefined =>
  object.metadata.generation === old.metadata.generation ? undefined : object;

/**
 * The strategy of a kind with a pod spec. It removes volumes that have images after mutators and the owners of fields
 * have seen them, and warns about likely mistakes in a valid spec. `templateOf` returns the pod or template with the
 * spec, `field` is the field of the spec. `warnedOnUpdate`: the object that an update is warned about; absent: the new
 * one, if its generation has changed.
 */
export function withPodSpec<T extends ApiObject>(
  strategy: Partial<Strategy<T>>,
  naming: Naming,
  field: string,
  templateOf: (object: T) => Pick<PodTemplateSpec, 'metadata' | 'spec'> | undefined,
  warnedOnUpdate: WarnedOnUpdate<T> = ifGenerationDiffers,
): Partial<Strategy<T>> {
  const removeDisabled = (object: T): void => {
    const template = templateOf(object);
    if (template) removeImageVolumes(template.spec);
  };
  const warn = (object: T, context: StrategyContext, found: readonly Violation[]): readonly Violation[] => {
    const template = templateOf(object);
    if (template && context.warn && found.length === 0)
      for (const text of new Set(podWarnings(template, field, naming, context))) context.warn(text);
    return found;
  };
  return {
    ...strategy,
    prepareCreate(object, context) {
      removeDisabled(object);
      strategy.prepareCreate?.(object, context);
    },
    prepareUpdate(object, old, context) {
      removeDisabled(object);
      strategy.prepareUpdate?.(object, old, context);
    },
    validateCreate: (object, context) => warn(object, context, strategy.validateCreate?.(object, context) ?? []),
    validateUpdate: (object, old, context) => {
      const found = strategy.validateUpdate?.(object, old, context) ?? [];
      const warned = warnedOnUpdate(object, old);
      return warned ? warn(warned, context, found) : found;
    },
  };
}
