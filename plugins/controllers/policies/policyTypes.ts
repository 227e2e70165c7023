import type { NamedRuleWithOperations, ValidatingAdmissionPolicy } from '../../../kinds/admissionregistration/v1.js';
import type { APIResource } from '../../../kinds/meta/v1.js';
import type * as Cel from '../../../core/cel/index.js';
import { isRecord } from '../../../core/model/record.js';
import { compileExpression } from '../../../core/schema/expressions/budget.js';
import { admissionEnvironment } from '../../../core/schema/expressions/environment.js';
import { compileVariables } from '../../../core/schema/expressions/variables.js';

/** Upstream's limit of the kinds that the expressions of a policy are checked for. */
const MAX_KINDS = 10;
/** Largest depth of types: the schema of JSON Schemas contains itself. */
const MAX_DEPTH = 24;

/** A kind in a version, in the server's naming. */
export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A schema as an OpenAPI v3 document has it. */
type PublishedSchema = Cel.Schema & {
  readonly $ref?: string;
  readonly allOf?: readonly PublishedSchema[];
  readonly oneOf?: readonly unknown[];
  readonly 'x-kubernetes-group-version-kind'?: readonly KindName[];
};

interface PublishedSchemas {
  readonly [name: string]: PublishedSchema;
}

/** The members of an OpenAPI v3 document that types are made from. */
export interface PublishedDocument {
  readonly components?: { readonly schemas?: PublishedSchemas };
}

/** The published schemas and names of a server's kinds. */
export interface PublishedKinds {
  /** The resources of a version, as discovery shows them; undefined for a version that is not served. */
  resources(group: string, version: string): Promise<readonly APIResource[] | undefined>;
  /** The OpenAPI v3 schemas of a version by name; undefined for a version that is not served. */
  schemas(group: string, version: string): Promise<PublishedSchemas | undefined>;
}

/** A warning in the status of a policy. */
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

const hasWildcard = (text: string): boolean => text.includes('*');
const shownKind = ({ group, version, kind }: KindName): string => `${group}/${version}, Kind=${kind}`;

/** The values of a rule, sorted; none if one of them is a wildcard. */
function exactNames(rule: NamedRuleWithOperations, member: 'apiGroups' | 'apiVersions'): readonly string[] {
  const names = rule[member] ?? [];
  return names.some(hasWildcard) ? [] : names.toSorted();
}

/** The kinds that the rules of a policy name, without wildcards and subresources, sorted. */
async function kindsOf(policy: ValidatingAdmissionPolicy, published: PublishedKinds): Promise<readonly KindName[]> {
  const found = new Map<string, KindName>();
  for (const rule of policy.spec.matchConstraints?.resourceRules ?? []) {
    const plurals = (rule.resources ?? []).filter(name => !/[*/]/.test(name)).sort();
    for (const group of exactNames(rule, 'apiGroups'))
      for (const version of exactNames(rule, 'apiVersions')) {
        const resources = plurals.length > 0 ? await published.resources(group, version) : undefined;
        for (const plural of plurals) {
          const kind = resources?.find(one => one.name === plural)?.kind ?? '';
          if (kind && found.size < MAX_KINDS) found.set(`${group}/${version}/${kind}`, { group, version, kind });
        }
      }
  }
  return [...found.values()].sort((a, b) => (shownKind(a) < shownKind(b) ? -1 : 1));
}

const REFERENCE = '#/components/schemas/';

/** A published schema without references, as expressions use schemas. */
function resolve(schemas: PublishedSchemas, schema: PublishedSchema, depth: number): Cel.Schema {
  const all = schema.allOf ?? [];
  const reference = schema.$ref || (all.length === 1 && all[0]?.$ref) || '';
  if (reference.startsWith(REFERENCE)) {
    const target = schemas[reference.slice(REFERENCE.length)];
    return target && depth > 0 ? resolve(schemas, target, depth - 1) : {};
  }
  if (schema['oneOf'] !== undefined && schema['type'] === undefined) return { 'x-kubernetes-int-or-string': true };
  const part = (value: unknown): Cel.Schema => (isRecord(value) && depth > 0 ? resolve(schemas, value, depth - 1) : {});
  const properties = Object.entries(schema.properties ?? {}).map(([name, of]) => [name, part(of)]);
  const { additionalProperties, items } = schema;
  return {
    ...(schema as Cel.Schema),
    properties: Object.fromEntries(properties) as Record<string, Cel.Schema>,
    ...(items === undefined ? {} : { items: part(items) }),
    ...(isRecord(additionalProperties) ? { additionalProperties: part(additionalProperties) } : {}),
  };
}

/** The type of the objects of a kind; undefined where the server publishes none. */
async function typeOf(cel: typeof Cel, kind: KindName, published: PublishedKinds): Promise<Cel.Type | undefined> {
  const schemas = await published.schemas(kind.group, kind.version);
  const isOfKind = (schema: PublishedSchema): boolean =>
    (schema['x-kubernetes-group-version-kind'] ?? []).some(
      one => one.group === kind.group && one.version === kind.version && one.kind === kind.kind,
    );
  const found = Object.entries(schemas ?? {}).find(([, schema]) => isOfKind(schema));
  if (!found) return undefined;
  const schema = resolve(schemas!, found[1], MAX_DEPTH);
  return cel.schemaType(schema, { name: shownKind(kind) })?.type;
}

/** The kind of a policy's parameters. */
function paramKindOf(policy: ValidatingAdmissionPolicy): KindName | undefined {
  const paramKind = policy.spec.paramKind;
  if (!paramKind) return undefined;
  const parts = (paramKind.apiVersion ?? '').split('/');
  const [group = '', version = ''] = parts.length > 1 ? parts : ['', parts[0]];
  return { group, version, kind: paramKind.kind ?? '' };
}

/**
 * Errors in the expressions of a policy for the kinds that its rules name. Wildcards name none; an expression
 * is checked for each kind, and its warning names those that it does not compile for.
 */
export async function checkTypes(
  cel: typeof Cel,
  policy: ValidatingAdmissionPolicy,
  published: PublishedKinds,
): Promise<readonly ExpressionWarning[]> {
  const objects: { readonly kind: KindName; readonly type: Cel.Type }[] = [];
  for (const kind of await kindsOf(policy, published)) {
    const type = await typeOf(cel, kind, published);
    if (type) objects.push({ kind, type });
  }
  const paramKind = paramKindOf(policy);
  const params = paramKind && (await typeOf(cel, paramKind, published));
  const checkers = objects.map(({ kind, type }) => {
    const scope = { authorizer: true, params: params !== undefined, types: { object: type, params } };
    const variables = compileVariables(cel, policy.spec.variables ?? [], scope);
    const types = variables.length > 0 ? new Map(variables.map(one => [one.name, one.type])) : undefined;
    return { kind, env: admissionEnvironment(cel, { ...scope, variables: types }) };
  });
  const warningsOf = (fieldRef: string, expression: string): readonly ExpressionWarning[] => {
    const found = checkers.flatMap(({ kind, env }) => {
      const { error } = compileExpression(env, expression);
      return error === undefined ? [] : [`${shownKind(kind)}: ${error.replace('compilation error: ', '')}\n`];
    });
    return found.length === 0 ? [] : [{ fieldRef, warning: found.join('\n') }];
  };
  return (policy.spec.validations ?? []).flatMap((validation, i) => [
    ...warningsOf(`spec.validations[${i}].expression`, validation.expression),
    ...(validation.messageExpression
      ? warningsOf(`spec.validations[${i}].messageExpression`, validation.messageExpression)
      : []),
  ]);
}
