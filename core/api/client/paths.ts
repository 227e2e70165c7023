import { pathSegment } from '../../model/names.js';

/** A name as a segment of a path. Throws TypeError for one that no object can have, since it would change the path. */
function segmentOf(name: string): string {
  const [fault] = pathSegment(name);
  if (fault !== undefined) throw new TypeError(`the name ${JSON.stringify(name)} ${fault}`);
  return encodeURIComponent(name);
}

/**
 * The path of a collection or, with `name`, of an object in `namespace` ('' for cluster scope). Throws TypeError for
 * names that would lead to another object.
 */
export function pathOf(
  { apiVersion, plural }: { readonly apiVersion: string; readonly plural: string },
  namespace: string,
  name?: string,
): string {
  const root = `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion.split('/').map(segmentOf).join('/')}`;
  const scope = namespace ? `/namespaces/${segmentOf(namespace)}` : '';
  return `${root}${scope}/${plural}${name === undefined ? '' : `/${segmentOf(name)}`}`;
}

/** The query of the parameters that have a value; '' if none has. */
export function queryOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter((one): one is [string, string] => one[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
