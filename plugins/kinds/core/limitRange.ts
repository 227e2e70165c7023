import { builtInKind } from '../../../core/api/resource.js';
import { entriesAt, isAbsent, recordsAt } from '../../../core/model/record.js';

/** Copies amounts of the member `from` that are missing in the member `to`. */
function copyAbsentAmounts(owner: { [member: string]: unknown }, from: string, to: string): void {
  const amounts = entriesAt(owner, from);
  if (amounts.length === 0) return;
  const target = new Map(entriesAt(owner, to));
  for (const [name, amount] of amounts) if (isAbsent(target.get(name))) target.set(name, amount);
  owner[to] = Object.fromEntries(target);
}

/**
 * LimitRange. For containers, the maximum is the default limit; the default limit, or otherwise the minimum, is the
 * default request.
 */
export const limitRange = builtInKind('core/limitranges', () => ({
  allowCreateOnUpdate: true,
  applyDefaults: object => {
    for (const limit of recordsAt(object, 'spec', 'limits')) {
      if (limit.type !== 'Container') continue;
      copyAbsentAmounts(limit, 'max', 'default');
      copyAbsentAmounts(limit, 'default', 'defaultRequest');
      copyAbsentAmounts(limit, 'min', 'defaultRequest');
    }
  },
}));
