import { describe, expect, it } from 'vitest';
import type { StructuralSchema } from '../../core/api/resource.js';
import { publishedSchema } from '../../core/services/openapi/custom.js';
import type { Resource } from '../../core/schema/resource.js';

const METADATA = { $ref: 'metadata' };
const publish = (schema: StructuralSchema, dialect: 'v2' | 'v3') =>
  publishedSchema({ custom: { schema } } as unknown as Resource, dialect, METADATA);

describe('the published schema of a custom kind', () => {
  it('adds the types of a value that may be an integer or a string, if its schema does not have them', () => {
    const open = { 'x-kubernetes-int-or-string': true };
    const types = [{ type: 'integer' }, { type: 'string' }];
    expect(publish(open, 'v3')).toEqual({ ...open, anyOf: types });
    expect(publish({ ...open, allOf: [{ anyOf: types }] }, 'v3')).toEqual({ ...open, allOf: [{ anyOf: types }] });
    expect(publish(open, 'v2')).toEqual(open);
  });

  it('adds the common properties to an embedded object', () => {
    const schema = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      required: ['spec'],
      properties: { spec: { type: 'string' }, kind: { type: 'string', enum: ['A'] } },
    };
    expect(publish(schema, 'v3')).toMatchObject({
      required: ['spec', 'kind', 'apiVersion'],
      properties: { spec: { type: 'string' }, kind: { type: 'string' }, metadata: METADATA },
    });
    expect(publish(schema, 'v3')!.properties).not.toHaveProperty('kind.enum');
  });

  it('has no type in version 2 for values that may be null or have unknown fields, and does not require nullable values', () => {
    expect(publish({ type: 'array', nullable: true, items: { type: 'string' }, minItems: 1 }, 'v2')).toEqual({
      minItems: 1,
    });
    const open = { 'x-kubernetes-preserve-unknown-fields': true };
    expect(publish({ type: 'object', ...open, properties: { a: { type: 'string' } } }, 'v2')).toEqual(open);
    const schema = {
      type: 'object',
      required: ['a', 'b'],
      properties: { a: { type: 'string', nullable: true }, b: { type: 'string' } },
    };
    expect(publish(schema, 'v2')).toMatchObject({ required: ['b'], properties: { a: {} } });
    expect(publish(schema, 'v3')).toMatchObject({ required: ['a', 'b'] });
  });

  it('omits examples and links', () => {
    const schema = { type: 'string', example: 'x', externalDocs: { url: 'https://example.com' } };
    expect(publish(schema, 'v3')).toEqual({ type: 'string' });
  });
});
