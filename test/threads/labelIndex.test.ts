import { expect, test } from 'vitest';
import { Informers } from '../../core/plugin/informers/informers.js';
import { LABEL_INDEX_CHANGES, LABEL_INDEXES } from '../../core/limits.js';
import { Entry } from '../../core/threads/entries/entry.js';

/* Informers find objects by their labels. */

const NAMES = 40;
const pick = <T>(all: readonly T[], random: () => number): T => all[Math.floor(random() * all.length)]!;

/** Numbers in [0, 1) that are determined by a seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

const entryOf = (namespace: string, name: string, labels: object, revision: number): Entry =>
  new Entry(
    `core/configmaps/${namespace}/${name}`,
    revision,
    Buffer.from(JSON.stringify({ metadata: { namespace, name, labels } })),
  );

test.each([1, 2, 3])(
  'objects are found by the current values of their labels, whatever the changes (seed %i)',
  seed => {
    const random = randomOf(seed);
    const informers = new Informers(() => undefined);
    const informer = informers.of('core/configmaps');
    for (let revision = 1; revision <= 2000; revision++) {
      const [namespace, name] = [pick(['a', 'b'], random), `n${Math.floor(random() * NAMES)}`];
      if (random() < 0.3) informers.delete(`core/configmaps/${namespace}/${name}`, revision);
      else {
        const labels = random() < 0.3 ? {} : { team: pick(['x', 'y', '__proto__'], random), tier: 'z' };
        informers.set(entryOf(namespace, name, labels, revision));
      }
      if (random() < 0.8) continue;
      const value = pick(['x', 'y', '__proto__', 'none'], random);
      const label = pick(['team', 'tier', 'toString'], random);
      const expected = informer.list(namespace).filter(({ metadata }) => {
        const { labels = {} } = metadata;
        return Object.hasOwn(labels, label) && labels[label] === value;
      });
      expect(informer.labeled(namespace, label, value)).toEqual(expected);
    }
  },
);

test('objects are found by more labels than there are indexes, and after many changes without a search', () => {
  const informers = new Informers(() => undefined);
  const informer = informers.of('core/configmaps');
  const names = Array.from({ length: LABEL_INDEXES + 2 }, (_, i) => `label-${i}`);
  informers.set(entryOf('a', 'one', Object.fromEntries(names.map(name => [name, 'yes'])), 1));
  for (const name of names) expect(informer.labeled('a', name, 'yes')).toHaveLength(1);
  for (let i = 0; i <= LABEL_INDEX_CHANGES; i++) {
    informers.set(entryOf('a', `passing-${i}`, {}, i));
    informers.delete(`core/configmaps/a/passing-${i}`, i);
  }
  informers.set(entryOf('a', 'two', { 'label-0': 'yes' }, LABEL_INDEX_CHANGES));
  expect(informer.labeled('a', 'label-0', 'yes').map(({ metadata }) => metadata.name)).toEqual(['one', 'two']);
});

test('the first objects of a namespace are read up to a number of bytes', () => {
  const informers = new Informers(() => undefined);
  const informer = informers.of('core/configmaps');
  const entries = ['c', 'a', 'b'].map((name, i) => entryOf('n', name, {}, i + 1));
  for (const entry of [...entries, entryOf('o', 'a', {}, 4)]) informers.set(entry);
  const namesIn = (bytes: number) => {
    const { objects, total } = informer.listFirst('n', bytes);
    return [objects.map(({ metadata }) => metadata.name), total];
  };
  const { length } = entries[0]!;
  expect(namesIn(2 * length)).toEqual([['a', 'b'], 3]);
  expect(namesIn(2 * length - 1)).toEqual([['a'], 3]);
  expect(namesIn(3 * length)).toEqual([['a', 'b', 'c'], 3]);
});
