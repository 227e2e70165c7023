import type { Struct } from '../schema/model.js';
import type { GroupVersion, Resource, Subresource } from '../schema/resource.js';
import { sortedSubresources } from '../discovery/plain.js';
import type { GroupVersionKind, Schema, Schemas } from './schemas.js';

/** A parameter in the path or the query. */
export interface Parameter {
  readonly in: 'path' | 'query';
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
}

/** HTTP methods that documents describe, in their order. */
export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;

/** A method of a path. */
export type Method = (typeof METHODS)[number];

/** One operation, before it is written in either version. */
export interface Operation {
  readonly id: string;
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  /** Without those that all operations of the path share. */
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly schema: Schema; readonly required: boolean; readonly patch: boolean };
  /** Codes of success and the body they share. */
  readonly codes: readonly number[];
  readonly answer: Schema;
  readonly forms: Forms;
}

/**
 * Which media types an operation takes and gives: of a `document` JSON alone, of `discovery` and of an `object` every encoding, of a `stream` of watch events their
 * streams as well, of `custom` kinds no protobuf, of a `log` plain text too, of a `connection` any.
 */
export type Forms = 'document' | 'discovery' | 'object' | 'stream' | 'custom' | 'log' | 'connection';

const TEXT: Schema = { type: 'string' };

/** A path with its operations. `parameters` are those that all of its operations share. */
export interface PathItem {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly operations: ReadonlyMap<Method, Operation>;
}

const byName = (a: Parameter, b: Parameter): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** The path item of operations that hold all of their parameters: those that all have move to the path, sorted. */
export function pathItem(path: string, operations: ReadonlyMap<Method, Operation>): PathItem {
  const all = Array.from(operations.values(), operation => operation.parameters);
  const has = (parameters: readonly Parameter[], { in: place, name }: Parameter): boolean =>
    parameters.some(other => other.in === place && other.name === name);
  const shared = (all[0] ?? []).filter(parameter => all.every(parameters => has(parameters, parameter)));
  const own = ({ parameters }: Operation): Parameter[] =>
    parameters.filter(parameter => !has(shared, parameter)).sort(byName);
  return {
    path,
    parameters: [...shared].sort(byName),
    operations: new Map(
      Array.from(operations, ([method, operation]) => [method, { ...operation, parameters: own(operation) }]),
    ),
  };
}

const query = (type: Parameter['type'], ...names: readonly string[]): Parameter[] =>
  names.map(name => ({ in: 'query', name, type }));
const inPath = (name: string): Parameter => ({ in: 'path', name, type: 'string' });

const PRETTY = query('string', 'pretty');
const SELECTION = [
  ...query('string', 'continue', 'fieldSelector', 'labelSelector'),
  ...query('integer', 'limit'),
  ...query('string', 'resourceVersion', 'resourceVersionMatch'),
  ...query('boolean', 'sendInitialEvents'),
  ...query('integer', 'timeoutSeconds'),
];
const WATCH = [...query('boolean', 'allowWatchBookmarks'), ...SELECTION, ...query('boolean', 'watch')];
const DELETE = [
  ...query('string', 'dryRun'),
  ...query('integer', 'gracePeriodSeconds'),
  ...query('boolean', 'ignoreStoreReadErrorWithClusterBreakingPotential', 'orphanDependents'),
  ...query('string', 'propagationPolicy'),
];
const WRITE = query('string', 'dryRun', 'fieldManager', 'fieldValidation');
const PATCH = [...WRITE, ...query('boolean', 'force')];

/** The text with its first letter in upper case. */
export const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `Core`, `Apps`, `RbacAuthorization`: how operations name their group. */
export const groupTitle = (group: string): string =>
  (group || 'core')
    .replace(/\.(k8s|orchestrator)\.io$/, '')
    .split(/[.-]/)
    .map(title)
    .join('');

/** `AppsV1`, `RbacAuthorizationV1`: how operations name their group version. */
const scopeOf = ({ group, version }: { readonly group: string; readonly version: string }): string =>
  groupTitle(group) + title(version);

/** `apps`, `rbacAuthorization`: what the operations of a group are filed under. */
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

/** Options in the query of a subresource: the scalar fields of their type. */
function optionParameters(struct: Struct | undefined): Parameter[] {
  const types: Readonly<Record<string, Parameter['type']>> = {
    string: 'string',
    bool: 'boolean',
    int32: 'integer',
    int64: 'integer',
  };
  return (struct?.fields ?? []).flatMap(({ name, type }) => {
    const leaf = type.is === 'list' ? type.of : type;
    const known = leaf.is === 'scalar' ? types[leaf.name] : undefined;
    return known ? [{ in: 'query' as const, name, type: known }] : [];
  });
}

/** Where a resource is reached: in one namespace, in all of them, or in the cluster. */
type Scope = 'Namespaced' | 'ForAllNamespaces' | '';

/** Builds the operations of one group version; schemas they use join the document. */
export class Operations {
  constructor(
    readonly schemas: Schemas,
    readonly root: string,
  ) {}

  /** The path that lists the resources of the group version. */
  discovery(version: GroupVersion): PathItem {
    const id = `get${scopeOf(version)}APIResources`;
    const answer = this.schemas.byId('meta.v1.APIResourceList') ?? {};
    const operation: Operation = { id, parameters: [], codes: [200], answer, forms: 'discovery' };
    return pathItem(`${this.root}/`, this.#get(operation));
  }

  /** All paths of a resource and its subresources. */
  resource(resource: Resource): PathItem[] {
    const { namespaced, plural, verbs } = resource;
    const scope = namespaced ? [inPath('namespace')] : [];
    const named = [...scope, inPath('name')];
    const below = `${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`;
    const base = `${this.root}/${below}`;
    const everywhere = namespaced && verbs.includes('list');
    const items = [
      pathItem(base, this.#collection(resource, scope)),
      pathItem(`${base}/{name}`, this.#object(resource, named)),
      ...(everywhere
        ? [pathItem(`${this.root}/${plural}`, this.#get(this.#list(resource, 'ForAllNamespaces', [])))]
        : []),
      ...sortedSubresources(resource).flatMap(sub =>
        this.#subresource(resource, sub, `${base}/{name}/${sub.name}`, named),
      ),
      ...this.#watches(resource, below, scope),
    ];
    return items.filter(item => item.operations.size > 0);
  }

  /** The deprecated paths of watches; custom kinds never had them. */
  #watches(resource: Resource, below: string, scope: readonly Parameter[]): PathItem[] {
    if (!resource.builtIn || !resource.verbs.includes('watch')) return [];
    const base = `${this.root}/watch/`;
    const { namespaced, plural } = resource;
    const own: Scope = namespaced ? 'Namespaced' : '';
    return [
      pathItem(base + below, this.#get(this.#watch(resource, own, 'List', scope))),
      pathItem(`${base}${below}/{name}`, this.#get(this.#watch(resource, own, '', [...scope, inPath('name')]))),
      ...(namespaced
        ? [pathItem(base + plural, this.#get(this.#watch(resource, 'ForAllNamespaces', 'List', [])))]
        : []),
    ];
  }

  #get(operation: Operation): ReadonlyMap<Method, Operation> {
    return new Map([['get', operation]]);
  }

  /** `listCoreV1NamespacedPod`: the first word of the verb, the group version, then the rest. */
  #id(resource: Resource, verb: string, rest = '', scope: Scope = resource.namespaced ? 'Namespaced' : ''): string {
    const [before, after] = scope === 'Namespaced' ? [scope, ''] : ['', scope];
    const [action, detail = ''] = verb.split(' ');
    return `${action}${scopeOf(resource)}${title(detail)}${before}${resource.kind}${rest}${after}`;
  }

  #list(resource: Resource, scope: Scope, parameters: readonly Parameter[]): Operation {
    return {
      id: this.#id(resource, 'list', '', scope),
      action: 'list',
      kind: kindOf(resource),
      parameters: [...PRETTY, ...WATCH, ...parameters],
      codes: [200],
      answer: this.schemas.list(resource),
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
      answer: this.schemas.byId('meta.v1.WatchEvent') ?? {},
      forms: 'stream',
    };
  }

  /** PUT, POST or PATCH of a resource, or with `part` of one of its subresources. */
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
      answer: part.schema,
      forms: formsOf(resource),
    };
  }

  #delete(resource: Resource, parameters: readonly Parameter[]): Operation {
    const options = this.schemas.byId('meta.v1.DeleteOptions') ?? {};
    const whole = resource.strategy.deleteAnswer === 'object';
    return {
      id: this.#id(resource, 'delete'),
      action: 'delete',
      kind: kindOf(resource),
      parameters: [...PRETTY, ...DELETE, ...parameters],
      body: { schema: options, required: false, patch: false },
      codes: [200, 202],
      answer: whole ? this.schemas.kind(resource) : (this.schemas.byId('meta.v1.Status') ?? {}),
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
      // As upstream, whose documents of custom kinds show here what lists take.
      parameters: [...PRETTY, ...(builtIn ? [...DELETE, ...SELECTION] : WATCH), ...parameters],
      ...(builtIn ? { body: { schema: options, required: false, patch: false } } : {}),
      codes: [200],
      answer: this.schemas.byId('meta.v1.Status') ?? {},
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
      parameters: [...PRETTY, ...(resource.builtIn ? [] : query('string', 'resourceVersion')), ...parameters],
      codes: [200],
      answer: part.schema,
      forms: formsOf(resource),
    };
  }

  #subresource(resource: Resource, sub: Subresource, path: string, parameters: readonly Parameter[]): PathItem[] {
    if (sub.connect) return this.#connect(resource, sub, path, parameters);
    const schema = sub.type ? this.schemas.struct(sub.type) : this.schemas.kind(resource);
    const kind = resource.builtIn ? kindOf(sub) : kindOf(resource);
    const part = { schema, kind, rest: title(sub.name) };
    const operations = new Map<Method, Operation>();
    if (sub.verbs.includes('get')) {
      const options = optionParameters(sub.options);
      const read = this.#read(resource, [...parameters, ...options], part);
      operations.set('get', sub.produces === undefined ? read : { ...read, answer: TEXT, forms: 'log' });
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
    const forwards = sub.name === 'proxy';
    const build = (rest: string, inPaths: readonly Parameter[]): Map<Method, Operation> => {
      const methods = sub.verbs
        .flatMap(verb => CONNECT.get(verb) ?? [])
        .filter(method => forwards || (method !== 'head' && method !== 'options'));
      return new Map(
        methods.map(method => [
          method,
          {
            id: this.#id(resource, `connect ${method}`, title(sub.name) + rest),
            action: 'connect',
            kind: kindOf(sub),
            parameters: [...inPaths, ...options],
            codes: [200],
            answer: TEXT,
            forms: 'connection' as const,
          },
        ]),
      );
    };
    const items = [pathItem(path, build('', parameters))];
    if (forwards) items.push(pathItem(`${path}/{path}`, build('WithPath', [...parameters, inPath('path')])));
    return items;
  }
}

/** What an operation on a subresource is about. */
interface Part {
  readonly schema: Schema;
  readonly kind: GroupVersionKind;
  readonly rest: string;
}

const formsOf = ({ builtIn }: Resource): Forms => (builtIn ? 'object' : 'custom');

const kindOf = ({ group, kind, version }: GroupVersionKind): GroupVersionKind => ({ group, kind, version });
