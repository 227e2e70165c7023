import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../core/model/object.js';
import { objectFields, readConfiguration } from '../../core/schema/apply/applied.js';
import { compare, allFields } from '../../core/schema/apply/compare.js';
import { isEmpty, pathTexts } from '../../core/schema/apply/fieldSet.js';
import { merge, removeFields, addParentStructs } from '../../core/schema/apply/merge.js';
import { shapeOf, UNTYPED } from '../../core/schema/apply/shape.js';
import { typeOf } from '../../core/schema/table/types.js';

const pod = shapeOf(typeOf('core.v1.PodSpec'));
const deployment = shapeOf(typeOf('apps.v1.Deployment'));
const configMap = shapeOf(typeOf('core.v1.ConfigMap'));

describe('merging a configuration into an object', () => {
  test('replaces atomic lists and merges others by their keys [R081 R086 R095]', () => {
    const live = { containers: [{ name: 'a', image: 'a:1', args: ['x', 'y'] }], nodeSelector: { disk: 'ssd' } };
    const config: Json = {
      containers: [
        { name: 'b', image: 'b:1' },
        { name: 'a', args: ['z'] },
      ],
    };
    expect(merge(pod, live, config)).toEqual({
      containers: [
        { name: 'b', image: 'b:1' },
        { name: 'a', image: 'a:1', args: ['z'] },
      ],
      nodeSelector: { disk: 'ssd' },
    });
  });

  test('places items that only the object has after their former predecessors', () => {
    const names = (list: string): Json => ({ containers: [...list].map(name => ({ name })) });
    const merged = (live: string, config: string): string =>
      (merge(pod, names(live), names(config)) as { containers: { name: string }[] }).containers
        .map(c => c.name)
        .join('');
    expect([
      merged('abc', 'b'),
      merged('abc', 'ca'),
      merged('ab', 'xb'),
      merged('ab', 'xy'),
      merged('', 'ab'),
      merged('ab', ''),
    ]).toEqual(['abc', 'bca', 'axb', 'abxy', 'ab', 'ab']);
  });

  test('contains every item once, the applied ones in their order', () => {
    const some: fc.Arbitrary<string[]> = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'));
    fc.assert(
      fc.property(some, some, (live, config) => {
        const list = (names: readonly string[]): Json => ({ containers: names.map(name => ({ name })) });
        const out = (merge(pod, list(live), list(config)) as { containers: { name: string }[] }).containers.map(
          c => c.name,
        );
        expect([...out].sort()).toEqual([...new Set([...live, ...config])].sort());
        expect(out.filter(name => config.includes(name))).toEqual(config);
        expect(out.filter(name => !config.includes(name))).toEqual(live.filter(name => !config.includes(name)));
      }),
    );
  });

  test('does not change its arguments, and keeps members with inherited names', () => {
    const live = Object.freeze({ data: Object.freeze(JSON.parse('{"__proto__":"1","a":"1"}')) });
    const config = Object.freeze({ data: Object.freeze(JSON.parse('{"constructor":"2"}')) });
    const merged = merge(configMap, live, config) as { data: object };
    expect(JSON.stringify(merged)).toBe('{"data":{"__proto__":"1","a":"1","constructor":"2"}}');
    expect(Object.getPrototypeOf(merged.data)).toBe(Object.prototype);
  });

  test('removes paths with everything below them', () => {
    const value = { containers: [{ name: 'a', image: 'i', env: [{ name: 'X', value: '1' }] }], hostNetwork: true };
    const set = { 'f:containers': { 'k:{"name":"a"}': { 'f:env': {} } }, 'f:hostNetwork': {} };
    expect(removeFields(pod, value, set)).toEqual({ containers: [{ name: 'a', image: 'i' }] });
  });
});

describe('fields of a configuration', () => {
  test(
    'are members without their structs, items and map keys themselves, and whole atomic values [R081 R082 ' +
      'R092 R093]',
    () => {
      const { set, errors } = readConfiguration(deployment, {
        metadata: { labels: { app: 'x' }, annotations: {} },
        spec: {
          selector: { matchLabels: { app: 'x' } },
          template: { spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] } },
        },
      });
      expect(errors).toEqual([]);
      expect(set).toEqual({
        'f:metadata': { 'f:annotations': {}, 'f:labels': { 'f:app': {} } },
        'f:spec': {
          'f:selector': {},
          'f:template': {
            'f:spec': {
              'f:containers': {
                'k:{"name":"c"}': {
                  '.': {},
                  'f:name': {},
                  'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
                },
              },
            },
          },
        },
      });
      expect(addParentStructs(deployment, { 'f:spec': { 'f:replicas': {} } })).toEqual({
        'f:spec': { '.': {}, 'f:replicas': {} },
      });
    },
  );

  test('of a value without schema are all members, and whole lists [R096 R097]', () => {
    expect(objectFields(UNTYPED, { a: { b: [1, { c: 1 }] } })).toEqual({ 'f:a': { '.': {}, 'f:b': {} } });
  });

  test.each([
    [{ spec: { shape: 1 } }, '.spec.shape: field not declared in schema'],
    [{ spec: { replicas: 'x' } }, '.spec.replicas: expected number, got "x"'],
    [{ spec: { template: { spec: { containers: {} } } } }, '.spec.template.spec.containers: expected list, got map'],
    [
      { spec: { template: { spec: { containers: [{ name: 'a' }, { name: 'a' }] } } } },
      '.spec.template.spec.containers: duplicate entries for key [name="a"]',
    ],
    [{ metadata: { finalizers: ['a.b/c', 'a.b/c'] } }, '.metadata.finalizers: duplicate entries for key [="a.b/c"]'],
  ])('that do not conform to the schema are reported: %j', (config, message) => {
    expect(readConfiguration(deployment, config as Json).errors).toEqual([message]);
  });
});

describe('comparing objects', () => {
  const value = fc.letrec<{ value: Json }>(tie => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Json>(null, 1, 'x', true),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor'), tie('value')),
    ),
  })).value;

  test('finds no difference between equal objects, and all fields if one is missing', () => {
    fc.assert(
      fc.property(value, one => {
        const { added, removed, modified } = compare(UNTYPED, { one }, { one: structuredClone(one) });
        expect([added, removed, modified].every(isEmpty)).toBe(true);
        expect(compare(UNTYPED, {}, { one }).added).toEqual({ 'f:one': allFields(UNTYPED, one) });
        expect(compare(UNTYPED, { one }, {}).removed).toEqual({ 'f:one': allFields(UNTYPED, one) });
      }),
    );
  });

  test('finds the same additions and removals in either direction', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [there, back] = [compare(UNTYPED, { a }, { a: b }), compare(UNTYPED, { a: b }, { a })];
        expect([there.added, there.removed, there.modified]).toEqual([back.removed, back.added, back.modified]);
      }),
    );
  });

  test('matches items by their keys, and compares duplicate items as a whole', () => {
    const ports = (...list: object[]): Json => ({ containers: [{ name: 'c', ports: list as Json[] }] });
    const at = {
      'f:containers': { 'k:{"name":"c"}': { 'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': {} } } },
    };
    const port = (name: string): object => ({ containerPort: 80, protocol: 'TCP', name });
    expect(compare(pod, ports(port('a')), ports(port('b'))).modified).toEqual({
      'f:containers': {
        'k:{"name":"c"}': { 'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { 'f:name': {} } } },
      },
    });
    expect(compare(pod, ports(port('a'), port('b')), ports(port('b'), port('b'))).modified).toEqual(at);
    expect(compare(pod, ports(port('a')), ports(port('a'), port('b'))).added).toEqual(at);
    expect(compare(pod, ports(port('a'), port('b')), ports()).removed).toEqual(at);
  });

  test('treats a missing key that is always written as its zero value', () => {
    const config = { spec: { template: { spec: { containers: [{ image: 'i', ports: [{ name: 'p' }] }] } } } };
    const { set, errors } = readConfiguration(deployment, config);
    expect(errors).toEqual([]);
    expect(pathTexts(set)).toContain(
      '.spec.template.spec.containers[name=""].ports[containerPort=0,protocol="TCP"].name',
    );
  });
});
