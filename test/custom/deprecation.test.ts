import { describe, expect, it } from 'vitest';
import { defineResource } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import { checkTypes } from '../../core/plugin/load/checkTypes.js';
import { resourcesOf } from '../../core/schema/custom/kind.js';
import { loadEngine } from '../../core/schema/custom/engine.js';

const schema = { type: 'object' } as const;

/** A type with these versions in addition to v1, the storage version. */
const typeOf = (...versions: readonly { readonly name: string; readonly [member: string]: unknown }[]) =>
  defineResource({
    group: 'tea.example.com',
    kind: 'Order',
    plural: 'orders',
    scope: 'Namespaced',
    versions: [{ name: 'v1', schema, storage: true }, ...versions.map(version => ({ ...version, schema }))],
  });

describe('a version that is deprecated', () => {
  it('causes a warning with its releases and its replacement', async () => {
    await loadEngine();
    const type = typeOf({ name: 'v1beta1', deprecated: '1.4', removedIn: '1.7', replacedBy: 'tea.example.com/v1' });
    await checkTypes([type], namingOf('neutral'));
    const [, beta] = resourcesOf(type);
    expect(beta).toMatchObject({
      warning:
        'tea.example.com/v1beta1 Order is deprecated in v1.4+, unavailable in v1.7+; use tea.example.com/v1 Order',
      deprecation: { deprecated: '1.4', removed: '1.7' },
    });
  });

  it('may have its own text for the warning', async () => {
    await loadEngine();
    const [, beta] = resourcesOf(typeOf({ name: 'v1beta1', deprecated: '1.4', deprecationWarning: 'use v1' }));
    expect(beta).toMatchObject({ warning: 'use v1', deprecation: { deprecated: '1.4' } });
  });

  it.each([
    [{ name: 'v2', removedIn: '1.4' }, 'versions[v2].removedIn: Forbidden: is for versions that are deprecated'],
    [{ name: 'v2', replacedBy: 'a/v1' }, 'versions[v2].replacedBy: Forbidden: is for versions that are deprecated'],
    [{ name: 'v2', deprecated: 'soon' }, 'versions[v2].deprecated: Invalid value: "soon": must be a release, as 1.4'],
    [{ name: 'v2', deprecated: '1.10', removedIn: '1.9' }, 'must be after 1.10, in which it is deprecated'],
    [
      { name: 'v2', deprecated: '1.4', replacedBy: 'tea.example.com/v3' },
      'versions[v2].replacedBy: Invalid value: "tea.example.com/v3": must be another version that is served',
    ],
    [{ name: 'v2', deprecated: '1.4', replacedBy: 'tea.example.com/v2' }, 'must be another version that is served'],
    [{ name: 'v2', deprecated: '1.4', replacedBy: 'other.example.com/v3beta1' }, 'must not be less stable than v2'],
  ])('is refused where it is %j [R382x]', async (version, message) => {
    await expect(checkTypes([typeOf(version)], namingOf('neutral'))).rejects.toThrow(message);
  });
});
