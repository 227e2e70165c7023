import type { Selector } from './selectors/selector.js';

/** Verbs of resource requests (spec, "Request attributes"). Other requests have the lower-case HTTP method as verb. */
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
  | 'bind'
  | 'escalate'
  | 'approve'
  | 'sign'
  | 'attest'
  | 'proxy'
  | 'unsafe-delete-ignore-read-errors';

/** The attributes of a resource request, parsed from path and query. Empty strings mean "none". */
export interface ResourceTarget {
  readonly is: 'resource';
  /** '' for an unknown method. */
  readonly verb: Verb | '';
  /** The group in the neutral naming; a custom group has one name. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Empty for a question about a request, of a review or an expression. */
  readonly path: string;
  /** Parsed selectors of list, watch and deletecollection, for authorizers; undefined if missing or malformed. */
  readonly labelSelector?: Selector;
  readonly fieldSelector?: Selector;
}

/** The attributes of a non-resource request (`/version`, `/healthz`, `/openapi/…`): path and lower-case method. */
export interface PathTarget {
  readonly is: 'path';
  readonly verb: string;
  readonly path: string;
}

/** The attributes of a request for authorization. */
export type Target = ResourceTarget | PathTarget;

/**
 * The name of the requested object: from the path or, for list and watch, from a field selector `metadata.name=` with a
 * valid path segment. RBAC's `resourceNames` and error messages use it (spec, "RBAC rules"). As in upstream, selectors
 * in reviews name no object.
 */
export function nameOf(target: ResourceTarget): string {
  const { verb, path, fieldSelector } = target;
  if (target.name || path === '' || !fieldSelector || (verb !== 'list' && verb !== 'watch')) return target.name;
  const exact = fieldSelector.find(r => r.key === 'metadata.name' && r.operator === '=');
  const name = exact?.values[0] ?? '';
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}
