import { describeField } from '../../schema/table/descriptions.js';
import { typeOf } from '../../schema/table/types.js';
import type { Method, Operation } from './operations.js';
import type { Parameter } from './parameters.js';

/** Types of the built-in kinds whose fields are the query parameters of most operations. */
const OPTIONS = ['meta.v1.ListOptions', 'meta.v1.DeleteOptions', 'meta.v1.PatchOptions'];

/** Parameters that no type of options has. */
const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['query pretty', 'Whether the answer is indented for people: "true" or "1". By default only for browsers and curl.'],
  ['query watch', 'Watch for changes to the described resources and return them as a stream of events, not as a list.'],
  [
    'query labelSelector',
    'Narrows the list of returned objects to those whose labels match, such as "app=web,tier!=db".',
  ],
  [
    'query fieldSelector',
    'Narrows the list of returned objects to those whose fields match, such as "metadata.name=web".',
  ],
  ['path name', 'Name of the object. It must be escaped where a URL requires it.'],
  ['path namespace', 'Namespace that the objects are in. It must exist for creates.'],
  ['path path', 'Rest of the path, which is passed on.'],
]);

/** The description of a parameter: that of the field of its options, if it has one. */
export function describeParameter({ in: place, name, description }: Parameter): string {
  const known = description ?? DESCRIPTIONS.get(`${place} ${name}`);
  if (known !== undefined) return known;
  for (const id of OPTIONS) {
    const struct = typeOf(id);
    const field = struct.field.get(name);
    if (field) return describeField(struct, field);
  }
  throw new Error(`the ${place} parameter ${name} has no description`);
}

/** The subresource of a path; empty if it has none. */
const subresourceOf = (path: string): string => /\/\{name\}\/([^{][^/]*)/.exec(path)?.[1] ?? '';

/** The description of an operation of a path. */
export function describeOperation({ action, kind, id, forms }: Operation, method: Method, path: string): string {
  const subresource = subresourceOf(path);
  const object = `${subresource ? `the subresource ${subresource} of ` : ''}the object of that name`;
  const objects = `objects of the kind ${kind?.kind}${path.includes('{namespace}') ? ' in a namespace' : ''}`;
  switch (action) {
    case 'list':
      return `Lists ${objects}, or watches them with the parameter watch.`;
    case 'watch':
      return 'Watches one object. Deprecated: list with the parameters watch and fieldSelector instead.';
    case 'watchlist':
      return `Watches ${objects}. Deprecated: list with the parameter watch instead.`;
    case 'get':
      return `Reads ${object}, a ${kind?.kind}.`;
    case 'post':
      return subresource
        ? `Creates a ${kind?.kind} for the object of that name.`
        : `Creates a ${kind?.kind} from the body of the request.`;
    case 'put':
      return `Replaces ${object}, a ${kind?.kind}. The resourceVersion, if it is given, must be the current one.`;
    case 'patch':
      return `Changes parts of ${object}, a ${kind?.kind}, or applies a configuration to it.`;
    case 'delete':
      return `Deletes the object of that name, a ${kind?.kind}.`;
    case 'deletecollection':
      return `Deletes all ${objects} that the selectors choose.`;
    case 'connect':
      return `Passes ${method.toUpperCase()} requests on to ${object}.`;
    default:
      return forms === 'document' ? describeDocument(id, path) : `Describes the resources or versions of ${path}.`;
  }
}

const describeDocument = (id: string, path: string): string =>
  /version/i.test(id) ? 'Tells the release and build of the server.' : `Reads the document ${path}.`;
