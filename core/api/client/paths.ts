/** The path of a collection or, with `name`, of an object in `namespace` ('' for cluster scope). */
export function pathOf(
  { apiVersion, plural }: { readonly apiVersion: string; readonly plural: string },
  namespace: string,
  name?: string,
): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}

/** A query with those of the parameters that are given; '' if none is. */
export function queryOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter((one): one is [string, string] => one[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
