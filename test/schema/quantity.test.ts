import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareQuantities, formatQuantity, isInteger, parseQuantity, quantityOf } from '../../core/model/quantity.js';

const canonical = (text: string): string => formatQuantity(quantityOf(text));

describe('quantities', () => {
  it.each([
    ['1000m', '1'],
    ['1024Mi', '1Gi'],
    ['0.5', '500m'],
    ['1.5Gi', '1536Mi'],
    ['1073741824', '1073741824'],
    ['1e3', '1e3'],
    ['1000Ki', '1000Ki'],
    ['0Gi', '0'],
    ['2.0', '2'],
    ['1E', '1E'],
    ['.5', '500m'],
    ['1500M', '1500M'],
    ['0.1Gi', '107374182400m'],
    ['1u', '1u'],
    ['0.0000000001', '1n'],
    ['-1.5', '-1500m'],
    ['100Ki', '100Ki'],
    ['512', '512'],
    ['0.5Ki', '512'],
    ['16Ei', '9223372036854775807'],
    ['12e-1', '1200e-3'],
  ])('%s is shown as %s', (given, want) => {
    expect(canonical(given)).toBe(want);
  });

  it.each(['1 Gi', '1GB', 'one', '1.2.3', '--1', '1ki', '1e', '', '.', '1e999999999', '9'.repeat(300)])(
    '%j is refused',
    given => {
      expect(typeof parseQuantity(given)).toBe('string');
    },
  );

  it('the canonical form has the same amount and is its own canonical form', () => {
    const suffix = fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-2');
    fc.assert(
      fc.property(fc.integer(), fc.nat(999), suffix, (whole, fraction, end) => {
        const given = quantityOf(`${whole}.${fraction}${end}`);
        const shown = formatQuantity(given);
        expect(compareQuantities(quantityOf(shown), given)).toBe(0);
        expect(canonical(shown)).toBe(shown);
      }),
    );
  });

  it('compares exactly', () => {
    expect(compareQuantities(quantityOf('1Ki'), quantityOf('1k'))).toBe(1);
    expect(compareQuantities(quantityOf('0.1'), quantityOf('100m'))).toBe(0);
    expect(isInteger(quantityOf('1500m'))).toBe(false);
  });
});
