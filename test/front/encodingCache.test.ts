import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ENCODINGS_IDLE_MS } from '../../core/limits.js';
import { Entry } from '../../core/threads/entries/entry.js';
import { EncodingCache } from '../../workers/front/forms/encodingCache.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const entries = (count: number): Entry[] =>
  Array.from({ length: count }, (_, i) => new Entry(`core/pods/${i}`, i, new Uint8Array(1)));
/** Views of one buffer. */
function views(...texts: string[]): Uint8Array[] {
  const bytes = new Uint8Array(Buffer.from(texts.join('')));
  let at = 0;
  return texts.map(text => bytes.subarray(at, (at += text.length)));
}
const textOf = (pieces: readonly Uint8Array[] | undefined) => pieces?.map(piece => Buffer.from(piece).toString());

test('encodings that were made together are found as one piece, by form', () => {
  const encodings = new EncodingCache();
  const [a, b, c] = entries(3) as [Entry, Entry, Entry];
  encodings.add([a, b], 'v1', views('aa', 'bbb'));
  encodings.add([c], 'v1', views('c'));
  encodings.add([a], 'v2', views('AA'));
  expect(textOf(encodings.find([a, b, c], 'v1'))).toEqual(['aabbb', 'c']);
  expect(textOf(encodings.find([b, a], 'v1'))).toEqual(['bbb', 'aa']);
  expect(textOf(encodings.find([a], 'v2'))).toEqual(['AA']);
  expect(encodings.find([a, b], 'v2')).toBeUndefined();
  expect([encodings.lengthOf(b, 'v1'), encodings.lengthOf(b, 'v2')]).toEqual([3, undefined]);
});

test('pieces of a shared buffer are copied, so that they do not keep the whole buffer in memory', () => {
  const encodings = new EncodingCache();
  const [a] = entries(1) as [Entry];
  encodings.add([a], 'v1', [views('others', 'mine')[1]!]);
  expect([encodings.bytes, textOf(encodings.find([a], 'v1'))]).toEqual([4, ['mine']]);
});

test('above the limit only lengths are kept', () => {
  const encodings = new EncodingCache(5);
  const [a, b] = entries(2) as [Entry, Entry];
  encodings.add([a], 'v1', views('aaa'));
  encodings.add([b], 'v1', views('bbb'));
  expect(textOf(encodings.find([a], 'v1'))).toEqual(['aaa']);
  expect([encodings.find([b], 'v1'), encodings.lengthOf(b, 'v1'), encodings.bytes]).toEqual([undefined, 3, 3]);
  encodings.remove(a);
  encodings.add([b], 'v1', views('bbb'));
  expect(textOf(encodings.find([b], 'v1'))).toEqual(['bbb']);
});

test('an encoding that is not read is dropped, except its length', () => {
  const encodings = new EncodingCache();
  const [a, b] = entries(2) as [Entry, Entry];
  encodings.add([a], 'v1', views('aaa'));
  encodings.add([b], 'v1', views('bbb'));
  vi.advanceTimersByTime(ENCODINGS_IDLE_MS * 0.75);
  encodings.find([a], 'v1');
  vi.advanceTimersByTime(ENCODINGS_IDLE_MS * 0.5);
  expect([textOf(encodings.find([a], 'v1')), encodings.find([b], 'v1')]).toEqual([['aaa'], undefined]);
  expect([encodings.lengthOf(b, 'v1'), encodings.bytes]).toEqual([3, 3]);
  vi.advanceTimersByTime(ENCODINGS_IDLE_MS * 2);
  expect(encodings.bytes).toBe(0);
});

test('a segment is dropped when most of its objects have changed', () => {
  const encodings = new EncodingCache();
  const [a, b, c] = entries(3) as [Entry, Entry, Entry];
  encodings.add([a, b, c], 'v1', views('aa', 'bb', 'cc'));
  encodings.remove(a);
  expect(textOf(encodings.find([b, c], 'v1'))).toEqual(['bbcc']);
  encodings.remove(b);
  expect([encodings.find([c], 'v1'), encodings.bytes]).toEqual([undefined, 0]);
});
