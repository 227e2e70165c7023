import type { Selector } from './selector.js';

/**
 * API verbs as authorizers see them (spec 2, "Request attributes"). Non-resource requests use the lower-case HTTP
 * method.
 */
export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'impersonate'
  | 'proxy';

/** What a resource request is about, read from its path and query. Empty strings mean "none". */
export interface ResourceTarget {
  readonly is: 'resource';
  /** '' for a method that no resource knows. */
  readonly verb: Verb | '';
  /** In the neutral naming; a custom group has one name. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  /**
   * Parsed selectors of list, watch and deletecollection, for authorizers; undefined where none was sent or it did not
   * parse.
   */
  readonly labelSelector?: Selector;
  readonly fieldSelector?: Selector;
}

/**
 * A request outside the resource paths (`/version`, `/healthz`, `/openapi/…`): only path and lower-case method count.
 */
export interface PathTarget {
  readonly is: 'path';
  readonly verb: string;
  readonly path: string;
}

/** What a request is about: the subject of authorization. */
export type Target = ResourceTarget | PathTarget;

/**
 * The object a request names: in its path or, for list and watch, by a `metadata.name=` field selector that could stand
 * in a path. That is what `resourceNames` restricts and refusals name (spec 2, "RBAC rules").
 */
export function nameOf(target: ResourceTarget): string {
  if (target.name || !target.fieldSelector || (target.verb !== 'list' && target.verb !== 'watch')) return target.name;
  const exact = target.fieldSelector.find(r => r.key === 'metadata.name' && r.operator === '=');
  const name = exact?.values[0] ?? '';
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}
