import type { Charge } from '../../core/api/admission.js';
import { requireMembers } from '../../core/api/checks/parts.js';
import { canonicalQuantity } from '../../core/model/quantity.js';
import { storageNameOf } from '../../core/plugin/resourceNames.js';
import { objectKey } from '../../core/request/keys.js';
import type { ProposedCharge } from '../../core/threads/messages/messages.js';

const isRevision = (value: unknown): boolean => typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value);

const checkMembers = requireMembers({
  namespace: 'string',
  name: 'string',
  resourceVersion: [isRevision, 'the resourceVersion of the object'],
  amounts: 'object',
});

/** A charge as the writer gets it. Throws TypeError that names the fault of a charge from a plugin in JavaScript. */
export function proposedCharge(charge: Charge): ProposedCharge {
  checkMembers(charge);
  const { resource, namespace, name, resourceVersion } = charge;
  const amounts = Object.entries(charge.amounts);
  for (const [counter, amount] of amounts) {
    const fail = (why: string): never => {
      throw new TypeError(`the amount of ${counter} must be a quantity, such as '1' or '200m': ${why}`);
    };
    if (typeof amount !== 'string') fail('it is not a string');
    canonicalQuantity(amount, fail);
  }
  return { key: objectKey(storageNameOf(resource), namespace, name), seen: Number(resourceVersion), amounts };
}
