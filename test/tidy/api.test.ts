import { expect, test } from 'vitest';
import { sourcesIn } from './files.js';

/** Files that are not part of the interface. */
const OTHERS =
  /\/(index|awaitable|explained|freeze|headers|lists|matching|parts|strategyCalls|violations|client\/(requests|paths)|controller\/(metrics|queue|recorder))\.ts$/;
const EXPORT = /^export (?:abstract )?(?:interface|type|const|class|function) (\w+)/gm;

/** The comment that ends right before a position. */
function commentBefore(text: string, at: number): string {
  const before = text.slice(0, at).trimEnd();
  return before.endsWith('*/') ? before.slice(before.lastIndexOf('/**')) : '';
}

test('everything that core/api exports has a doc comment with an example', () => {
  const missing = sourcesIn('core/api')
    .filter(({ path }) => !OTHERS.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(EXPORT)]
        .filter(match => !commentBefore(text, match.index).includes('@example'))
        .map(match => `${path}: ${match[1]}`),
    );
  expect(missing).toEqual([]);
});
