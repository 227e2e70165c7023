import type * as Cel from '../../cel/index.js';
import { engine, loadEngine } from '../custom/engine.js';

/** The expression engine. It is loaded when it is first needed, because most servers do not use it. */
export async function loadCel(): Promise<typeof Cel> {
  await loadEngine();
  return engine().cel;
}

/** Declares the type of an object with these fields; others are errors of the compiler. */
const objectOf = (name: string, fields: Readonly<Record<string, Cel.Type>>): Cel.Type => {
  const known = new Map(Object.entries(fields));
  return { kind: 'object', name, field: field => known.get(field) };
};

/** The type of `request`: an AdmissionRequest without its objects. */
function requestType({ STRING, BOOL, DYN, listType, mapType }: typeof Cel): Cel.Type {
  const kind = objectOf('GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
  const resource = objectOf('GroupVersionResource', { group: STRING, version: STRING, resource: STRING });
  return objectOf('AdmissionRequest', {
    kind,
    resource,
    subResource: STRING,
    requestKind: kind,
    requestResource: resource,
    requestSubResource: STRING,
    name: STRING,
    namespace: STRING,
    operation: STRING,
    userInfo: objectOf('UserInfo', {
      username: STRING,
      uid: STRING,
      groups: listType(STRING),
      extra: mapType(STRING, listType(STRING)),
    }),
    dryRun: BOOL,
    options: DYN,
  });
}

/** The type of `namespaceObject`. */
function namespaceType({ STRING, INT, TIMESTAMP, listType, mapType }: typeof Cel): Cel.Type {
  const texts = listType(STRING);
  return objectOf('Namespace', {
    metadata: objectOf('NamespaceMetadata', {
      name: STRING,
      generateName: STRING,
      namespace: STRING,
      labels: mapType(STRING, STRING),
      annotations: mapType(STRING, STRING),
      UID: STRING,
      creationTimestamp: TIMESTAMP,
      deletionGracePeriodSeconds: INT,
      deletionTimestamp: TIMESTAMP,
      generation: INT,
      resourceVersion: STRING,
      finalizers: texts,
    }),
    spec: objectOf('NamespaceSpec', { finalizers: texts }),
    status: objectOf('NamespaceStatus', { phase: STRING }),
  });
}

/**
 * The variables that an expression of an admission policy or webhook may use in addition to those of all expressions.
 */
export interface ExpressionScope {
  /** `params`: policies with a `paramKind`. */
  readonly params?: boolean;
  /** `authorizer` and `authorizer.requestResource`: all but message expressions. */
  readonly authorizer?: boolean;
  /** Types of `variables`, by name. */
  readonly variables?: ReadonlyMap<string, Cel.Type>;
  /** Types of `object`, `oldObject` and `params`, for type checking; absent: untyped. */
  readonly types?: { readonly object?: Cel.Type; readonly params?: Cel.Type };
  /** `Object` and `JSONPatch`, with which mutations construct their results. */
  readonly mutation?: boolean;
  /**
   * Whether the expression is being written: it may use only functions of this release. Otherwise, those of any
   * release.
   */
  readonly isNew?: boolean;
}

/**
 * Lists of libraries with that of mutations, by the list without it: environments share the declarations of the same
 * list.
 */
const withMutation = new WeakMap<readonly Cel.Library[], readonly Cel.Library[]>();

function librariesFor(cel: typeof Cel, { isNew, mutation }: ExpressionScope): readonly Cel.Library[] {
  const libraries = isNew ? cel.librariesOf() : cel.widestLibraries();
  if (!mutation) return libraries;
  const known = withMutation.get(libraries);
  if (known) return known;
  const extended = [...libraries, cel.MUTATION_LIBRARY];
  withMutation.set(libraries, extended);
  return extended;
}

/** The environment of an expression of an admission policy or webhook. */
export function admissionEnvironment(cel: typeof Cel, scope: ExpressionScope): Cel.Environment {
  const { params, authorizer, variables, types } = scope;
  const object = types?.object ?? cel.DYN;
  return cel.createEnvironment({
    libraries: librariesFor(cel, scope),
    validation: cel.validationOf(),
    variables: {
      object,
      oldObject: object,
      request: requestType(cel),
      namespaceObject: namespaceType(cel),
      ...(params ? { params: types?.params ?? cel.DYN } : {}),
      ...(authorizer ? { authorizer: cel.AUTHORIZER_TYPE, 'authorizer.requestResource': cel.RESOURCE_CHECK_TYPE } : {}),
      ...(variables ? { variables: objectOf('variables', Object.fromEntries(variables)) } : {}),
    },
  });
}
