import { describe, expect, test } from 'vitest';
import { compareLines } from '../../plugins/console/app/pages/object/edit/lineDiff.js';
import { placeAt } from '../../plugins/console/app/pages/object/edit/place.js';
import { applyChanges, compareThree } from '../../plugins/console/app/pages/object/edit/threeWay.js';
import { parseYaml, problemsOf, readYaml } from '../../plugins/console/app/pages/object/edit/yamlText.js';
import { ownedFields } from '../../plugins/console/app/pages/object/managers/fieldTree.js';

/* Objects in the console that are large, or designed to keep a browser busy. */

/** The limit of CPU time in milliseconds. A cost that grows with the square of the size is several times as large. */
const LONGEST_MS = 4000;

function costOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const numbered = (count: number, of: (i: number) => string): string[] => Array.from({ length: count }, (_, i) => of(i));

describe('the editor of the console', () => {
  test('reads a map with very many keys, and finds the duplicate one', () => {
    const lines = ['data:', ...numbered(30_000, i => `  key-${i}: value`), '  key-7: again', ''];
    const text = lines.join('\n');
    let problems: readonly { readonly from: number; readonly message: string }[] = [];
    expect(costOf(() => (problems = problemsOf(readYaml(text))))).toBeLessThan(LONGEST_MS);
    expect(problems).toMatchObject([{ from: text.indexOf('key-7: again'), message: 'Map keys must be unique' }]);
  });

  test('reads a text of one repeated character, and shows some of its errors', () => {
    let count = 0;
    expect(costOf(() => (count = problemsOf(readYaml(`a: ${'"'.repeat(100_000)}`)).length))).toBeLessThan(LONGEST_MS);
    expect(count).toBe(100);
  });

  test('finds the cursor position in a text with very many dashes', () => {
    const dashes = '- '.repeat(50_000);
    const text = ['spec:', `  ${dashes}a`, `  ${dashes}b`, '  containers:', '  - name: web', '    image: '];
    const lines = { count: text.length, text: (index: number) => text[index]! };
    let place: ReturnType<typeof placeAt> | undefined;
    expect(costOf(() => (place = placeAt(lines, 5, 10)))).toBeLessThan(LONGEST_MS);
    expect(place).toMatchObject({ parent: ['spec', 'containers', 0], key: 'image' });
    expect(place!.siblings()).toEqual(['name']);
  });

  test('compares texts with more different lines than there are characters', () => {
    const lines = numbered(70_000, i => `line ${i}`);
    const changed = lines.with(69_000, 'another').toSpliced(10, 1);
    const found = compareLines(lines.join('\n'), changed.join('\n')).filter(({ is }) => is !== 'same');
    expect(found.map(({ is, text }) => `${is} ${text}`)).toEqual([
      'removed line 10',
      'removed line 69000',
      'added another',
    ]);
  });

  test('merges fields with names of inherited members', () => {
    const text = 'data:\n  constructor: a\n  other: b\n';
    const doc = readYaml(text.replace('other: b', 'other: mine'));
    const { changes, conflicts } = compareThree(parseYaml(text), doc.toJS(), { data: { other: 'b' } });
    applyChanges(doc, changes);
    expect([doc.toJS(), conflicts]).toEqual([{ data: { other: 'mine' } }, []]);
  });
});

test('the managers of very many list items are found', () => {
  const finalizers = numbered(10_000, i => `example.com/${i}`);
  const fieldsV1 = { 'f:metadata': { 'f:finalizers': Object.fromEntries(finalizers.map(of => [`v:"${of}"`, {}])) } };
  const object = { metadata: { finalizers, managedFields: [{ manager: 'web', fieldsV1 }] } };
  let found: ReturnType<typeof ownedFields> = [];
  expect(costOf(() => (found = ownedFields(object)))).toBeLessThan(LONGEST_MS);
  expect(found[0]!.fields[0]!.fields.at(-1)).toMatchObject({ label: '[example.com/9999]', value: 'example.com/9999' });
});
