import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../core/model/object.js';
import { Refusal } from '../../core/model/refusal.js';
import {
  decodeEnvelope,
  decodeMessage,
  encodeCommon,
  encodeEnvelope,
  encodeMessage,
} from '../../core/schema/protobuf/protobuf.js';
import { typeOf } from '../../core/schema/table/types.js';

const roundTrip = (id: string, value: Json): unknown => {
  const { value: back, unknown } = decodeMessage(typeOf(id), encodeMessage(typeOf(id), value));
  expect(unknown).toEqual([]);
  return JSON.parse(JSON.stringify(back));
};

describe('objects in protobuf [R100] [R101] [R102] [R103]', () => {
  it('keep maps, bytes and metadata', () => {
    const value = {
      metadata: { name: 'x', labels: { a: '1' }, creationTimestamp: '2024-01-01T00:00:00Z', generation: 3 },
      data: { k: 'v', z: '' },
      binaryData: { b: 'aGk=' },
    };
    expect(roundTrip('core.v1.ConfigMap', value)).toEqual(value);
  });

  it('keep quantities, ports by name and number, embedded structs and pointers to zero', () => {
    const value = {
      replicas: 0,
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: {},
        spec: {
          volumes: [{ name: 'v', configMap: { name: 'c', optional: false } }],
          containers: [
            {
              name: 'c',
              resources: { limits: { cpu: '1500m' } },
              livenessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 5 },
              readinessProbe: { tcpSocket: { port: 8080 } },
            },
          ],
        },
      },
    };
    expect(roundTrip('apps.v1.DeploymentSpec', value)).toMatchObject(value);
  });

  it('keep schemas of custom resources with values of several forms', () => {
    const schema = {
      type: 'object',
      properties: {
        list: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
        map: { type: 'object', additionalProperties: { type: 'integer', minimum: 1.5 } },
        open: { type: 'object', additionalProperties: true, default: { a: [1] } },
      },
    };
    expect(roundTrip('apiextensions.v1.JSONSchemaProps', schema)).toMatchObject(schema);
  });

  it('contain JSON with at most the depth of a JSON body', () => {
    const type = typeOf('apps.v1.ControllerRevision');
    const nested = (depth: number): Json => ({
      data: { a: JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as Json },
    });
    expect(decodeMessage(type, encodeMessage(type, nested(500))).value).toMatchObject({ data: expect.anything() });
    expect(() => decodeMessage(type, encodeMessage(type, nested(600)))).toThrow('exceeded max depth of 512');
  });

  it('report fields that the type does not have', () => {
    const bytes = Buffer.concat([
      encodeMessage(typeOf('core.v1.ConfigMap'), { metadata: { name: 'x' } }),
      Buffer.from([0x9a, 0x06, 1, 65]),
    ]);
    expect(decodeMessage(typeOf('core.v1.ConfigMap'), bytes).unknown).toHaveLength(1);
  });
});

describe('the envelope [R104] [R105]', () => {
  it('has kind, apiVersion and the message after the magic', () => {
    const body = encodeEnvelope('v1', 'ConfigMap', Uint8Array.of(1, 2));
    expect([...body.subarray(0, 4)]).toEqual([0x6b, 0x38, 0x73, 0]);
    const opened = decodeEnvelope(body);
    expect([opened.apiVersion, opened.kind, [...opened.raw]]).toEqual(['v1', 'ConfigMap', [1, 2]]);
  });

  it('can hold a Status', () => {
    const body = encodeCommon({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      message: 'm',
      reason: 'NotFound',
      code: 404,
    } as never);
    const { kind, raw } = decodeEnvelope(body ?? new Uint8Array());
    expect(kind).toBe('Status');
    expect(decodeMessage(typeOf('meta.v1.Status'), raw).value).toMatchObject({
      status: 'Failure',
      message: 'm',
      reason: 'NotFound',
      code: 404,
    });
  });

  it('that is malformed is refused with 400', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.boolean(), (bytes, magic) => {
        const body = magic ? Buffer.concat([Buffer.from([0x6b, 0x38, 0x73, 0]), bytes]) : bytes;
        try {
          decodeMessage(typeOf('core.v1.Pod'), decodeEnvelope(body).raw);
          decodeMessage(typeOf('core.v1.Pod'), bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal);
        }
      }),
      { numRuns: 500 },
    );
  });
});
