import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareKeys, isEncodable, KeyIndex } from '../../plugins/storage/engine/keyIndex.js';

/**
 * Keys that are equal, prefixes of each other, or contain characters that are ordered differently in UTF-16 and UTF-8.
 */
const key = fc.string({
  unit: fc.constantFrom('a', 'b', '/', '\0', '\u00ff', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'),
  maxLength: 6,
});

/** The index as a list of all changes. */
class Model {
  readonly changes: { key: string; revision: number; created: number; version: number }[] = [];

  at(key: string, revision: number) {
    const last = this.changes.findLast(change => change.key === key && change.revision <= revision);
    return last && last.version > 0
      ? { modified: last.revision, created: last.created, version: last.version }
      : undefined;
  }

  range(prefix: string, after: string | undefined, revision: number) {
    const keys = [...new Set(this.changes.map(change => change.key))].sort((a, b) =>
      Buffer.compare(Buffer.from(a), Buffer.from(b)),
    );
    return keys
      .filter(
        one =>
          one.startsWith(prefix) && (after === undefined || Buffer.compare(Buffer.from(one), Buffer.from(after)) > 0),
      )
      .flatMap(one => {
        const version = this.at(one, revision);
        return version ? [{ key: one, ...version }] : [];
      });
  }
}

it('orders keys by their UTF-8 bytes', () => {
  fc.assert(
    fc.property(key, key, (a, b) => {
      expect(Math.sign(compareKeys(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
  );
});

it('accepts exactly the keys that UTF-8 can encode', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '\ud800', '\udc00', '\u{10000}', '\uffff'), maxLength: 4 }),
      text => {
        expect(isEncodable(text)).toBe(Buffer.from(text).toString() === text);
      },
    ),
  );
});

it('answers like a list of all changes, after any changes and compactions', () => {
  const change = fc.record({ key, remove: fc.boolean(), forget: fc.option(fc.nat(), { freq: 6 }) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), key, key, fc.nat(5), (changes, prefix, after, limit) => {
      const index = new KeyIndex();
      const model = new Model();
      let compacted = 0;
      for (const [i, { key, remove, forget }] of changes.entries()) {
        const revision = i + 1;
        const before = model.at(key, revision);
        if (remove && !before) continue;
        const next = {
          key,
          revision,
          created: before?.created ?? revision,
          version: remove ? 0 : (before?.version ?? 0) + 1,
        };
        model.changes.push(next);
        index.add(key, revision, next.created, next.version);
        if (forget === null) continue;
        compacted = Math.max(compacted, forget % (revision + 1));
        for (const one of changes) index.discardOlder(one.key, compacted);
      }
      for (let revision = compacted; revision <= changes.length; revision++) {
        for (const from of [undefined, after]) {
          const expected = model.range(prefix, from, revision);
          const { found, remaining } = index.range(prefix, from, revision, limit);
          expect(found).toEqual(expected.slice(0, limit));
          expect(remaining).toBe(Math.max(0, expected.length - limit));
        }
      }
    }),
  );
});

it('keeps its order when many keys are added unordered and removed', () => {
  const index = new KeyIndex();
  const keys = Array.from({ length: 5000 }, (_, i) => `k${String((i * 7919) % 5000).padStart(4, '0')}`);
  for (const [i, one] of keys.entries()) index.add(one, i + 1, i + 1, 1);
  for (let i = 0; i < 5000; i += 2) {
    index.add(keys[i]!, 5001 + i, i + 1, 0);
    index.discardOlder(keys[i]!, 20_000);
  }
  const { found } = index.range('k', undefined, 20_000, Number.POSITIVE_INFINITY);
  expect(found.map(one => one.key)).toEqual(keys.filter((_, i) => i % 2 === 1).sort());
});
