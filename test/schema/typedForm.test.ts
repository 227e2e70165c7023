import { describe, expect, it } from 'vitest';
import type { Json } from '../../core/model/object.js';
import { typedForm } from '../../core/schema/decode/typedForm.js';
import { typeOf } from '../../core/schema/table/types.js';

describe('the typed form of an object', () => {
  const form = (given: Json) => typedForm(typeOf('autoscaling.v2.HorizontalPodAutoscaler'), given);

  it('has the fields that are always encoded, and others only if they are not zero', () => {
    expect(form({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', spec: { minReplicas: 0 } })).toEqual({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      spec: { scaleTargetRef: { kind: '', name: '' }, maxReplicas: 0, minReplicas: 0 },
    });
    expect(form({ metadata: { labels: {}, finalizers: [], name: '' }, status: {} })).toEqual(form({}));
  });

  it('has zero values in the place of nulls', () => {
    const metric = { type: 'Resource', resource: { name: 'cpu', target: null } };
    expect(form({ metadata: { labels: { a: null } }, spec: { maxReplicas: null, metrics: [metric] } })).toMatchObject({
      metadata: { labels: { a: '' } },
      spec: { maxReplicas: 0, metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: '' } } }] },
    });
  });

  it('keeps values of the wrong type, and no members without a field', () => {
    expect(form({ spec: 'x', odd: 1 })).toEqual({ spec: 'x' });
    expect(form(null)).toBe(null);
  });
});
