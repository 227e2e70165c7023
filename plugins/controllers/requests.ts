import { type Frozen, pathSegment, Refusal } from '../../core/api/index.js';

/** The result of a request; undefined if it is refused for this reason. */
export async function unlessRefused<T>(reason: Refusal['reason'], request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.reason === reason) return undefined;
    throw thrown;
  }
}

/** Preconditions of a deletion, so that an object that has changed since it was read stays. */
export const unchanged = ({
  metadata: { uid, resourceVersion },
}: Frozen<{ metadata: { uid?: string; resourceVersion?: string } }>) => ({
  preconditions: { uid, resourceVersion },
});

/**
 * The path of the resources in a group version; undefined for names that no group or version has: they come from fields
 * of objects, and could lead to other paths.
 */
export function versionPath(group: string, version: string): string | undefined {
  if (version === '' || [group, version].some(name => pathSegment(name).length > 0)) return undefined;
  const segments = group === '' ? ['api', version] : ['apis', group, version];
  return `/${segments.map(encodeURIComponent).join('/')}`;
}
