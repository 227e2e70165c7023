import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JSON_PATCH_OPERATIONS } from '../../core/limits.js';
import type { Json } from '../../core/model/object.js';
import type { Refusal } from '../../core/model/refusal.js';
import { applyJsonPatch, jsonPatchErrors } from '../../core/schema/patch/jsonPatch.js';
import { deepCopy, equalJson } from '../../core/schema/patch/members.js';
import { applyMergePatch } from '../../core/schema/patch/mergePatch.js';
import { applyStrategicPatch } from '../../core/schema/patch/strategic.js';
import { typeOf } from '../../core/schema/table/types.js';

const patch = (target: Json, ...operations: Json[]) => applyJsonPatch(target, operations, JSON_PATCH_OPERATIONS);
const code = (run: () => unknown): number => {
  try {
    run();
  } catch (cause) {
    return (cause as Refusal).code;
  }
  return 200;
};
const anyJson = fc.jsonValue({ maxDepth: 3, noUnicodeString: true } as fc.JsonSharedConstraints) as fc.Arbitrary<Json>;
const anyObject = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), anyJson, {
  noNullPrototype: true,
});

describe('JSON Patch', () => {
  it.each<[string, Json, Json[], Json]>([
    ['adds to the end of a list', { l: [1] }, [{ op: 'add', path: '/l/-', value: 2 }], { l: [1, 2] }],
    ['inserts into a list', { l: [1] }, [{ op: 'add', path: '/l/0', value: 0 }], { l: [0, 1] }],
    [
      'replaces and removes',
      { a: 1, b: 2 },
      [
        { op: 'replace', path: '/a', value: 3 },
        { op: 'remove', path: '/b' },
      ],
      { a: 3 },
    ],
    ['moves', { a: { x: 1 } }, [{ op: 'move', from: '/a/x', path: '/b' }], { a: {}, b: 1 }],
    [
      'copies',
      { a: [1] },
      [
        { op: 'copy', from: '/a', path: '/b' },
        { op: 'add', path: '/b/0', value: 0 },
      ],
      { a: [1], b: [0, 1] },
    ],
    [
      'unescapes paths',
      { 'a/b': 1, 'c~d': 2 },
      [
        { op: 'remove', path: '/a~1b' },
        { op: 'remove', path: '/c~0d' },
      ],
      {},
    ],
    ['replaces the whole object', { a: 1 }, [{ op: 'replace', path: '', value: { b: 1 } }], { b: 1 }],
    ['adds a missing member that is replaced', {}, [{ op: 'replace', path: '/a', value: 1 }], { a: 1 }],
    ['copies a missing member as null', {}, [{ op: 'copy', from: '/b', path: '/a' }], { a: null }],
    ['does not replace an object by a scalar', { a: 1 }, [{ op: 'replace', path: '', value: 1 }], { a: 1 }],
    ['treats a missing value as null', {}, [{ op: 'add', path: '/a' }], { a: null }],
    ['tests a missing member against null', {}, [{ op: 'test', path: '/a', value: null }], {}],
  ])('[R201] %s', (_name, target, operations, want) => {
    expect(patch(target, ...operations)).toEqual(want);
  });

  it.each<[Json]>([
    [{ op: 'remove', path: '/absent' }],
    [{ op: 'test', path: '/a', value: '2' }],
    [{ op: 'add', path: '/x/y', value: 1 }],
    [{ op: 'add', path: '/l/5', value: 1 }],
    [{ op: 'remove', path: '/l/-1' }],
    [{ op: 'replace', path: '/l/first', value: 1 }],
    [{ op: 'move', from: '/absent', path: '/b' }],
    [{ op: 'move', from: '/o', path: '/o/x' }],
    [{ op: 'add', path: '', value: {} }],
    [{ op: 'copy', from: '', path: '/b' }],
    [{ op: 'move', from: '/o', path: '' }],
    [{ op: 'merge', path: '/a', value: 1 }],
    [{ op: 'replace', path: '/__proto__/x', value: 1 }],
    [{ op: 'add', path: '/constructor/prototype/x', value: 1 }],
    [{ op: 'add', path: 'a', value: 1 }],
  ])('[R202] answers 422 for %j and changes nothing', operation => {
    const target = { a: '1', l: [1], o: {} };
    expect(code(() => patch(target, { op: 'add', path: '/new', value: 1 }, operation))).toBe(422);
    expect(target).toEqual({ a: '1', l: [1], o: {} });
  });

  it('answers 400 for malformed patches and 413 for too many operations or copies that grow', () => {
    expect(code(() => applyJsonPatch({}, { op: 'add' }, 10))).toBe(400);
    expect(code(() => patch({}, 7))).toBe(400);
    expect(() => applyJsonPatch({}, new Array(11).fill({ op: 'test', path: '' }), 10)).toThrow(
      'Request entity too large: The allowed maximum operations in a JSON patch is 10, got 11',
    );
    const doubling = new Array(40).fill(0).map((_, at) => ({ op: 'copy', from: '/a', path: `/a/c${at}` }));
    expect(code(() => patch({ a: { b: 'x'.repeat(100) } }, ...doubling))).toBe(413);
  });

  it('describes less if the types of members are not checked', () => {
    const unchecked = (given: Json) => () => applyJsonPatch({ a: 1 }, given, 10, false);
    expect(unchecked({})).toThrow(/^json: cannot unmarshal object into Go value of type jsonpatch.Patch$/);
    expect(unchecked(['x'])).toThrow(/^json: cannot unmarshal string into Go value of type jsonpatch.Operation$/);
    expect(code(unchecked([{ op: 5, path: '/a' }]))).toBe(422);
    expect(code(unchecked([{ op: 'remove', path: 5 }]))).toBe(422);
  });

  it('changes nothing if the patch is null', () => {
    expect(applyJsonPatch({ a: 1 }, null, 10)).toEqual({ a: 1 });
  });

  it('gives no reason if a valid patch cannot be applied', () => {
    for (const operation of [
      { op: 'test', path: '/a', value: 2 },
      { op: 'remove', path: '/b' },
      { op: 'odd', path: '/a' },
      { op: 'add', path: '', value: 1 },
      null,
    ] as Json[]) {
      const refused = (): unknown => patch({ a: 1 }, operation);
      expect(refused).toThrow(/^the server rejected our request due to an error in our request$/);
      expect(code(refused)).toBe(422);
    }
  });

  it.each<[Json, string]>([
    [{}, 'object into Go value of type []handlers.jsonPatchOp'],
    ['x', 'string into Go value of type []handlers.jsonPatchOp'],
    [[[]], 'array into Go value of type handlers.jsonPatchOp'],
    [[{ op: 5, path: '/a' }], 'number into Go struct field jsonPatchOp.op of type string'],
    [[{ op: 'add', path: true }], 'bool into Go struct field jsonPatchOp.path of type string'],
    [[{ op: 'copy', path: '/a', from: {} }], 'object into Go struct field jsonPatchOp.from of type string'],
  ])('reports the wrong type of %j', (given, why) => {
    expect(() => applyJsonPatch({}, given, 10)).toThrow(`error decoding patch: json: cannot unmarshal ${why}`);
  });

  it('reports unknown and duplicate members of operations', () => {
    expect(jsonPatchErrors('[{"op":"add","path":"/a","why":1}]')).toEqual(['json patch unknown field "[0].why"']);
    expect(
      jsonPatchErrors('[{"op":"test","path":"/a","value":{"x":1,"y":2,"x":3}},{"op":"add","op":"remove","path":"/b"}]'),
    ).toEqual(['json patch duplicate field "[0].value.x"', 'json patch duplicate field "[1].op"']);
  });

  it('changes nothing by adding a member and removing it again', () => {
    fc.assert(
      fc.property(anyObject, anyJson, (target, value) => {
        const result = patch(target, { op: 'add', path: '/fresh', value }, { op: 'remove', path: '/fresh' });
        expect(equalJson(result, target)).toBe(true);
      }),
    );
  });
});

describe('JSON Merge Patch', () => {
  it.each<[Json, Json, Json]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  ])('[R203] RFC 7386: %j patched with %j', (target, given, want) => {
    expect(applyMergePatch(target, given)).toEqual(want);
  });

  it('removes null members of objects in lists', () => {
    const given = { a: [{ b: null, c: [null, { d: null }] }, null] };
    expect(applyMergePatch({ a: [1] }, given)).toEqual({ a: [{ c: [null, {}] }, null] });
  });

  it('is idempotent and never reaches a prototype', () => {
    fc.assert(
      fc.property(anyObject, anyObject, (target, given) => {
        const once = applyMergePatch(target, given);
        expect(JSON.stringify(applyMergePatch(once, given))).toBe(JSON.stringify(once));
        expect(Object.getPrototypeOf(once)).toBe(Object.prototype);
      }),
    );
    expect(() => applyMergePatch({}, [1])).toThrow(
      'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    );
    expect(() => applyMergePatch({}, null)).toThrow('Invalid JSON Patch');
  });
});

describe('strategic merge patch', () => {
  const type = typeOf('core.v1.PodSpec');
  const spec = (target: Json, given: Json) => applyStrategicPatch(target, given, type);
  const containers: Json[] = [
    { name: 'a', image: 'i:1', env: [{ name: 'A', value: '1' }], args: ['one'] },
    { name: 'b', image: 'i:1' },
  ];
  const names = (result: Json): string[] =>
    (result as unknown as { containers: { name: string }[] }).containers.map(c => c.name);

  it('[R204] merges lists of objects by their key, replaces atomic lists, puts new items first', () => {
    expect(spec({ containers }, { containers: [{ name: 'b', image: 'i:2' }] })).toEqual({
      containers: [containers[0]!, { name: 'b', image: 'i:2' }],
    });
    expect(names(spec({ containers }, { containers: [{ name: 'c', image: 'i' }] }))).toEqual(['c', 'a', 'b']);
    const result = spec(
      { containers },
      { containers: [{ name: 'a', args: ['x'], env: [{ name: 'B' }, { name: 'A', value: '2' }] }] },
    );
    expect(result).toMatchObject({
      containers: [{ args: ['x'], env: [{ name: 'B' }, { name: 'A', value: '2' }] }, { name: 'b' }],
    });
  });

  it('[R204] obeys delete and replace in lists and maps', () => {
    expect(names(spec({ containers }, { containers: [{ name: 'a', $patch: 'delete' }] }))).toEqual(['b']);
    expect(names(spec({ containers }, { containers: [{ name: 'z', $patch: 'delete' }] }))).toEqual(['a', 'b']);
    expect(names(spec({ containers }, { containers: [{ $patch: 'replace' }, { name: 'n' }] }))).toEqual(['n']);
    expect(spec({ nodeSelector: { a: '1' } }, { nodeSelector: { $patch: 'replace', c: '3' } })).toEqual({
      nodeSelector: { c: '3' },
    });
    expect(spec({ nodeSelector: { a: '1' } }, { nodeSelector: { $patch: 'delete' } })).toEqual({ nodeSelector: {} });
    expect(spec({ nodeSelector: { a: '1' } }, { nodeSelector: { a: null, b: '2' } })).toEqual({
      nodeSelector: { b: '2' },
    });
  });

  it('[R204] obeys $retainKeys', () => {
    const target = { volumes: [{ name: 'v', emptyDir: {} }] };
    const given = { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }] };
    expect(spec(target, given)).toEqual({ volumes: [{ name: 'v', configMap: { name: 'c' } }] });
    expect(code(() => spec(target, { volumes: [{ name: 'v', $retainKeys: ['name'], configMap: {} }] }))).toBe(400);
  });

  it('[R204] obeys $setElementOrder and $deleteFromPrimitiveList', () => {
    const order = (...of: string[]) => ({ '$setElementOrder/containers': of.map(name => ({ name })) });
    expect(names(spec({ containers }, order('b', 'a')))).toEqual(['b', 'a']);
    expect(names(spec({ containers }, { ...order('c', 'b', 'a'), containers: [{ name: 'c' }] }))).toEqual([
      'c',
      'b',
      'a',
    ]);
    const meta = typeOf('meta.v1.ObjectMeta');
    const finalizers = ['x/a', 'x/b'];
    expect(applyStrategicPatch({ finalizers }, { finalizers: ['x/b', 'x/a'] }, meta)).toEqual({
      finalizers: ['x/b', 'x/a'],
    });
    expect(applyStrategicPatch({ finalizers }, { finalizers: ['x/c'] }, meta)).toEqual({
      finalizers: ['x/c', 'x/a', 'x/b'],
    });
    expect(
      applyStrategicPatch({ finalizers }, { '$deleteFromPrimitiveList/finalizers': ['x/a', 'none'] }, meta),
    ).toEqual({
      finalizers: ['x/b'],
    });
    const both = { '$setElementOrder/finalizers': ['x/c', 'x/b', 'x/a'], finalizers: ['x/c'] };
    expect(applyStrategicPatch({ finalizers }, both, meta)).toEqual({ finalizers: ['x/c', 'x/b', 'x/a'] });
  });

  it('removes nulls and directives from values that are new in the object', () => {
    expect(
      spec(
        {},
        {
          containers: [
            { name: 'a', env: null },
            { name: 'b', $patch: 'delete' },
          ],
          nodeSelector: { a: null },
        },
      ),
    ).toEqual({
      containers: [{ name: 'a' }],
      nodeSelector: {},
    });
  });

  it('removes values with $patch from what is new in the object, and keeps other directives', () => {
    const volume = (more: Json) => ({ volumes: [{ name: 'v', ...(more as object) }] });
    expect(spec({}, volume({ csi: { $patch: 'replace', driver: 'd' }, emptyDir: {} }))).toEqual(
      volume({ emptyDir: {} }),
    );
    expect(spec({}, { imagePullSecrets: [{ $patch: 'replace' }, { name: 'a' }] })).toEqual({
      imagePullSecrets: [{ name: 'a' }],
    });
    expect(spec({}, { affinity: { $retainKeys: ['a'] } })).toEqual({ affinity: { $retainKeys: ['a'] } });
    expect(spec({ nodeSelector: 'odd' }, { nodeSelector: { $patch: 'replace', a: '1' } })).toEqual({});
  });

  it.each<[string, Json, Json, Json]>([
    [
      'replaced maps',
      { nodeSelector: { a: '1' } },
      { nodeSelector: { $patch: 'replace', a: null, b: { $patch: 'delete' } } },
      { nodeSelector: { a: null, b: { $patch: 'delete' } } },
    ],
    [
      'replaced lists',
      { volumes: [{ name: 'a' }] },
      { volumes: [{ $patch: 'replace' }, { name: 'b', csi: null, emptyDir: { $patch: 'x' } }] },
      { volumes: [{ name: 'b', csi: null, emptyDir: { $patch: 'x' } }] },
    ],
    [
      'atomic lists',
      { tolerations: [{ key: 'a' }] },
      { tolerations: [{ key: 'b', value: null, $patch: 'delete' }] },
      { tolerations: [{ key: 'b', value: null, $patch: 'delete' }] },
    ],
    [
      'new items of a keyed list',
      { volumes: [{ name: 'a' }] },
      { volumes: [{ name: 'b', csi: null, $retainKeys: ['name'] }] },
      { volumes: [{ name: 'b', csi: null, $retainKeys: ['name'] }, { name: 'a' }] },
    ],
  ])('keeps nulls and directives in %s', (_, target, given, result) => {
    expect(spec(target, given)).toEqual(result);
  });

  it('keeps nulls and directives in maps that the schema replaces', () => {
    const budget = typeOf('policy.v1.PodDisruptionBudgetSpec');
    const selector = { matchLabels: { a: null }, $patch: 'delete' };
    expect(applyStrategicPatch({ selector: { matchLabels: { b: '1' } } }, { selector }, budget)).toEqual({ selector });
  });

  it.each<[Json, number, string]>([
    [{ containers: [{ image: 'i' }] }, 422, 'map: map[image:i] does not contain declared merge key: name'],
    [
      { containers: [{ image: 'i', $patch: 'delete' }] },
      422,
      'map: map[$patch:delete image:i] does not contain declared merge key: name',
    ],
    [{ containers: [{ name: 'a', $patch: 'merge' }] }, 422, 'merging lists cannot yet be specified in the patch'],
    [{ containers: [{ name: 'a', $patch: 'odd' }] }, 422, 'unknown patch type: odd in map: map[$patch:odd name:a]'],
    [{ nodeSelector: { $patch: 'odd' } }, 422, 'unknown patch type: odd in map: map[$patch:odd]'],
    [{ imagePullSecrets: ['t'] }, 422, 'list element types are not identical: [[map[name:s]] [t]]'],
    [{ '$setElementOrder/containers': 'a' }, 422, 'expected a []interface {}, but received a string'],
    [
      { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'c' }] },
      422,
      "The order in patch list:\n[map[name:c]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
    [
      { '$setElementOrder/containers': [{ image: 'a' }], containers: [{ name: 'c' }] },
      422,
      'map: map[image:a] does not contain declared merge key: name',
    ],
    [
      { '$setElementOrder/containers': [{ name: 'a' }, {}] },
      422,
      'map: map[] does not contain declared merge key: name',
    ],
    [{ '$setElementOrder/containers': ['a'] }, 422, 'value for key 0 is not a map'],
    [{ $setElementOrder: [] }, 400, 'invalid patch format of setElementOrder list'],
    [{ $deleteFromPrimitiveList: [] }, 400, 'invalid patch format of primitive list'],
    [{ $retainKeys: [], containers: 'x', nodeSelector: { $patch: 'x' } }, 400, 'invalid patch format of retainKeys'],
    [{ $retainKeys: 'containers' }, 400, 'invalid patch format of retainKeys'],
    [[], 400, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [true, 400, 'json: cannot unmarshal bool into Go value of type map[string]interface {}'],
  ])("refuses %j with upstream's code and message", (given, status, message) => {
    const refused = () => spec({ containers, nodeSelector: {}, imagePullSecrets: [{ name: 's' }] }, given);
    expect(code(refused)).toBe(status);
    expect(refused).toThrow(message);
  });

  it('ignores a deletion from a missing list', () => {
    const meta = typeOf('meta.v1.ObjectMeta');
    const finalizers = ['x/a'];
    expect(applyStrategicPatch({ finalizers }, { '$deleteFromPrimitiveList/finalizers': 'x/a' }, meta)).toEqual({
      finalizers,
    });
  });

  it('orders by a directive with items that are not in the patch or that it deletes', () => {
    const order = { '$setElementOrder/containers': [{ name: 'b' }, { name: 'c' }, { name: 'a' }] };
    const given: Json[] = [{ name: 'a', $patch: 'delete' }, { name: 'b', image: 'x' }, { name: 'c' }];
    expect(names(spec({ containers }, { ...order, containers: given }))).toEqual(['b', 'c']);
  });

  it('agrees with JSON Merge Patch on types without lists to merge, and is idempotent', () => {
    const config = typeOf('core.v1.ConfigMap');
    const text = fc.oneof(fc.string(), fc.constant(null));
    const given = fc.record({
      data: fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), text, { noNullPrototype: true }),
    });
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.string(), { noNullPrototype: true }),
        given,
        (data, change) => {
          const once = applyStrategicPatch({ data }, change as Json, config);
          expect(equalJson(once, applyMergePatch({ data }, change as Json))).toBe(true);
          expect(JSON.stringify(applyStrategicPatch(once, change as Json, config))).toBe(JSON.stringify(once));
        },
      ),
    );
  });
});

describe('a deep copy', () => {
  it('equals its JSON value, with any member names, and shares no objects with it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), given => {
        const value = JSON.parse(`{"__proto__": ${JSON.stringify(given)}, "list": [{}]}`) as { list: object[] };
        const copy = deepCopy(value);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
        expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
        expect(copy.list[0]).not.toBe(value.list[0]);
      }),
    );
  });
});
