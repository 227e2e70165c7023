import { describe, expect, it } from 'vitest';
import * as C from '../../core/cel/index.js';

const open = C.createEnvironment({ libraries: C.allLibraries(), variables: { x: C.DYN, n: C.INT } });

function evaluated(text: string, budget = 1_000_000, activation: Record<string, unknown> = { x: null, n: 1 }) {
  return open.compile(text).program?.evaluate(activation, { budget });
}

describe('hostile input', () => {
  it('nesting beyond the limit is an error, not a stack overflow', () => {
    for (const text of [
      '('.repeat(5000) + '1' + ')'.repeat(5000),
      '['.repeat(5000),
      '1' + '+1'.repeat(20_000),
      '!'.repeat(99_999),
      'x' + '.a'.repeat(9000),
      '1?'.repeat(3000),
    ]) {
      expect(open.compile(text).errors).toMatch(/ERROR/);
    }
  });
  it('a text beyond the length limit is refused', () => {
    expect(open.compile(' '.repeat(100_001)).errors).toContain('exceeds limit');
  });
  it('names of prototype members cannot be reached', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(open.compile(`x.${name}`).program?.evaluate({ x: { a: 1 } }).error).toBe(`no such key: ${name}`);
      expect(open.compile(`{'a': 1}['${name}']`).program?.evaluate({}).error).toBe(`no such key: ${name}`);
      expect(open.compile(`x.all(k, k != '${name}')`).program?.evaluate({ x: { a: 1 } }).value).toBe(true);
    }
  });
  it('an exhausted budget cannot be caught and ends the evaluation soon', () => {
    const list = Array.from({ length: 1000 }, (_, i) => i);
    for (const text of [
      'x.exists(a, x.exists(b, x.exists(c, a + b + c < 0))) || true',
      'x.all(a, x.all(b, x.all(c, 1 / 0 > a))) || true',
      "x.map(a, x.map(b, string(a) + string(b) + 'aaaaaaaaaaaaaaaaaaaaaaaaaaaa')).size() > 0",
      "x.map(a, ('a'.replace('', 'aaaaaaaaaaaaaaaaaaaaa')).replace('', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa').replace('', 'aaaaaaaaaaaaaaaaaaaaaaaa')).size() > 0",
    ]) {
      const outcome = evaluated(text, 100_000, { x: list });
      expect(outcome).toMatchObject({ exceeded: true });
      // A step does no more work than the data it copies: the evaluation ends at the step that exceeds the budget.
      expect(outcome!.cost).toBeLessThan(101_000);
    }
  });
  it.each([
    'isQuantity(x)',
    "duration(x) == duration('1s')",
    'double(x) > 0.0',
    "timestamp(x) > timestamp('2020-01-01T00:00:00Z')",
  ])('%s scans a long text once', expression => {
    // If the engine tried every digit as a start, none of these would end within the time limit of the test.
    for (const begin of ['', '-', '1.', '0x', '2020-01-01T00:00:00.'])
      for (const end of ['!', 's!', '.!']) evaluated(expression, undefined, { x: begin + '0'.repeat(200_000) + end });
  });
  it('a regex that backtracks in other engines runs in linear time', () => {
    // With backtracking, this would not end within the time limit of the test.
    expect(evaluated(`'${'a'.repeat(5000)}b'.matches('^(a+)+$')`)?.value).toBe(false);
  });
});

describe('errors and unknowns', () => {
  const result = (text: string) => open.compile(text).program!.evaluate({ x: new C.Unknown(['x']), n: 1 });
  it('an operand that decides the result prevails over an error on either side', () => {
    expect(result('1 / 0 > 0 || true').value).toBe(true);
    expect(result('false && 1 / 0 > 0').value).toBe(false);
    expect(result('[1, 0].exists(i, 1 / i == 1)').value).toBe(true);
  });
  it('an unknown prevails over an error, but not over an operand that decides the result', () => {
    expect(result('1 / 0 > 0 || x').unknown).toEqual(['x']);
    expect(result('x || true').value).toBe(true);
  });
  it('every error of a text is reported with a caret', () => {
    expect(open.compile('a + b').errors).toBe(
      "ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a + b\n | ^\nERROR: <input>:1:5: undeclared reference to 'b' (in container '')\n | a + b\n | ....^",
    );
  });
});

describe('the line below a text', () => {
  it('has wide marks below non-ASCII characters, so that the caret is below its character', () => {
    expect(open.compile('"é" == x1').errors).toMatch(/\n \| "é" == x1\n \| \.\uff0e\.{5}\^$/);
    expect(open.compile('é').errors).toMatch(/\n \| é\n \| \uff3e\n/);
  });
  it('is omitted for an error of planning, which the message names', () => {
    const { errors, planError } = open.compile('int("a")');
    expect(planError).toBe("type conversion error from 'string' to 'int'");
    expect(errors).toBe(`program instantiation failed: ${planError}`);
  });
});

describe('environments', () => {
  it('an invalid declaration is refused with its name [A472]', () => {
    expect(() => C.declare('string.f(nonsense): int', () => null)).toThrow("declaration 'string.f(nonsense): int'");
    expect(() => C.createEnvironment({ libraries: [], variables: { 'a b': C.INT } })).toThrow("variable 'a b'");
  });
  it('an older release refuses functions that the widest environment accepts [A511] [A514] [A515]', () => {
    const at = (v: C.CompatibilityVersion) => C.createEnvironment({ libraries: C.librariesOf(v) });
    expect(at('1.28').compile("quantity('1').isInteger()").errors).toContain("undeclared reference to 'quantity'");
    expect(at('1.29').compile("quantity('1').isInteger()").errors).toBe('');
    const widest = C.createEnvironment({ libraries: C.widestLibraries() });
    expect(widest.compile("semver('1.2.3').major()").program?.evaluate({}).value).toBe(1);
  });
});

describe('authorizer library', () => {
  const env = C.createEnvironment({ libraries: C.librariesOf(), variables: { authorizer: C.AUTHORIZER_TYPE } });
  const text =
    "authorizer.serviceAccount('ns', 'sa').group('apps').resource('deployments').subresource('scale').namespace('d').name('n').fieldSelector('a=b').check('get').allowed() || authorizer.path('/x').check('get').reason() == 'because'";
  it('supports synchronous and asynchronous decisions of the host [A516] [A522] [A525] [A526]', async () => {
    const asked: C.AuthorizationQuery[] = [];
    for (const later of [false, true]) {
      const host: C.AuthorizerHost = {
        check(query) {
          asked.push(query);
          const answer = { allowed: false, reason: 'because' };
          return later ? Promise.resolve(answer) : answer;
        },
      };
      const outcome = await C.evaluateWithAuthorizer(env.compile(text).program!, {
        authorizer: new C.Authorizer(host),
      });
      expect(outcome.value).toBe(true);
    }
    expect(asked).toHaveLength(4);
    expect(asked[0]).toEqual({
      serviceAccount: { namespace: 'ns', name: 'sa' },
      group: 'apps',
      resource: 'deployments',
      subresource: 'scale',
      namespace: 'd',
      name: 'n',
      fieldSelector: 'a=b',
      verb: 'get',
    });
  });
});

describe('url', () => {
  it.each([
    ['', 'empty url'],
    ['relative', 'invalid URI for request'],
    [':x', 'missing protocol scheme'],
    ['https://a b', 'invalid character " " in host name'],
    ['https://a:b/', 'invalid port ":b" after host'],
    ['/a#%z', 'invalid URL escape "%z"'],
  ])('reports the error in %j', (text, why) => {
    const error = `URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${why}`;
    expect(evaluated('url(x)', undefined, { x: text })).toMatchObject({ error });
  });
});
