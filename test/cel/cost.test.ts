import { describe, expect, it } from 'vitest';
import { costMessage } from '../../core/cel/cost/cost.js';
import * as C from '../../core/cel/index.js';

function cost(schema: C.Schema, text: string): C.CostRange {
  const type = C.schemaType(schema)!;
  const env = C.createEnvironment({
    libraries: C.librariesOf(),
    variables: { self: type.type },
    sizes: { self: type },
  });
  const { cost: range, errors } = env.compile(text);
  expect(errors).toBe('');
  return range!;
}

const strings = (maxLength?: number, maxItems?: number): C.Schema => ({
  type: 'array',
  maxItems,
  items: { type: 'string', maxLength },
});

describe('the static estimate', () => {
  it('costs of items depend on the length of their longest text, with four bytes per character', () => {
    // From the upstream server: with this cost per item, this number of items is within the limit.
    for (const [length, item] of [
      [16, 11],
      [63, 30],
      [253, 106],
      [1024, 414],
    ] as const)
      expect(cost(strings(length, 1000), "self.all(x, x.contains('gpu'))")).toEqual({ min: 2, max: item * 1000 + 2 });
  });
  it('charges each kind of step', () => {
    const schema: C.Schema = {
      type: 'object',
      properties: {
        i: { type: 'integer' },
        s: { type: 'string', maxLength: 10 },
        l: strings(10, 5),
        o: { type: 'object', properties: { x: { type: 'integer' } } },
      },
    };
    for (const [text, min, max] of [
      ['true', 0, 0],
      ['has(self.s)', 1, 1],
      ['has(self.o.x)', 2, 2],
      ['self.i + 1 > 2', 4, 4],
      ["self.s == 'abc'", 3, 3],
      ["self.s.startsWith('abc')", 3, 3],
      ["self.s.matches('^a+$')", 3, 7],
      ['self.s.size() > 3 && self.i > 3', 4, 7],
      ['self.i > 1 ? self.s : self.l[0]', 5, 6],
      ["self.l.map(x, x + 'a').size() == 5", 15, 105],
      ["'a' in self.l", 2, 7],
      ["self.l.join(',') == ''", 2, 23],
      ["['b', 'a'].isSorted()", 12, 2 ** 65],
      ['type(self.i) == int', 4, 4],
      ["'%d'.format([self.i])", 13, 13],
      ["quantity('1') == quantity('2')", 3, 3],
      ["'a' + string(self.i) == ''", 4, 2 ** 64],
    ] as const) {
      const got = cost(schema, text);
      expect(got.min, text).toBe(min);
      if (max < 1e6) expect(got.max, text).toBe(max);
      else expect(got.max, text).toBeGreaterThan(C.EXPRESSION_COST_LIMIT);
    }
  });
});

describe('the costs of a schema', () => {
  const loops = 'self.all(a, self.all(b, a == b))';
  it('an expression over its limit is refused with the factor', () => {
    const costs = new C.SchemaCost();
    const { max } = cost(strings(), loops);
    expect(costs.add('rule', 'rule', max, 1)).toEqual({
      path: 'rule',
      message:
        'estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    });
    expect(costs.add('message', 'messageExpression', 25_000_000, 1)!.message).toMatch(
      /^estimated messageExpression cost exceeds budget by factor of 2\.5x \(try/,
    );
    expect(costs.add('near', 'rule', 10_000_001, 1)!.message).toContain('by factor of 1.000000x ');
    expect(costs.add('cheap', 'rule', 10, 1)).toBeUndefined();
  });
  it('a rule counts as often as its part of the schema can occur', () => {
    expect(new C.SchemaCost().add('items', 'rule', 11, C.cardinality(1, 1_000_000)!)!.message).toContain(
      'factor of 1.100000x',
    );
    expect(C.cardinality(undefined, 5)).toBeUndefined();
    expect(C.cardinality(10, undefined)).toBeUndefined();
    expect(C.unboundedCardinality(2)).toBe(1_048_576);
  });
  it('the error for the sum names the most expensive expressions, then the schema', () => {
    const costs = new C.SchemaCost();
    for (let i = 0; i < 12; i++) expect(costs.add(`rule ${i}`, 'rule', 9_000_000 + i, 1)).toBeUndefined();
    const violations = costs.violations();
    expect(violations.map(v => v.path)).toEqual(['rule 11', 'rule 10', 'rule 9', 'rule 8', undefined]);
    expect(violations[0]!.message).toBe(
      'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
    );
    expect(violations[4]!.message).toMatch(
      /^x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1\.080001x \(try/,
    );
    expect(new C.SchemaCost().violations()).toEqual([]);
  });
});

describe('the run-time limit', () => {
  it('ends an evaluation in the step that exceeds it', () => {
    const env = C.createEnvironment({ libraries: C.librariesOf(), variables: { x: C.DYN } });
    const { program } = env.compile('x.all(a, x.all(b, a + b >= 0))');
    const x = Array.from({ length: 1000 }, (_, i) => i);
    for (const budget of [10, 1000, C.CALL_BUDGET]) {
      const outcome = program!.evaluate({ x }, { budget });
      expect(outcome).toMatchObject({ exceeded: true, error: 'operation cancelled: actual cost limit exceeded' });
      expect(outcome.cost).toBeLessThan(budget + 20);
    }
    expect(C.evaluationMessage('operation cancelled: actual cost limit exceeded')).toBe(
      "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit",
    );
  });
  it('charges text, patterns and lists before the work is done', () => {
    const env = C.createEnvironment({ libraries: C.allLibraries(), variables: { s: C.STRING } });
    const s = 'ab'.repeat(50_000);
    for (const text of [
      's + s == s',
      "s.matches('(a|b)*c')",
      "s.findAll('a').size() > 0",
      "s.replace('a', 'bbbbbbbbbbbbbbbb') == s",
      "s.split('') == []",
      's.upperAscii() == s',
      "'%s%s'.format([s, s]) == s",
      'bytes(s) == b""',
      's.contains(s + "c")',
    ])
      expect(env.compile(text).program!.evaluate({ s }, { budget: 5000 }), text).toMatchObject({ exceeded: true });
  });
});

describe('the message about an estimate', () => {
  it('rounds the factor to even only where the double lies exactly in the middle', () => {
    const factor = (cost: number): string => /factor of (\S+)/.exec(costMessage('rule', cost, 10_000_000))![1]!;
    expect(factor(201_500_000)).toBe('20.1x');
    expect(factor(25_500_000)).toBe('2.5x');
    expect(factor(22_500_000)).toBe('2.2x');
    expect(factor(27_500_000)).toBe('2.8x');
  });
});
