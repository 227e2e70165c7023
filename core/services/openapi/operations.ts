import type { GroupVersion, Resource, Subresource } from '../../schema/resource.js';
import { sortedSubresources } from '../discovery/plain.js';
import type { Schema } from './dialect.js';
import {
  DELETE,
  optionParameters,
  type Parameter,
  PATCH,
  pathParameter,
  PRETTY,
  queryParameters,
  SELECTION,
  WATCH,
  WRITE,
} from './parameters.js';
import type { GroupVersionKind, Schemas } from './schemas.js';

/** HTTP methods in the order of the documents. */
export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;

/** A method of a path. */
export type Method = (typeof METHODS)[number];

/** An operation, independent of the OpenAPI version. */
export interface Operation {
  readonly id: string;
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  /** Parameters of the operation only; those common to all operations of the path are in the PathItem. */
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly schema: Schema; readonly required: boolean; readonly patch: boolean };
  /** Status codes of success. */
  readonly codes: readonly number[];
  /** Schema of the response body for all of them. */
  readonly response: Schema;
  readonly forms: Forms;
  /** The only media type of the response, instead of those of `forms`. Such an operation reads no body. */
  readonly produces?: string;
}

/**
 * The media types of an operation. `document`: JSON only. `discovery` and `object`: JSON, YAML, protobuf. `stream`:
 * these and their watch streams. `custom`: JSON and YAML. `log`: as `object`, and plain text. `connection`: any.
 */
export type Forms = 'document' | 'discovery' | 'object' | 'stream' | 'custom' | 'log' | 'connection';

/** The schema of responses that are text. */
export const TEXT: Schema = { type: 'string' };

/** A path with its operations. `parameters` are those common to all of them. */
export interface PathItem {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly operations: ReadonlyMap<Method, Operation>;
}

const byName = (a: Parameter, b: Parameter): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Makes a path item of operations with all their parameters: common ones are moved to the path. Both are sorted. */
export function pathItem(path: string, operations: ReadonlyMap<Method, Operation>): PathItem {
  const all = Array.from(operations.values(), operation => operation.parameters);
  const has = (parameters: readonly Parameter[], { in: location, name }: Parameter): boolean =>
    parameters.some(other => other.in === location && other.name === name);
  const common = (all[0] ?? []).filter(parameter => all.every(parameters => has(parameters, parameter)));
  const ownParameters = ({ parameters }: Operation): Parameter[] =>
    parameters.filter(parameter => !has(common, parameter)).sort(byName);
  return {
    path,
    parameters: [...common].sort(byName),
    operations: new Map(
      Array.from(operations, ([method, operation]) => [method, { ...operation, parameters: ownParameters(operation) }]),
    ),
  };
}

/** The text with its first letter in upper case. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The group in operation ids: `Core`, `Apps`, `RbacAuthorization`. */
export const groupTitle = (group: string): string =>
  (group || 'core')
    .replace(/\.(k8s|orchestrator)\.io$/, '')
    .split(/[.-]/)
    .map(capitalize)
    .join('');

/** The group version in operation ids: `AppsV1`, `RbacAuthorizationV1`. */
const versionTitle = ({ group, version }: { readonly group: string; readonly version: string }): string =>
  groupTitle(group) + capitalize(version);

/** The tag of a group's operations: `apps`, `rbacAuthorization`. */
export const groupTag = (group: string): string => {
  const name = groupTitle(group);
  return name.charAt(0).toLowerCase() + name.slice(1);
};

const CONNECT: ReadonlyMap<string, readonly Method[]> = new Map([
  ['create', ['post']],
  ['get', ['get', 'head', 'options']],
  ['update', ['put']],
  ['patch', ['patch']],
  ['delete', ['delete']],
]);

/** The scope of a path: one namespace, all namespaces, or the cluster. */
type Scope = 'Namespaced' | 'ForAllNamespaces' | '';

/** Builds the operations of one group version and adds the schemas they use to the document. */
export class Operations {
  constructor(
    readonly schemas: Schemas,
    readonly root: string,
  ) {}

  /** The path that lists the resources of the group version. */
  discovery(version: GroupVersion): PathItem {
    const id = `get${versionTitle(version)}APIResources`;
    const response = this.schemas.byId('meta.v1.APIResourceList') ?? {};
    const operation: Operation = { id, parameters: [], codes: [200], response, forms: 'discovery' };
    return pathItem(`${this.root}/`, this.#get(operation));
  }

  /** All paths of a resource and its subresources. */
  resource(resource: Resource): PathItem[] {
    const { namespaced, plural, verbs } = resource;
    const scope = namespaced ? [pathParameter('namespace')] : [];
    const scopeAndName = [...scope, pathParameter('name')];
    const relativePath = `${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`;
    const base = `${this.root}/${relativePath}`;
    const listsAllNamespaces = namespaced && verbs.includes('list');
    const items = [
      pathItem(base, this.#collection(resource, scope)),
      pathItem(`${base}/{name}`, this.#object(resource, scopeAndName)),
      ...(listsAllNamespaces
        ? [pathItem(`${this.root}/${plural}`, this.#get(this.#list(resource, 'ForAllNamespaces', [])))]
        : []),
      ...sortedSubresources(resource).flatMap(sub =>
        this.#subresource(resource, sub, `${base}/{name}/${sub.name}`, scopeAndName),
      ),
      ...this.#watches(resource, relativePath, scope),
    ];
    return items.filter(item => item.operations.size > 0);
  }

  /** The deprecated watch paths. Custom kinds have none. */
  #watches(resource: Resource, relativePath: string, scope: readonly Parameter[]): PathItem[] {
    if (!resource.builtIn || !resource.verbs.includes('watch')) return [];
    const base = `${this.root}/watch/`;
    const { namespaced, plural } = resource;
    const inScope: Scope = namespaced ? 'Namespaced' : '';
    const single = this.#watch(resource, inScope, '', [...scope, pathParameter('name')]);
    return [
      pathItem(base + relativePath, this.#get(this.#watch(resource, inScope, 'List', scope))),
      pathItem(`${base}${relativePath}/{name}`, this.#get(single)),
      ...(namespaced
        ? [pathItem(base + plural, this.#get(this.#watch(resource, 'ForAllNamespaces', 'List', [])))]
        : []),
    ];
  }

  #get(operation: Operation): ReadonlyMap<Method, Operation> {
    return new Map([['get', operation]]);
  }

  /** An operation id, such as `listCoreV1NamespacedPod`. */
  #id(resource: Resource, verb: string, rest = '', scope: Scope = resource.namespaced ? 'Namespaced' : ''): string {
    const [before, after] = scope === 'Namespaced' ? [scope, ''] : ['', scope];
    const [action, detail = ''] = verb.split(' ');
    return `${action}${versionTitle(resource)}${capitalize(detail)}${before}${resource.kind}${rest}${after}`;
  }

  #list(resource: Resource, scope: Scope, parameters: readonly Parameter[]): Operation {
    return {
      id: this.#id(resource, 'list', '', scope),
      action: 'list',
      kind: kindOf(resource),
      parameters: [...PRETTY, ...WATCH, ...parameters],
      codes: [200],
      response: this.schemas.list(resource),
      forms: resource.builtIn ? 'stream' : 'custom',
    };
  }

  #watch(resource: Resource, scope: Scope, rest: '' | 'List', parameters: readonly Parameter[]): Operation {
    return {
      id: this.#id(resource, 'watch', rest, scope),
      action: rest === 'List' ? 'watchlist' : 'watch',
      kind: kindOf(resource),
      parameters: [...PRETTY, ...WATCH, ...parameters],
      codes: [200],
      response: this.schemas.byId('meta.v1.WatchEvent') ?? {},
      forms: 'stream',
    };
  }

  /** PUT, POST or PATCH of a resource or, with `part`, of a subresource. */
  #write(
    resource: Resource,
    [verb, action]: readonly [verb: string, action: 'put' | 'post' | 'patch'],
    parameters: readonly Parameter[],
    part: Part = { schema: this.schemas.kind(resource), kind: kindOf(resource), rest: '' },
  ): Operation {
    const patch = action === 'patch';
    const codes = action === 'post' ? [200, 201, 202] : patch && !resource.builtIn ? [200] : [200, 201];
    return {
      id: this.#id(resource, verb, part.rest),
      action,
      kind: part.kind,
      parameters: [...PRETTY, ...(patch ? PATCH : WRITE), ...parameters],
      body: { schema: patch ? this.schemas.patch() : part.schema, required: true, patch },
      codes,
      response: part.schema,
      forms: formsOf(resource),
    };
  }

  #delete(resource: Resource, parameters: readonly Parameter[]): Operation {
    const options = this.schemas.byId('meta.v1.DeleteOptions') ?? {};
    const returnsObject = resource.strategy.returnsDeletedObject;
    return {
      id: this.#id(resource, 'delete'),
      action: 'delete',
      kind: kindOf(resource),
      parameters: [...PRETTY, ...DELETE, ...parameters],
      body: { schema: options, required: false, patch: false },
      codes: [200, 202],
      response: returnsObject ? this.schemas.kind(resource) : (this.schemas.byId('meta.v1.Status') ?? {}),
      forms: formsOf(resource),
    };
  }

  #deleteCollection(resource: Resource, parameters: readonly Parameter[]): Operation {
    const { builtIn } = resource;
    const options = this.schemas.byId('meta.v1.DeleteOptions') ?? {};
    return {
      id: this.#id(resource, 'delete collection'),
      action: 'deletecollection',
      kind: kindOf(resource),
      // Upstream's documents of custom kinds list the parameters of watches here.
      parameters: [...PRETTY, ...(builtIn ? [...DELETE, ...SELECTION] : WATCH), ...parameters],
      ...(builtIn ? { body: { schema: options, required: false, patch: false } } : {}),
      codes: [200],
      response: this.schemas.byId('meta.v1.Status') ?? {},
      forms: formsOf(resource),
    };
  }

  #collection(resource: Resource, parameters: readonly Parameter[]): Map<Method, Operation> {
    const operations = new Map<Method, Operation>();
    const { verbs } = resource;
    const scope: Scope = resource.namespaced ? 'Namespaced' : '';
    if (verbs.includes('list')) operations.set('get', this.#list(resource, scope, parameters));
    if (verbs.includes('create')) operations.set('post', this.#write(resource, ['create', 'post'], parameters));
    if (verbs.includes('deletecollection')) operations.set('delete', this.#deleteCollection(resource, parameters));
    return operations;
  }

  #object(resource: Resource, parameters: readonly Parameter[]): Map<Method, Operation> {
    const operations = new Map<Method, Operation>();
    const { verbs } = resource;
    if (verbs.includes('get')) operations.set('get', this.#read(resource, parameters));
    if (verbs.includes('update')) operations.set('put', this.#write(resource, ['replace', 'put'], parameters));
    if (verbs.includes('delete')) operations.set('delete', this.#delete(resource, parameters));
    if (verbs.includes('patch')) operations.set('patch', this.#write(resource, ['patch', 'patch'], parameters));
    return operations;
  }

  #read(
    resource: Resource,
    parameters: readonly Parameter[],
    part: Part = { schema: this.schemas.kind(resource), kind: kindOf(resource), rest: '' },
  ): Operation {
    return {
      id: this.#id(resource, 'read', part.rest),
      action: 'get',
      kind: part.kind,
      parameters: [...PRETTY, ...(resource.builtIn ? [] : queryParameters('string', 'resourceVersion')), ...parameters],
      codes: [200],
      response: part.schema,
      forms: formsOf(resource),
    };
  }

  #subresource(resource: Resource, sub: Subresource, path: string, parameters: readonly Parameter[]): PathItem[] {
    if (sub.connect) return this.#connect(resource, sub, path, parameters);
    const schema = sub.type ? this.schemas.struct(sub.type) : this.schemas.kind(resource);
    const kind = resource.builtIn ? kindOf(sub) : kindOf(resource);
    const part = { schema, kind, rest: capitalize(sub.name) };
    const operations = new Map<Method, Operation>();
    if (sub.verbs.includes('get')) {
      const options = optionParameters(sub.options);
      const read = this.#read(resource, [...parameters, ...options], part);
      operations.set('get', sub.produces === undefined ? read : { ...read, response: TEXT, forms: 'log' });
    }
    if (sub.verbs.includes('update'))
      operations.set('put', this.#write(resource, ['replace', 'put'], parameters, part));
    if (sub.verbs.includes('patch'))
      operations.set('patch', this.#write(resource, ['patch', 'patch'], parameters, part));
    if (sub.verbs.includes('create'))
      operations.set('post', this.#write(resource, ['create', 'post'], parameters, part));
    return [pathItem(path, operations)];
  }

  #connect(resource: Resource, sub: Subresource, path: string, parameters: readonly Parameter[]): PathItem[] {
    const options = optionParameters(sub.options);
    const isProxy = sub.name === 'proxy';
    const build = (rest: string, inPaths: readonly Parameter[]): Map<Method, Operation> => {
      const methods = sub.verbs
        .flatMap(verb => CONNECT.get(verb) ?? [])
        .filter(method => isProxy || (method !== 'head' && method !== 'options'));
      return new Map(
        methods.map(method => [
          method,
          {
            id: this.#id(resource, `connect ${method}`, capitalize(sub.name) + rest),
            action: 'connect',
            kind: kindOf(sub),
            parameters: [...inPaths, ...options],
            codes: [200],
            response: TEXT,
            forms: 'connection' as const,
          },
        ]),
      );
    };
    const items = [pathItem(path, build('', parameters))];
    if (isProxy) items.push(pathItem(`${path}/{path}`, build('WithPath', [...parameters, pathParameter('path')])));
    return items;
  }
}

/** The object that an operation reads or writes: the resource itself or a subresource. */
interface Part {
  readonly schema: Schema;
  readonly kind: GroupVersionKind;
  readonly rest: string;
}

const formsOf = ({ builtIn }: Resource): Forms => (builtIn ? 'object' : 'custom');

const kindOf = ({ group, kind, version }: GroupVersionKind): GroupVersionKind => ({ group, kind, version });
