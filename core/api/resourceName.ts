import type { BuiltInResource } from '../../kinds/resourceNames.js';

/**
 * A stored resource, as plugins name it: plural name and group in either naming (`apps/deployments`), the plural name
 * alone if its group is that of pods (`namespaces`), a storage name (`core/namespaces`, `customStorageName(type)`), or
 * the result of `defineResource`. A text that the compiler knows must be one of these; of a group with a domain, it may
 * be any.
 *
 * @example
 * const menus: ResourceName = 'tea.example.com/menus';
 */
export type ResourceName<N extends string = string> =
  | (N & (string extends N ? string : N extends `${string}.${string}/${string}` ? string : BuiltInResource))
  | { readonly group: string; readonly plural: string };
