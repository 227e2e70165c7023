import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listLength, listParts } from '../../workers/front/forms/storedList.js';
import { checkNumbers, parseListOptions, refuseVersionOfToken } from '../../core/request/listOptions.js';
import { selectionOf } from '../../workers/front/reads/selection.js';
import { Entry } from '../../core/threads/entries/entry.js';
import { parseQuery } from '../../core/request/query.js';
import type { Route } from '../../core/request/route.js';
import type { ResourceTarget } from '../../core/model/target.js';
import type { Naming } from '../../core/naming.js';
import type { Resource } from '../../core/schema/resource.js';

const naming = { group: (name: string) => name } as Naming;
const codeOf = (query: string): number => {
  try {
    checkNumbers(parseQuery(query));
    refuseVersionOfToken(parseListOptions(parseQuery(query), naming));
    return 200;
  } catch (error) {
    return (error as { code: number }).code;
  }
};

test('the concatenated parts of a list are its JSON, with the announced length', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), names => {
      const items = names.map(name => new Entry('', 1, Buffer.from(`{${JSON.stringify({ name }).slice(1)}`)));
      const head = Buffer.from('{"items":[');
      const body = Buffer.concat([...listParts(head, items, 1)]);
      expect(body.toString()).toBe(`${JSON.stringify({ items: names.map(name => ({ name })) })}\n`);
      expect(listLength(head, items, 1)).toBe(body.length);
    }),
  );
});

test.each([
  ['resourceVersionMatch=Exact', 400],
  ['resourceVersionMatch=Exact&resourceVersion=0', 400],
  ['continue=x&resourceVersion=5', 400],
  ['resourceVersionMatch=Newest&resourceVersion=5', 422],
  ['resourceVersionMatch=Exact&resourceVersion=5&continue=x', 422],
  ['sendInitialEvents=true', 422],
  ['timeoutSeconds=x', 400],
  ['limit=9223372036854775807', 200],
  ['limit=9223372036854775808', 400],
])('[R162] the list options %s are answered with %d', (query, code) => {
  expect(codeOf(query)).toBe(code);
});

test('an invalid match is refused with the message of upstream', () => {
  const asked = parseQuery('resourceVersionMatch=Exact&resourceVersion=0&continue=x');
  expect(() => parseListOptions(asked, naming)).toThrow(
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided, resourceVersionMatch: ' +
      'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  );
});

const kind = {
  namespaced: true,
  storageName: 'core/secrets',
  strategy: { fieldAliases: new Map(), selectableFields: new Map([['type', () => '']]) },
} as unknown as Resource;
const routeTo = (target: Partial<ResourceTarget>, query: string): Route => ({
  target: { is: 'resource', verb: 'list', ...target } as ResourceTarget,
  query: parseQuery(query),
});
const selected = (name: string, namespace: string, fields: string) =>
  selectionOf(kind, routeTo({ name, namespace }, `fieldSelector=${encodeURIComponent(fields)}`));

test.each([
  ['a', 'ns', '', true],
  ['', 'ns', 'metadata.name=a', true],
  ['', 'ns', 'metadata.name=a,type=x', true],
  ['a', 'ns', 'type=x,metadata.name=a', true],
  ['', '', 'metadata.name=a', false],
  ['', '', 'metadata.name=a,metadata.namespace=ns', true],
  ['', 'ns', 'metadata.name!=a', false],
  ['', 'ns', 'type=x', false],
])("the path's name %j in namespace %j with the fields %j select one object: %j", (name, namespace, fields, single) => {
  expect(selected(name, namespace, fields).key).toBe(single ? 'core/secrets/ns/a' : undefined);
});

test('built-in cluster-scoped kinds without fields of their own can be selected by namespace', () => {
  const whole = { ...kind, namespaced: false, strategy: { fieldAliases: new Map(), selectableFields: new Map() } };
  const select = (builtIn: boolean) => () =>
    selectionOf(
      { ...whole, builtIn } as unknown as Resource,
      routeTo({ name: '', namespace: '' }, 'fieldSelector=metadata.namespace%3D'),
    );
  expect(select(true)).not.toThrow();
  expect(select(false)).toThrow('metadata.namespace');
});

test.each(['metadata.name=b', 'type=x', 'metadata.name!=a'])(
  'a name in the path together with the field selector %s is refused',
  fields => {
    expect(() => selected('a', 'ns', fields)).toThrow("fieldSelector metadata.name doesn't match requested name");
  },
);
