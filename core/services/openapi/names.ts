import type { Naming } from '../../naming.js';
import type { ScalarName } from '../../schema/model.js';
import type { Resource } from '../../schema/resource.js';
import { PACKAGES } from '../../schema/table/packages.js';

/** Scalars with a shared schema, by its neutral name. The schemas of other scalars are inlined. */
export const NAMED_SCALARS: ReadonlyMap<ScalarName, string> = new Map([
  ['Time', 'io.orchestrator.apimachinery.pkg.apis.meta.v1.Time'],
  ['MicroTime', 'io.orchestrator.apimachinery.pkg.apis.meta.v1.MicroTime'],
  ['Duration', 'io.orchestrator.apimachinery.pkg.apis.meta.v1.Duration'],
  ['Quantity', 'io.orchestrator.apimachinery.pkg.api.resource.Quantity'],
  ['IntOrString', 'io.orchestrator.apimachinery.pkg.util.intstr.IntOrString'],
  ['FieldsV1', 'io.orchestrator.apimachinery.pkg.apis.meta.v1.FieldsV1'],
  ['RawExtension', 'io.orchestrator.apimachinery.pkg.runtime.RawExtension'],
  ['JSON', 'io.orchestrator.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON'],
]);

/** The neutral schema name of patch bodies. */
export const PATCH = 'io.orchestrator.apimachinery.pkg.apis.meta.v1.Patch';

/** The schema name of a built-in type, given its id (`core.v1.Pod`). */
export function schemaName(id: string, naming: Naming): string {
  const at = id.lastIndexOf('.');
  const prefix = PACKAGES[id.slice(0, at)]?.openapi ?? `io.orchestrator.api.${id.slice(0, at)}`;
  return naming.typeName(`${prefix}.${id.slice(at + 1)}`);
}

/** The schema name of a resource's kind or list kind. That of a custom kind is `com.example.v1.Widget`. */
export function kindName(resource: Resource, kind: string, naming: Naming): string {
  if (resource.builtIn)
    return schemaName(`${resource.type.id.slice(0, resource.type.id.lastIndexOf('.'))}.${kind}`, naming);
  return `${resource.group.split('.').reverse().join('.')}.${resource.version}.${kind}`;
}
