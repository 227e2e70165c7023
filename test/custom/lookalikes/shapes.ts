/* Short forms of schemas, and of definitions made of them. */

/** A schema as in a definition. */
export interface Shape {
  readonly [member: string]: unknown;
}

type Shapes = { readonly [name: string]: Shape };

/** A string schema; `about` is its description. */
export const text = (about: string, more: Shape = {}): Shape => ({ description: about, type: 'string', ...more });
export const flag = (about: string, more: Shape = {}): Shape => ({ description: about, type: 'boolean', ...more });
export const int32 = (about: string, more: Shape = {}): Shape => ({
  description: about,
  type: 'integer',
  format: 'int32',
  ...more,
});
export const int64 = (about: string, more: Shape = {}): Shape => ({ ...int32(about, more), format: 'int64' });
export const oneOf = (about: string, values: readonly string[], more: Shape = {}): Shape =>
  text(about, { enum: values, ...more });
export const object = (about: string, properties: Shapes, more: Shape = {}): Shape => ({
  description: about,
  type: 'object',
  properties,
  ...more,
});
export const list = (items: Shape, about: string, more: Shape = {}): Shape => ({
  description: about,
  type: 'array',
  items,
  ...more,
});
/** A list whose items are identified by members. */
export const keyed = (keys: readonly string[], items: Shape, about: string, more: Shape = {}): Shape =>
  list(items, about, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys, ...more });
export const atomic = (items: Shape, about: string, more: Shape = {}): Shape =>
  list(items, about, { 'x-kubernetes-list-type': 'atomic', ...more });
export const mapOf = (values: Shape, about: string, more: Shape = {}): Shape => ({
  description: about,
  type: 'object',
  additionalProperties: values,
  ...more,
});
/** Rules, each an expression with its message. */
export const rules = (...pairs: readonly (readonly [rule: string, message: string])[]): Shape => ({
  'x-kubernetes-validations': pairs.map(([rule, message]) => ({ rule, message })),
});
/** An object of any kind inside of another. */
export const embedded = (about: string): Shape => ({
  description: about,
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
});
export const anything = (about: string): Shape => ({
  description: about,
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
});

const REASON = '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$';
const CONDITION_TYPE =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$';

/** Conditions in the common form, with all limits. */
export const conditions = (more: Shape = {}): Shape =>
  keyed(
    ['type'],
    object(
      'One aspect of the current state.',
      {
        type: text('Aspect in CamelCase.', { maxLength: 316, pattern: CONDITION_TYPE }),
        status: oneOf('Whether it holds.', ['True', 'False', 'Unknown']),
        reason: text('Why it last changed.', { maxLength: 1024, minLength: 1, pattern: REASON }),
        message: text('Details for people.', { maxLength: 32_768 }),
        lastTransitionTime: text('When the status changed.', { format: 'date-time' }),
        observedGeneration: int64('The generation it is about.', { minimum: 0 }),
      },
      { required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'] },
    ),
    'What is known about the state.',
    { maxItems: 8, ...more },
  );

/** A printed column. */
export const column = (name: string, type: string, jsonPath: string, more: Shape = {}): Shape => ({
  name,
  type,
  jsonPath,
  ...more,
});
export const AGE = column('Age', 'date', '.metadata.creationTimestamp');

/** The schema of a kind with the usual members. */
export const kindShape = (about: string, properties: Shapes, more: Shape = {}): Shape =>
  object(
    about,
    {
      apiVersion: text('Version of the schema of this representation.'),
      kind: text('Kind of this representation.'),
      metadata: { type: 'object' },
      ...properties,
    },
    more,
  );

/** A version of a definition. */
export interface VersionShape {
  readonly name: string;
  readonly schema: { readonly openAPIV3Schema: Shape };
  readonly [member: string]: unknown;
}

/** A served version with a status. */
export const version = (name: string, schema: Shape, more: Shape = {}): VersionShape => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: schema },
  subresources: { status: {} },
  ...more,
});

/** A CustomResourceDefinition as it is posted. */
export interface Definition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string; readonly annotations?: { readonly [name: string]: string } };
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string; readonly kind: string; readonly [member: string]: unknown };
    readonly scope: 'Namespaced' | 'Cluster';
    readonly versions: readonly VersionShape[];
    readonly [member: string]: unknown;
  };
}

export const definition = (
  group: string,
  kind: string,
  names: Shape & { readonly plural: string },
  scope: Definition['spec']['scope'],
  versions: readonly VersionShape[],
  annotations?: { readonly [name: string]: string },
): Definition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${names.plural}.${group}`, ...(annotations && { annotations }) },
  spec: {
    group,
    names: { kind, listKind: `${kind}List`, singular: kind.toLowerCase(), ...names },
    scope,
    versions,
  },
});
