import { describe, expect, it } from 'vitest';
import { PACKAGES } from '../../core/schema/table/packages.js';
import { groupRows, readGroups } from '../../core/schema/table/resources.js';
import { TypeTable } from '../../core/schema/table/typeTable.js';
import { typeOf, typesOfPackage } from '../../core/schema/table/types.js';

const ENUMS = { 'tea.v1.Strength': ['Weak', 'Strong'] };

/** The fields of the type `Order` in a table with this text. */
const fieldsOf = (text: string) => new TypeTable({ 'tea.v1': text }, ENUMS).find('tea.v1.Order')!.fields;

describe('the table of built-in kinds', () => {
  it('can be parsed completely', () => {
    for (const name of Object.keys(PACKAGES)) for (const id of typesOfPackage(name)) typeOf(id).fields;
    expect(groupRows().length).toBeGreaterThan(20);
  });
});

describe('a table of types', () => {
  it('is read into structs', () => {
    const text = `
Order kind atomic
 metadata 1 .Meta ?
 + 2 .Body pb=body
 strength 3 string *? enum=.Strength default="Weak"
Meta
 name 1 string !
Body union=kind:leaf:Leaf
 leaf 4 []string ? list=map:a,b patch=merge,retainKeys by=a one=source gate=Tea
`;
    expect(fieldsOf(text)).toMatchObject([
      { name: 'metadata', number: 1, omitEmpty: true, pointer: false, required: false, type: { id: 'tea.v1.Meta' } },
      {
        name: 'leaf',
        type: { is: 'list', of: { name: 'string' } },
        merge: {
          listType: 'map',
          keys: ['a', 'b'],
          patchStrategy: ['merge', 'retainKeys'],
          patchMergeKey: 'a',
        },
        oneOf: 'source',
        gate: 'Tea',
        inlinedFrom: { number: 2, protoName: 'body', type: 'tea.v1.Body' },
      },
      { name: 'strength', pointer: true, type: { enum: ['Weak', 'Strong'] }, default: 'Weak' },
    ]);
  });

  it('has a list kind for each kind that is marked so, and types that are the same in another package', () => {
    const table = new TypeTable(
      {
        'meta.v1': 'ListMeta\n',
        'tea.v1': 'Meta\n name 1 string !\nOrder kind list\n metadata 1 .Meta ?\n',
        'tea.v1beta1': 'as tea.v1 Order\nMeta\n title 1 string !\n',
        'tea.v2': 'as tea.v1 Cup',
      },
      {},
    );
    expect(table.idsOf('tea.v1beta1')).toEqual(['Order', 'Meta', 'OrderList'].map(name => `tea.v1beta1.${name}`));
    const list = table.find('tea.v1beta1.OrderList')!;
    expect(list.typeMeta).toBe(true);
    expect(list.fields[1]).toMatchObject({ name: 'items', number: 2, required: true, type: { is: 'list' } });
    const [metadata] = table.find('tea.v1beta1.Order')!.fields;
    expect(metadata!.type).toBe(table.find('tea.v1beta1.Meta'));
    expect(() => table.idsOf('tea.v2')).toThrow('tea.v2: tea.v1 has no type Cup');
  });

  it.each([
    ['Order knd', 'tea.v1.Order: unknown word "knd"'],
    ['Order kind kind', 'tea.v1.Order: kind is given twice'],
    ['Order onion=a:b:c', 'tea.v1.Order: unknown word "onion=a:b:c"'],
    ['Order kind=yes', 'tea.v1.Order: unknown word "kind=yes"'],
    ['Order union=kind', 'tea.v1.Order: union=kind is not of the form union=discriminator:member:value,…'],
    ['Order custom', 'tea.v1.Order: types with alternative JSON forms, and no others, are marked custom'],
    ['Order\n cups 1 int33', 'tea.v1.Order.cups: unknown type "int33"'],
    ['Order\n cups 1 []{}.Cup', 'tea.v1.Order.cups: unknown type ".Cup"'],
    ['Order\n cups one int32', 'tea.v1.Order.cups: "one" is not a protobuf number'],
    ['Order\n cups 1', 'tea.v1.Order.cups: the type is missing'],
    ['Order\n cups 1 int32 !?', 'tea.v1.Order.cups: unknown flags "!?"; must be of *?! in this order'],
    ['Order\n cups 1 int32 ?#', 'tea.v1.Order.cups: unknown flags "?#"; must be of *?! in this order'],
    ['Order\n cups 1 int32 ? sorted', 'tea.v1.Order.cups: unknown word "sorted"'],
    ['Order\n cups 1 int32 ? !', 'tea.v1.Order.cups: unknown word "!"'],
    ['Order\n cups 1 []int32 lst=set', 'tea.v1.Order.cups: unknown word "lst=set"'],
    ['Order\n cups 1 []int32 list=bag', 'tea.v1.Order.cups: unknown list type "bag"; must be one of atomic, set, map'],
    ['Order\n cups 1 {}int32 map=set', 'tea.v1.Order.cups: unknown map type "set"; must be one of atomic, granular'],
    [
      'Order\n cups 1 []int32 patch=merge,drop',
      'tea.v1.Order.cups: unknown patch strategy "drop"; must be one of merge, replace, retainKeys',
    ],
    ['Order\n cups 1 int32 default=few', 'tea.v1.Order.cups: default=few is not JSON'],
    ['Order\n cups 1 string enum=.Size', 'tea.v1.Order.cups: unknown enum tea.v1.Size'],
    ['Order\n + 1 int32 pb=cups', 'tea.v1.Order.+: int32 cannot be embedded: it is not a struct'],
  ])('refuses %j', (text, message) => {
    expect(() => fieldsOf(text)).toThrow(`the table of built-in kinds: ${message}`);
  });
});

describe('a table of groups', () => {
  const GROUP = 'group tea 100 v1\n version v1 ga on tea.v1';

  it('is read into rows', () => {
    const text =
      `${GROUP}\n  others Menu\n  orders Order namespaced get,list short=o\n   status ` +
      'tea.v1.Order get ' +
      'as=tea/v1';
    expect(readGroups(text)).toMatchObject([
      {
        name: 'tea',
        priority: 100,
        versions: [
          {
            enabled: true,
            otherKinds: ['Menu'],
            resources: [
              {
                plural: 'orders',
                namespaced: true,
                verbs: ['get', 'list'],
                shortNames: ['o'],
                subresources: [{ name: 'status', apiVersion: 'tea/v1', connect: false }],
              },
            ],
          },
        ],
      },
    ]);
  });

  it.each([
    ['groop tea 100 v1', 'groop tea 100 v1: unknown word "groop"; the line must begin with group'],
    ['group tea many v1', 'group tea: the priority "many" is not a number'],
    ['group tea 100', 'group tea: missing preferred version'],
    ['group tea 100 v1 on', 'group tea: unknown word "on"'],
    [' version v1 ga on tea.v1', 'version v1 ga on tea.v1: no line above it is indented one step less'],
    [
      'group tea 100 v1\n version v1 done on tea.v1',
      'tea/v1: unknown stability "done"; must be one of ga, beta, alpha',
    ],
    ['group tea 100 v1\n version v1 ga yes tea.v1', 'tea/v1: unknown state "yes"; must be one of on, off'],
    [
      `${GROUP}\n  orders Order global all`,
      'tea/v1 orders: unknown scope "global"; must be one of namespaced, cluster',
    ],
    [`${GROUP}\n  orders Order cluster`, 'tea/v1 orders: missing verbs'],
    [`${GROUP}\n  orders Order cluster get,fetch`, 'tea/v1 orders: unknown verb "fetch"; must be one of create,'],
    [`${GROUP}\n  orders Order cluster all shrt=o`, 'tea/v1 orders: unknown word "shrt=o"'],
    [
      `${GROUP}\n  orders Order cluster all\n   status tea.v1.Order get conect`,
      'tea/v1 orders/status: unknown word "conect"',
    ],
    [`${GROUP}\n  orders Order cluster all\n    status`, 'status: it is indented too far'],
  ])('refuses %j', (text, message) => {
    expect(() => readGroups(text)).toThrow(`the table of built-in kinds: ${message}`);
  });
});
