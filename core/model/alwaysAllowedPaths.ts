import type { Target } from './target.js';

/**
 * Whether a request is for one of the paths that every sender may use, whatever the authorizers say (flag
 * `--authorization-always-allow-paths`). A `*` at the end of a path stands for any rest.
 */
export function alwaysAllowedPaths(paths: readonly string[]): (target: Target) => boolean {
  const exact = new Set(paths.filter(path => !path.endsWith('*')));
  const prefixes = paths.filter(path => path.endsWith('*')).map(path => path.slice(0, -1));
  return target =>
    target.is === 'path' && (exact.has(target.path) || prefixes.some(prefix => target.path.startsWith(prefix)));
}
