import type { StructuralSchema } from '../../../api/resource.js';
import { forbiddenField, invalid, notSupported, type Violation } from '../../../model/refusal.js';
import { additionalSchema } from '../prune.js';
import { ruleTextViolations, type RuleCosts, type SchemaPosition } from '../rules/ruleChecks.js';
import { markerViolations } from './markers.js';
import { logicalSchemas, memberPath, propertyPath } from './paths.js';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
/** Keywords of JSON schemas that are not supported. */
const UNSUPPORTED = ['$ref', 'definitions', 'dependencies', 'patternProperties', 'id', 'additionalItems'] as const;
const ENVELOPE = new Set(['apiVersion', 'kind', 'metadata']);

/** The restrictions that surrounding schemas impose on a schema. */
interface Surroundings {
  /** The reason why a default is not allowed; undefined if it is. */
  readonly forbiddenDefault?: string;
  /** Whether the schema is part of apiVersion, kind or metadata of an API object. */
  readonly insideMetadata?: boolean;
  /** The position for the costs of rules; undefined if rules are not compiled. */
  readonly position?: SchemaPosition | undefined;
}

/**
 * Validates the keywords of a schema and its nested ones. `costs` compiles the rules and adds up their costs; without
 * it, they are not compiled.
 */
export function keywordViolations(schema: StructuralSchema, path: string, costs?: RuleCosts): Violation[] {
  const check = new KeywordCheck(costs);
  check.visit(schema, path, costs ? { position: { occurrences: 1 } } : {}, true);
  return [...check.found, ...check.inRules];
}

class KeywordCheck {
  /** Violations except those of compiled rules. */
  readonly found: Violation[] = [];
  readonly inRules: Violation[] = [];
  constructor(private readonly costs: RuleCosts | undefined) {}

  visit(schema: StructuralSchema, path: string, around: Surroundings, isRoot = false): void {
    const before = this.found.length;
    this.found.push(...ownViolations(schema, path, around));
    this.#visitMembers(schema, path, around, isRoot);
    for (const [below, belowPath] of logicalSchemas(schema, path))
      this.visit(below, belowPath, { ...around, position: undefined });
    this.found.push(...markerViolations(schema, path), ...ruleTextViolations(schema, path));
    // The rules of a schema with other violations cannot be checked.
    if (this.costs && around.position && this.found.length === before)
      this.inRules.push(...this.costs.check(schema, path, around.position, isRoot));
  }

  #visitMembers(schema: StructuralSchema, path: string, around: Surroundings, isRoot: boolean): void {
    const values = additionalSchema(schema);
    const positionBelow = (member: 'items' | 'additionalProperties' | 'properties') => ({
      position: around.position && this.costs?.below(schema, path, around.position, member, isRoot),
    });
    if (values)
      this.visit(values, memberPath(path, 'additionalProperties'), {
        ...around,
        ...(around.insideMetadata
          ? { forbiddenDefault: 'inside additionalProperties applying to object metadata' }
          : {}),
        ...positionBelow('additionalProperties'),
      });
    const isObject = isRoot || schema['x-kubernetes-embedded-resource'];
    for (const [name, property] of Object.entries(schema.properties ?? {}))
      this.visit(property, propertyPath(path, name), {
        ...around,
        ...(isObject && ENVELOPE.has(name) ? { insideMetadata: true } : {}),
        ...(isRoot && ENVELOPE.has(name) ? { forbiddenDefault: `in top-level ${name}` } : {}),
        ...positionBelow('properties'),
      });
    if (schema.items && !Array.isArray(schema.items))
      this.visit(schema.items, memberPath(path, 'items'), { ...around, ...positionBelow('items') });
  }
}

function ownViolations(schema: StructuralSchema, path: string, around: Surroundings): Violation[] {
  const found: Violation[] = [];
  const { type } = schema;
  if (type && !TYPES.includes(type)) found.push(notSupported(memberPath(path, 'type'), type, TYPES));
  if (type === 'null')
    found.push(forbiddenField(memberPath(path, 'type'), 'type cannot be set to null, use nullable as an alternative'));
  if (schema.default !== undefined && around.forbiddenDefault !== undefined)
    found.push(forbiddenField(memberPath(path, 'default'), `must not be set ${around.forbiddenDefault}`));
  for (const name of UNSUPPORTED)
    if (Object.hasOwn(schema, name)) found.push(forbiddenField(memberPath(path, name), `${name} is not supported`));
  if (Array.isArray(schema.items))
    found.push(forbiddenField(memberPath(path, 'items'), 'items must be a schema object and not an array'));
  if (schema['x-kubernetes-embedded-resource'] && around.insideMetadata)
    found.push(
      forbiddenField(memberPath(path, 'x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'),
    );
  if (schema.uniqueItems)
    found.push(
      forbiddenField(
        memberPath(path, 'uniqueItems'),
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  if (Object.keys(schema.properties ?? {}).length > 0 && (schema.additionalProperties ?? true) !== true)
    found.push(
      forbiddenField(
        memberPath(path, 'additionalProperties'),
        'additionalProperties and properties are mutual exclusive',
      ),
    );
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    found.push(invalid(memberPath(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
  return found;
}
