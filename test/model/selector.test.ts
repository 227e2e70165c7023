import { expect, test } from 'vitest';
import { parseLabelSelector } from '../../core/model/selector.js';

const LABEL =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

test.each([
  ['a in (', "found '', expected: ',', ')' or identifier"],
  ['a in ((b))', "found '(', expected: ',', ')' or identifier"],
  ['a in (b,', "found '', expected: ',', or identifier"],
  ['a in (,(', "found '(', expected: ',', or identifier"],
  ['a in (b c)', "found 'c', expected: ',' or ')'"],
  ['a in b', "found 'b' expected: '('"],
])('the set of %j is refused for what stands in its place', (text, why) => {
  expect(() => parseLabelSelector(text)).toThrow(`unable to parse requirement: ${why}`);
});

test.each([
  ['a in ()', ['']],
  ['a in (,)', ['']],
  ['a in (c,,b)', ['', 'b', 'c']],
  ['a in (in,notin)', ['in', 'notin']],
])('the set of %j is %j', (text, values) => {
  expect(parseLabelSelector(text)).toEqual([{ key: 'a', operator: 'in', values }]);
});

test('every wrong value of a requirement is named, what is wrong with a key in one complaint', () => {
  expect(() => parseLabelSelector('a notin (-x,b,-y)')).toThrow(
    new RegExp(
      `^unable to parse requirement: \\[values\\[0\\]\\[a\\]: Invalid value: "-x": ${LABEL}.*, values\\[1\\]\\[a\\]: Invalid value: "-y": ${LABEL}.*\\]$`,
    ),
  );
  expect(() => parseLabelSelector('a>-b')).toThrow(
    /^unable to parse requirement: \[values\[0\]: Invalid value: "-b": for 'Gt', 'Lt' operators, the value must be an integer, values\[0\]\[a\]: .*\]$/,
  );
  expect(() => parseLabelSelector(`${'k'.repeat(64)}-`)).toThrow(
    /^unable to parse requirement: <nil>: Invalid value: "k+-": name part must be no more than 63 characters; name part must consist of/,
  );
});
