import { getCheckingSuite, getComprehensionSuite, getParsingSuite } from '@bufbuild/cel-spec/testdata/tests.js';
import { describe, expect, it } from 'vitest';
import { Macros, STANDARD_MACROS } from '../../core/cel/syntax/macros.js';
import { parse } from '../../core/cel/syntax/parser.js';
import { formatIssues } from '../../core/cel/syntax/source.js';
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
import { normalized, show } from './astText.js';

interface Test {
  name: string;
  original: { expr: string; typeEnv: unknown[] };
  ast?: string;
  type?: string;
  error?: string;
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
/** The declarations for which the checking table was written. */
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
/** Expressions of the comprehension table that must be rejected, by the checker or at evaluation. */
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
        expect(formatType(compiled.type!)).toBe(t.type);
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

/** Newer syntax in the tables: optionals, names in backticks, and newer names of macros. */
const NEWER = /\?\.|\.\?|\[\?|\{\?|\?\w+:|`|existsOne/;

describe('syntax trees of the specification package', () => {
  const read = (text: string) =>
    parse(text, {
      macros: new Macros(STANDARD_MACROS),
      optionalSyntax: /\?\.|\.\?|\[\?|\{\?/.test(text),
      quotedFields: text.includes('`'),
      limits: { length: 100_000, depth: 250 },
    });
  let compared = 0;
  for (const t of [...parsing, ...checking]) {
    if (!t.ast || t.ast.includes('^#*expr.Expr_CallExpr#.') || NEWER.test(t.original.expr)) continue;
    it(`the tree of ${t.original.expr.slice(0, 60)}`, () => {
      const { expr, issues } = read(t.original.expr);
      expect(issues).toEqual([]);
      compared++;
      expect(show(expr!).replace(/\s+/g, '')).toBe(normalized(t.ast!));
    });
  }
  it('are compared for most of the tables', () => expect(compared).toBeGreaterThan(150));
});

/** Errors caused by lower limits in the tables, or by syntax that no release of the server supports. */
const OTHER = /recursion|error recovery|unsupported syntax: '`'|existsOne|`\$/;

describe('syntax errors of the specification package', () => {
  for (const t of parsing) {
    if (t.ast || !t.error || OTHER.test(t.error) || OTHER.test(t.original.expr)) continue;
    it(`the first error of ${JSON.stringify(t.original.expr).slice(0, 60)}`, () => {
      const { issues } = parse(t.original.expr, {
        macros: new Macros(STANDARD_MACROS),
        optionalSyntax: false,
        quotedFields: true,
        limits: { length: 100_000, depth: 250 },
      });
      const first = (text: string): string => text.split('\n')[0]!.replace('<input>', '');
      expect(first(formatIssues(t.original.expr, issues))).toBe(first(t.error!));
    });
  }
});
