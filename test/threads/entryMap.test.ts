import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Entry } from '../../core/threads/entries/entry.js';
import { EntryMap } from '../../core/threads/entries/entryMap.js';
import { packStartPage } from '../../core/threads/entries/startPage.js';

const PREFIX = 'core/pods/';
const value = (revision: number): Buffer => Buffer.from(`value ${revision}`);
const entryOf = (key: string, revision: number): Entry => new Entry(key, revision, value(revision));
const read = (entry: Entry | undefined) => entry && [entry.key, entry.revision, Buffer.from(entry.value).toString()];

/** Pages with two objects each, in the order of the bytes of their keys. */
function pagesOf(keys: readonly string[]) {
  const sorted = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const pages = [];
  for (let i = 0; i < sorted.length; i += 2) {
    const items = sorted.slice(i, i + 2).map(key => ({ key, modified: 1, value: value(1) }));
    pages.push(packStartPage(items, true));
  }
  return pages;
}

/** A small set of names, so that the same ones are read, set and deleted repeatedly. */
const name = fc.string({ unit: fc.constantFrom('a', 'b', '/', '\0', '\u00ff', '\u{10000}'), maxLength: 3 });
const step = fc.record({ is: fc.constantFrom('get', 'set', 'delete', 'values', 'range'), name });

it('answers like a map of the same objects, packed or not', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 12 }), fc.array(step, { maxLength: 30 }), (names, steps) => {
      const keys = names.map(one => PREFIX + one);
      const map = new EntryMap();
      for (const page of pagesOf(keys)) expect(map.addPage(page)).toBe(true);
      const model = new Map(keys.map(key => [key, entryOf(key, 1)]));
      for (const [i, { is, name: one }] of steps.entries()) {
        const key = PREFIX + one;
        if (is === 'get') expect(read(map.get(key))).toEqual(read(model.get(key)));
        if (is === 'set') {
          map.set(entryOf(key, i + 2));
          model.set(key, entryOf(key, i + 2));
        }
        if (is === 'delete') {
          map.delete(key);
          model.delete(key);
        }
        const all = [...model.values()].map(read).sort();
        if (is === 'values') expect(Array.from(map.values(), read).sort()).toEqual(all);
        if (is === 'range') expect(map.range(PREFIX).map(read).sort()).toEqual(all);
      }
    }),
  );
});

it('the same entry is found again, so that values computed from it are kept', () => {
  const map = new EntryMap();
  for (const page of pagesOf([`${PREFIX}a`, `${PREFIX}b`])) map.addPage(page);
  expect(map.get(`${PREFIX}a`)).toBe(map.get(`${PREFIX}a`));
});

it('an iteration visits each object once, in its current state, also if objects are read and changed meanwhile', () => {
  const map = new EntryMap();
  for (const page of pagesOf(['a', 'b', 'c', 'd', 'e', 'f'].map(one => PREFIX + one))) map.addPage(page);
  map.get(`${PREFIX}a`);
  const seen: unknown[] = [];
  for (const entry of map.values()) {
    if (seen.length === 0) {
      for (const one of ['b', 'd', 'e']) map.get(PREFIX + one);
      map.set(entryOf(`${PREFIX}e`, 7));
      map.delete(`${PREFIX}f`);
    }
    seen.push([entry.name, entry.revision]);
  }
  expect(seen.sort()).toEqual([
    ['a', 1],
    ['b', 1],
    ['c', 1],
    ['d', 1],
    ['e', 7],
  ]);
});

it('ignores a page whose objects may be older than those in the map', () => {
  const [first, second] = pagesOf(['a', 'b', 'c'].map(one => PREFIX + one));
  const ordered = new EntryMap();
  expect([ordered.addPage(second!), ordered.addPage(first!)]).toEqual([true, false]);
  const changed = new EntryMap();
  expect(changed.addPage(first!)).toBe(true);
  changed.set(entryOf(`${PREFIX}c`, 2));
  expect(changed.addPage(second!)).toBe(false);
});
