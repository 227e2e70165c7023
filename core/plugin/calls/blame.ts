import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ThreadData } from '../../threads/data.js';
import { CallCounters } from './callCounters.js';

/** The folder of a plugin's module. */
const folderOf = (use: string): string => dirname(fileURLToPath(use.replace(/#.*/, '')));

/**
 * The plugin of the configuration whose code a stack names first, as its index among all plugins of the server; -1 if
 * it names none.
 */
function placeIn(stack: string, plugins: ThreadData['plugins']): number {
  const folders = plugins.map(({ use, path }) => (path !== undefined && use.startsWith('file:') ? folderOf(use) : ''));
  for (const frame of stack.split('\n').filter(line => /^\s+at /.test(line))) {
    const isInFrame = (folder: string): boolean => folder !== '' && frame.includes(`${folder}/`);
    const longest = Math.max(0, ...folders.filter(isInFrame).map(({ length }) => length));
    if (longest > 0) return folders.findIndex(folder => folder.length === longest && isInFrame(folder));
  }
  return -1;
}

/**
 * Finds out which plugin an error comes from that no call of a plugin has thrown, such as that of a timer, and counts
 * it as a failure of the plugin. Returns the plugin's name; undefined if the stack names no plugin of the
 * configuration.
 */
export function blame(stack: string, { plugins, calls }: Pick<ThreadData, 'plugins' | 'calls'>): string | undefined {
  const place = placeIn(stack, plugins);
  if (place < 0) return undefined;
  new CallCounters(calls).of(place, 'other').countFailure('error');
  return plugins[place]!.name;
}
