import { describe, expect, test } from 'vitest';
import { checkNameParameter } from '../../core/model/nameParameter.js';

describe('the name in a request for an object', () => {
  test.each([
    ['', 'Name parameter required.'],
    ['.', `Name parameter invalid: ".": may not be '.'`],
    ['..', `Name parameter invalid: "..": may not be '..'`],
    ['a/%', `Name parameter invalid: "a/%": may not contain '/';may not contain '%'`],
  ])('is refused with 400 if no object can have it: %j', (name, message) => {
    expect(() => checkNameParameter(name)).toThrow(expect.objectContaining({ code: 400, message }));
  });

  test('is accepted otherwise, even if no kind allows it', () => {
    for (const name of ['a', 'system:foo', 'A b', '...', '\x00']) expect(() => checkNameParameter(name)).not.toThrow();
  });
});
