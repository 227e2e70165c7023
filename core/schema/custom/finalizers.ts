import type { ApiObject } from '../../model/object.js';
import { STANDARD_FINALIZERS } from '../decode/metadata.js';

/**
 * Warns, in upstream's words, about each finalizer without a path that a write has added to a custom object: another
 * writer may use the same name. Standard finalizers cause no warning.
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
