import { describe, expect, test } from 'vitest';
import type { ApiObject, Json, ObjectMeta } from '../../core/model/object.js';
import { validateMetadata } from '../../core/schema/metadata.js';
import { dropRepeatedOwners } from '../../workers/pipeline/metadata.js';

/*
 * Bodies as large as a server takes, made so that work which grows faster than the body would not end: a test of this file that does not come back
 * within the runner's limit has found such work.
 */

const MANY = 40_000;
const object = (metadata: ObjectMeta): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x', ...metadata },
});
const numbered = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));

describe('owner references', () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o' };

  test('are told apart however many there are', () => {
    const repeated = object({ ownerReferences: numbered(MANY, i => ({ ...owner, uid: `u${i >> 1}` })) });
    const warnings: string[] = [];
    dropRepeatedOwners(repeated, warnings, false);
    expect(repeated.metadata.ownerReferences).toHaveLength(MANY / 2);
    expect(warnings).toHaveLength(1);
  });

  test('that all control are refused without telling the whole list each time', () => {
    const references = numbered(MANY, i => ({ ...owner, uid: `u${i}`, controller: true }));
    const rules = { namespaced: false, checkName: () => [] };
    const found = validateMetadata(object({ ownerReferences: references }), rules);
    expect(found.length).toBeGreaterThan(0);
    expect(found.reduce((sum, { message }) => sum + message.length, 0)).toBeLessThan(10 * JSON.stringify(references).length);
  });
});
