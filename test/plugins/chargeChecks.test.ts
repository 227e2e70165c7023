import { describe, expect, test } from 'vitest';
import type { Charge } from '../../core/api/admission.js';
import { proposedCharge } from '../../workers/pool/charge.js';

/* Charges of plugins in JavaScript, which may have any value. */

const charge: Charge = {
  resource: 'resourcequotas',
  namespace: 'shop',
  name: 'seats',
  resourceVersion: '17',
  amounts: { seats: '1', 'requests.cpu': '200m' },
};

describe('a charge', () => {
  test('is a copy from the time when it was proposed', () => {
    const amounts = { seats: '1' };
    const proposed = proposedCharge({ ...charge, amounts });
    amounts.seats = '5';
    expect(proposed).toEqual({ key: 'core/resourcequotas/shop/seats', seen: 17, amounts: [['seats', '1']] });
  });

  test.each([
    [{ resource: 'resourcequota' }, 'did you mean resourcequotas'],
    [{ namespace: undefined }, 'the member namespace must be a string'],
    [{ name: 7 }, 'the member name must be a string'],
    [{ resourceVersion: '' }, 'the member resourceVersion must be the resourceVersion of the object'],
    [{ resourceVersion: 17 }, 'the member resourceVersion must be the resourceVersion of the object'],
    [{ amounts: null }, 'the member amounts must be an object'],
    [{ amounts: { seats: 1 } }, 'the amount of seats must be a quantity'],
    [{ amounts: { seats: 'one' } }, 'the amount of seats must be a quantity'],
  ])('with %j is refused, with the reason', (wrong, message) => {
    expect(() => proposedCharge({ ...charge, ...wrong } as unknown as Charge)).toThrow(TypeError);
    expect(() => proposedCharge({ ...charge, ...wrong } as unknown as Charge)).toThrow(message);
  });
});
