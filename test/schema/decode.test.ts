import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../core/model/object.js';
import { namingOf } from '../../core/naming.js';
import { findStrictErrors } from '../../core/schema/decode/strict.js';
import { decodeObject, encode, normalize, parseJson, parseStrict } from '../../core/schema/decode/decode.js';
import { unstoredAt } from '../../core/schema/decode/unstored.js';
import { buildRegistry } from '../../core/schema/registry/registry.js';
import { typeOf } from '../../core/schema/table/types.js';

const registry = buildRegistry({ naming: namingOf('neutral'), strategies: () => undefined, generation: 1 });
const resource = (group: string, plural: string) => registry.find(group, 'v1', plural)!;
const deployments = resource('apps', 'deployments');
const decode = (of: typeof deployments, value: Json) => {
  const strictErrors: string[] = [];
  return { text: encode(decodeObject(of, value, { strictErrors })), strictErrors };
};
const bytes = (text: string) => Buffer.from(text);
const refusal = (of: typeof deployments, value: Json): string => {
  try {
    decode(of, value);
  } catch (cause) {
    return (cause as Error).message;
  }
  return 'accepted';
};

describe('canonical form', () => {
  it(
    'begins with kind and apiVersion, then members in declaration order, with zero structs written and empty ' +
      'members dropped',
    () => {
      const { text } = decode(deployments, {
        spec: { template: { spec: { containers: [{ image: 'i', name: 'c', args: [] }] } }, paused: false },
        metadata: { labels: {}, name: 'x' },
        apiVersion: 'apps/v1',
        kind: 'Deployment',
      });
      expect(text).toBe(
        '{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"x","creationTimestamp":null},"spec":{"selector":null,' +
          '"template":{"metadata":{"creationTimestamp":null},"spec":{"containers":[{"name":"c","image":"i","resources":{}}]}},' +
          '"strategy":{}},"status":{}}',
      );
      expect(text.startsWith('{"kind":"Deployment","apiVersion":"apps/v1",')).toBe(true);
    },
  );

  it('[R259] treats null as absent, and null items of lists and maps as the zero value', () => {
    const { text } = decode(resource('', 'configmaps'), {
      metadata: { annotations: { a: null }, labels: null },
      data: null,
    });
    expect(text).toContain('"annotations":{"a":""}');
    expect(text).not.toContain('labels');
  });

  it('removes unknown fields and reports them in document order', () => {
    const { strictErrors } = decode(deployments, {
      spec: { template: { spec: { containers: [{ name: 'c', size: 1 }], shape: 1 } }, colour: 1 },
      extra: 1,
      Metadata: {},
    } as unknown as Json);
    expect(strictErrors).toEqual([
      'unknown field "spec.template.spec.containers[0].size"',
      'unknown field "spec.template.spec.shape"',
      'unknown field "spec.colour"',
      'unknown field "extra"',
      'unknown field "Metadata"',
    ]);
  });

  it('sorts maps, and treats __proto__ as an ordinary member', () => {
    const value = parseJson(bytes('{"data":{"b":"2","__proto__":"x","a":"1"}}'));
    expect(decode(resource('', 'configmaps'), value).text).toContain('"data":{"__proto__":"x","a":"1","b":"2"}');
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('escapes <, > and & in messages', () => {
    expect(encode({ a: '<&>\u2028' })).toBe('{"a":"\\u003c\\u0026\\u003e\\u2028"}');
  });

  it('is stable: normalizing the canonical form changes nothing', () => {
    const values = fc.letrec(tie => ({
      json: fc.oneof({ maxDepth: 4 }, fc.constant(null), fc.string(), fc.integer(), tie('object')),
      object: fc.dictionary(
        fc.constantFrom('metadata', 'spec', 'name', 'labels', 'data', 'x'),
        tie('json') as fc.Arbitrary<Json>,
        { noNullPrototype: true },
      ),
    }));
    const type = typeOf('core.v1.ConfigMap');
    fc.assert(
      fc.property(values.object, value => {
        let once: Json;
        try {
          once = normalize(type, value as Json, { strictErrors: [] });
        } catch {
          return;
        }
        expect(encode(normalize(type, once, { strictErrors: [] }))).toBe(encode(once));
      }),
    );
  });
});

describe('wrong types', () => {
  it('[R257] are reported with the field, its struct and its type', () => {
    const prefix = 'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal';
    expect(refusal(deployments, { spec: { replicas: '2' } })).toBe(
      `${prefix} string into Go struct field DeploymentSpec.spec.replicas of type int32`,
    );
    expect(refusal(deployments, { spec: { template: { spec: { containers: ['c'] } } } })).toBe(
      `${prefix} string into Go struct field PodSpec.spec.template.spec.containers of type v1.Container`,
    );
    expect(refusal(deployments, { metadata: { labels: { n: 1 } } })).toBe(
      `${prefix} number into Go struct field ObjectMeta.metadata.labels of type string`,
    );
    expect(refusal(deployments, [])).toBe(`${prefix} array into Go value of type v1.Deployment`);
  });

  it.each([
    [{ spec: { replicas: 1.5 } }],
    [{ spec: { replicas: 2147483648 } }],
    [{ spec: { replicas: 1e20 } }],
    [{ spec: { paused: 1 } }],
    [{ spec: { template: { spec: { containers: {} } } } }],
    [{ metadata: { creationTimestamp: 'yesterday' } }],
    [{ metadata: { creationTimestamp: '2020-02-30T00:00:00Z' } }],
    [{ metadata: { finalizers: 'a/b' } }],
    [{ spec: { strategy: { rollingUpdate: { maxSurge: true } } } }],
  ])('[R258] refuses %j', value => {
    expect(refusal(deployments, value as Json)).toMatch(/cannot be handled as a Deployment/);
  });
});

describe('scalars', () => {
  const event = resource('', 'events');
  const lease = resource('coordination.orchestrator.io', 'leases');
  it.each([
    ['2020-01-02T03:04:05.999Z', '2020-01-02T03:04:05Z'],
    ['2020-01-02T03:04:05+05:30', '2020-01-01T21:34:05Z'],
    ['2020-01-02T23:59:59-01:00', '2020-01-03T00:59:59Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
  ])('time %s becomes %s', (given, want) => {
    expect(decode(event, { firstTimestamp: given }).text).toContain(`"firstTimestamp":"${want}"`);
  });

  it('micro times must have six digits', () => {
    expect(decode(lease, { spec: { renewTime: '2020-01-02T03:04:05.000001+02:00' } }).text).toContain(
      '"renewTime":"2020-01-02T01:04:05.000001Z"',
    );
    expect(refusal(lease, { spec: { renewTime: '2020-01-02T03:04:05Z' } })).toMatch(/cannot parse "Z" as "\.000000"$/);
  });

  const LAYOUT = '"2006-01-02T15:04:05Z07:00"';
  it.each([
    ['x', ` as ${LAYOUT}: cannot parse "x" as "2006"`],
    ['', ` as ${LAYOUT}: cannot parse "" as "2006"`],
    ['2020/01/02', ` as ${LAYOUT}: cannot parse "/01/02" as "-"`],
    ['2020-01-02', ` as ${LAYOUT}: cannot parse "" as "T"`],
    ['2020-01-02T03:04:05', ` as ${LAYOUT}: cannot parse "" as "Z07:00"`],
    ['2020-01-02T03:04:05+01', ` as ${LAYOUT}: cannot parse "+01" as "Z07:00"`],
    ['2020-13-02T03:04:05Z', ': month out of range'],
    ['2020-02-30T03:04:05Z', ': day out of range'],
    ['2020-01-02T24:04:05Z', ': hour out of range'],
    ['2020-01-02T03:04:05Zulu', ': extra text: "ulu"'],
  ])('the time %j is refused with the invalid element', (given, why) => {
    expect(refusal(event, { firstTimestamp: given })).toContain(`parsing time ${JSON.stringify(given)}${why}`);
  });

  it('base64 is made canonical, or refused if malformed', () => {
    const secrets = resource('', 'secrets');
    expect(decode(secrets, { data: { a: 'aGk=\n' } }).text).toContain('"a":"aGk="');
    for (const [text, at] of [
      ['***', 0],
      ['1', 0],
      ['YQ==x', 4],
      ['AB=', 3],
      ['AB=C', 2],
      ['YWI==', 4],
      ['YWJj\nZA', 5],
      ['=', 0],
    ] as const)
      expect(refusal(secrets, { data: { a: text } })).toContain(`illegal base64 data at input byte ${at}`);
  });
});

describe('JSON bodies', () => {
  it('refuses nesting beyond the limit and accepts it below', () => {
    expect(() => parseJson(bytes('['.repeat(600) + ']'.repeat(600)))).toThrow(/depth/);
    expect(parseJson(bytes('['.repeat(500) + ']'.repeat(500)))).toBeDefined();
    expect(parseJson(bytes(`"${'['.repeat(2000)}"`))).toHaveLength(2000);
  });

  it('refuses malformed JSON', () => {
    expect(() => parseJson(bytes('{"a":01}'))).toThrow(/json parse error/);
  });

  it('[R256] lists duplicate members with their paths', () => {
    const text = '{"a":{"x":1,"x":2},"l":[{"n":"\\"","n":1},[{"b":1,"b":2}]],"a":{},"a":1}';
    expect(parseStrict(bytes(text)).duplicates).toEqual([
      'duplicate field "a.x"',
      'duplicate field "l[0].n"',
      'duplicate field "l[1][0].b"',
      'duplicate field "a"',
    ]);
  });

  it(
    '[R266] lists repeated and unknown members of a type in document order, none inside of values ' + 'of any shape',
    () => {
      const text =
        '{"metadata":{"name":"a","name":"b","managedFields":[{"fieldsV1":{"f:a":{},"f:a":{}}}]},"colour":"red","data":{"k":"1","k":"2"},"Data":{"x":1,"x":2}}';
      expect(findStrictErrors(text, typeOf('core.v1.ConfigMap'))).toEqual([
        'duplicate field "metadata.name"',
        'unknown field "colour"',
        'duplicate field "data.k"',
        'unknown field "Data"',
      ]);
    },
  );

  it('ignores fields of disabled features', () => {
    const sink = { strictErrors: [] };
    const lease = normalize(typeOf('coordination.v1.LeaseSpec'), { holderIdentity: 'a', preferredHolder: 'b' }, sink);
    expect(lease).toEqual({ holderIdentity: 'a' });
    expect(sink.strictErrors).toEqual([]);
  });

  it('records dropped members in a tree, which stores a common path once', () => {
    const unstored = unstoredAt('');
    const volumes: Json = [{ name: 'v' }, { name: 'w', configMap: { items: [] } }];
    const spec = { containers: [{ args: [], command: [], name: 'c' }], volumes, nodeSelector: {} };
    const pod = decodeObject(resource('', 'pods'), { metadata: { labels: {} }, spec }, { strictErrors: [], unstored });
    const empty = (name: string, value: Json = []) => ({ name, value, omitted: true });
    expect(unstored.below.map(({ step, members }) => [step, members])).toEqual([
      ['metadata', [empty('labels', {})]],
      ['spec', [empty('nodeSelector', {})]],
    ]);
    const [containers, listed] = unstored.below[1]!.below;
    expect(containers).toEqual({
      step: 'containers',
      members: [],
      below: [{ step: 0, members: [empty('command'), empty('args')], below: [] }],
    });
    expect(listed!.below.map(({ step, below }) => [step, below])).toEqual([
      [1, [{ step: 'configMap', members: [empty('items')], below: [] }]],
    ]);
    expect(encode(pod)).not.toContain('[]');
  });

  it('finds no duplicates in the output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.json(), text => {
        expect(parseStrict(bytes(text)).duplicates).toEqual([]);
      }),
    );
  });
});
