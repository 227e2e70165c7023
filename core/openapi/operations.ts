import type { Struct } from '../schema/model.js';
import type { GroupVersion, Resource, Subresource } from '../schema/resource.js';
import { subresourcesOf } from '../discovery/plain.js';
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
  readonly parameters: readonly Parameter[];
  readonly body?: {
    readonly schema: Schema;
    readonly required: boolean;
    readonly patch: boolean;
    readonly custom: boolean;
  };
  /** Codes of success and the body they share; undefined means plain text. */
  readonly codes: readonly number[];
  readonly answer: Schema | undefined;
  /** Answers can be streamed as watch events. */
  readonly streams: boolean;
}

/** A path with its operations. */
export interface PathItem {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly operations: ReadonlyMap<Method, Operation>;
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
const LIST = [...query('boolean', 'allowWatchBookmarks'), ...SELECTION, ...query('boolean', 'watch')];
const DELETE = [
  ...query('string', 'dryRun'),
  ...query('integer', 'gracePeriodSeconds'),
  ...query('boolean', 'ignoreStoreReadErrorWithClusterBreakingPotential', 'orphanDependents'),
  ...query('string', 'propagationPolicy'),
];
const WRITE = query('string', 'dryRun', 'fieldManager', 'fieldValidation');
const PATCH = [...WRITE, ...query('boolean', 'force')];

const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

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

/** Builds the operations of one group version; schemas they use join the document. */
export class Operations {
  constructor(
    readonly schemas: Schemas,
    readonly root: string,
  ) {}

  /** The path that lists the resources of the group version. */
  discovery(version: GroupVersion): PathItem {
    const id = `get${scopeOf(version)}APIResources`;
    const answer = this.schemas.byId('meta.v1.APIResourceList');
    const operation: Operation = { id, parameters: [], codes: [200], answer, streams: false };
    return { path: `${this.root}/`, parameters: [], operations: new Map([['get', operation]]) };
  }

  /** All paths of a resource and its subresources. */
  resource(resource: Resource): PathItem[] {
    const prefix = resource.namespaced ? '/namespaces/{namespace}' : '';
    const scope = resource.namespaced ? [inPath('namespace')] : [];
    const base = `${this.root}${prefix}/${resource.plural}`;
    const items = [
      this.#item(base, [...PRETTY, ...scope], this.#collection(resource)),
      this.#item(`${base}/{name}`, [...PRETTY, ...scope, inPath('name')], this.#object(resource)),
    ];
    if (resource.namespaced && resource.verbs.includes('list')) {
      items.push(
        this.#item(
          `${this.root}/${resource.plural}`,
          [...PRETTY, ...LIST],
          new Map([['get', this.#list(resource, 'ForAllNamespaces', [])]]),
        ),
      );
    }
    for (const sub of subresourcesOf(resource))
      items.push(...this.#subresource(resource, sub, `${base}/{name}/${sub.name}`, [...scope, inPath('name')]));
    return items.filter(item => item.operations.size > 0);
  }

  #item(path: string, parameters: readonly Parameter[], operations: ReadonlyMap<Method, Operation>): PathItem {
    return { path, parameters, operations };
  }

  #id(resource: Resource, verb: string, rest = ''): string {
    return `${verb}${scopeOf(resource)}${resource.namespaced && rest !== 'ForAllNamespaces' ? 'Namespaced' : ''}${resource.kind}${rest}`;
  }

  #list(resource: Resource, rest: string, parameters: readonly Parameter[]): Operation {
    return {
      id: this.#id(resource, 'list', rest),
      action: 'list',
      kind: kindOf(resource),
      parameters,
      codes: [200],
      answer: this.schemas.list(resource),
      streams: resource.verbs.includes('watch'),
    };
  }

  #write(
    resource: Resource,
    verb: string,
    action: string,
    parameters: readonly Parameter[],
    codes: readonly number[],
    of = this.schemas.kind(resource),
    kind = kindOf(resource),
    rest = '',
  ): Operation {
    const patch = action === 'patch';
    const body = { schema: patch ? this.schemas.patch() : of, required: true, patch, custom: !resource.builtIn };
    return { id: this.#id(resource, verb, rest), action, kind, parameters, body, codes, answer: of, streams: false };
  }

  #delete(resource: Resource, collection: boolean): Operation {
    const status = this.schemas.byId('meta.v1.Status');
    const options = this.schemas.byId('meta.v1.DeleteOptions') ?? {};
    const whole = !collection && resource.strategy.deleteAnswer === 'object';
    return {
      id: this.#id(resource, collection ? 'deleteCollection' : 'delete'),
      action: collection ? 'deletecollection' : 'delete',
      kind: kindOf(resource),
      parameters: collection ? [...DELETE, ...SELECTION] : DELETE,
      body: { schema: options, required: false, patch: false, custom: !resource.builtIn },
      codes: collection ? [200] : [200, 202],
      answer: whole ? this.schemas.kind(resource) : status,
      streams: false,
    };
  }

  #collection(resource: Resource): Map<Method, Operation> {
    const operations = new Map<Method, Operation>();
    const { verbs } = resource;
    if (verbs.includes('list')) operations.set('get', this.#list(resource, '', LIST));
    if (verbs.includes('create'))
      operations.set('post', this.#write(resource, 'create', 'post', WRITE, [200, 201, 202]));
    if (verbs.includes('deletecollection')) operations.set('delete', this.#delete(resource, true));
    return operations;
  }

  #object(resource: Resource): Map<Method, Operation> {
    const operations = new Map<Method, Operation>();
    const { verbs } = resource;
    if (verbs.includes('get'))
      operations.set('get', this.#read(resource, this.schemas.kind(resource), kindOf(resource), '', []));
    if (verbs.includes('update')) operations.set('put', this.#write(resource, 'replace', 'put', WRITE, [200, 201]));
    if (verbs.includes('delete')) operations.set('delete', this.#delete(resource, false));
    if (verbs.includes('patch')) operations.set('patch', this.#write(resource, 'patch', 'patch', PATCH, [200, 201]));
    return operations;
  }

  #read(
    resource: Resource,
    answer: Schema | undefined,
    kind: GroupVersionKind,
    rest: string,
    parameters: readonly Parameter[],
  ): Operation {
    return {
      id: this.#id(resource, 'read', rest),
      action: 'get',
      kind,
      parameters,
      codes: [200],
      answer,
      streams: false,
    };
  }

  #subresource(resource: Resource, sub: Subresource, path: string, parameters: readonly Parameter[]): PathItem[] {
    if (sub.connect) return this.#connect(resource, sub, path, parameters);
    const kind = { group: sub.group, kind: sub.kind, version: sub.version };
    const rest = title(sub.name);
    const isText = sub.produces !== undefined;
    const of = sub.type ? this.schemas.struct(sub.type) : this.schemas.kind(resource);
    const operations = new Map<Method, Operation>();
    if (sub.verbs.includes('get')) {
      const options = optionParameters(sub.options);
      operations.set('get', this.#read(resource, isText ? undefined : of, kind, rest, options));
    }
    if (sub.verbs.includes('update'))
      operations.set('put', this.#write(resource, 'replace', 'put', WRITE, [200, 201], of, kind, rest));
    if (sub.verbs.includes('patch'))
      operations.set('patch', this.#write(resource, 'patch', 'patch', PATCH, [200, 201], of, kind, rest));
    // A posted subresource takes its write options on the path, as its collection is the object itself.
    if (sub.verbs.includes('create'))
      operations.set('post', this.#write(resource, 'create', 'post', WRITE, [200, 201, 202], of, kind, rest));
    return [this.#item(path, [...PRETTY, ...parameters], operations)];
  }

  #connect(resource: Resource, sub: Subresource, path: string, parameters: readonly Parameter[]): PathItem[] {
    const kind = { group: sub.group, kind: sub.kind, version: sub.version };
    const options = optionParameters(sub.options);
    const forwards = sub.name === 'proxy';
    const build = (rest: string): Map<Method, Operation> => {
      const operations = new Map<Method, Operation>();
      for (const verb of sub.verbs) {
        for (const method of CONNECT.get(verb) ?? []) {
          if (!forwards && (method === 'head' || method === 'options')) continue;
          const id = this.#id(resource, `connect${title(method)}`, title(sub.name) + rest);
          operations.set(method, {
            id,
            action: 'connect',
            kind,
            parameters: [],
            codes: [200],
            answer: undefined,
            streams: false,
          });
        }
      }
      return operations;
    };
    const items = [this.#item(path, [...parameters, ...options], build(''))];
    if (forwards)
      items.push(this.#item(`${path}/{path}`, [...parameters, inPath('path'), ...options], build('WithPath')));
    return items;
  }
}

const kindOf = (resource: Resource): GroupVersionKind => ({
  group: resource.group,
  kind: resource.kind,
  version: resource.version,
});
