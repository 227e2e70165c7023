import { AUDIT_ANNOTATION_BYTES, AUDIT_ANNOTATIONS } from '../../core/limits.js';
import { qualifiedName } from '../../core/model/names.js';

/** Adds an annotation of the audit event, which the first one that names it decides. */
export function annotate(annotations: Map<string, string>, name: string, value: string): void {
  if (annotations.has(name) || annotations.size >= AUDIT_ANNOTATIONS) return;
  if (!name.includes('/') || qualifiedName(name).length > 0) return;
  annotations.set(name, Buffer.from(value).subarray(0, AUDIT_ANNOTATION_BYTES).toString('utf8'));
}
