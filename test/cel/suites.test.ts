import { getCheckingSuite, getComprehensionSuite, getParsingSuite } from '@bufbuild/cel-spec/testdata/tests.js';
import { describe, expect, it } from 'vitest';
import {
  allLibraries,
  BOOL,
  BYTES,
  createEnvironment,
  declare,
  declareGlobal,
  DOUBLE,
  DYN,
  formatType,
  INT,
  NULL,
  STRING,
  UINT,
} from '../../core/cel/index.js';

interface Test {
  name: string;
  original: { expr: string; typeEnv: unknown[] };
  ast?: string;
  type?: string;
}
interface Suite {
  tests: Test[];
  suites: Suite[];
}

const testsOf = (s: Suite): Test[] => [...s.tests, ...s.suites.flatMap(testsOf)];
const parsing = testsOf(getParsingSuite() as unknown as Suite);
const checking = testsOf(getCheckingSuite() as unknown as Suite);
const comprehension = testsOf(getComprehensionSuite() as unknown as Suite);
const MESSAGES = /TestAllTypes|google\.|Proto2|Msg\{/;

const full = createEnvironment({ libraries: allLibraries(), variables: { x: DYN, y: DYN } });
/** The declarations the checking table was made with. */
const declared = createEnvironment({
  libraries: [
    ...allLibraries(),
    {
      name: 'declared',
      functions: [declareGlobal('fg_s(): string', () => ''), declare('string.fi_s_s(): string', v => v)],
    },
  ],
  variables: { is: STRING, ii: INT, iu: UINT, iz: BOOL, id: DOUBLE, ix: NULL, ib: BYTES },
});
/** Expressions of the comprehension table that are there to be refused, by the checker or at evaluation. */
const REFUSED = [
  /\bi\.[jk]\b|\(i, i,|^1\.all|^''\./,
  /'bad filter'|\? \[v\] : v|transformMapEntry\(k, v, \[\]\)|\[1\.0, 2\.0, 2\.0\]/,
  /^\[(1, 1|0, 0u)\]\.transformMapEntry/,
];
const SYNTAX =
  /Syntax error|unsupported syntax|invalid (int|uint|double|unicode)|recursion limit|reserved identifier|invalid argument|must be a simple/;

describe('tables of the specification package', () => {
  for (const t of parsing)
    it(`parsing, ${t.ast ? 'accepted' : 'refused'}: ${t.name}`, () => {
      const { errors } = full.compile(t.original.expr);
      if (t.ast) expect(errors).not.toMatch(SYNTAX);
    });
  for (const t of checking)
    if (t.type && t.original.typeEnv.length === 0 && !MESSAGES.test(t.original.expr))
      it(`checking, ${t.type}: ${t.name}`, () => {
        const compiled = declared.compile(t.original.expr);
        expect(compiled.errors).toBe('');
        if (/^[a-z]+$/.test(t.type!)) expect(formatType(compiled.type!)).toBe(t.type);
      });
  for (const t of comprehension)
    if (!/\b[xym]\b|TestAllTypes/.test(t.original.expr))
      it(`comprehension: ${t.name}`, () => {
        const { program, errors } = full.compile(t.original.expr);
        if (REFUSED.some(r => r.test(t.original.expr))) {
          expect(errors || program!.evaluate({}).error).toBeTruthy();
          return;
        }
        expect(errors).toBe('');
        const { value, error } = program!.evaluate({});
        expect(error).toBeUndefined();
        if (/\) == |^[^=]*\.(all|exists)\(/.test(t.original.expr)) expect(value).toBe(true);
      });
});
