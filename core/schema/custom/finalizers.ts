import type { ApiObject } from '../../model/object.js';
import { STANDARD_FINALIZERS } from '../decode/metadata.js';

/**
 * Warns about each finalizer that a write has added to a custom object and that has no path, in upstream's words: the
 * name may also be that of another writer. Standard finalizers are expected.
 */
export function warnAboutFinalizers(object: ApiObject, old: ApiObject | undefined, warn: (text: string) => void): void {
  const { finalizers } = object.metadata;
  if (!finalizers) return;
  const before = new Set(old?.metadata.finalizers ?? []);
  const added = new Set(finalizers);
  for (const name of [...added].sort()) {
    if (before.has(name) || name.includes('/') || STANDARD_FINALIZERS.has(name)) continue;
    const path = name.includes('.') ? ' including a path (/)' : '';
    warn(
      `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name${path} to avoid ` +
        'accidental conflicts with other finalizer writers',
    );
  }
}
