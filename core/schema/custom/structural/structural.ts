import type { StructuralSchema } from '../../../api/resource.js';
import { forbiddenField, invalid, required, Verbatim, type Violation } from '../../../model/refusal.js';
import { isMembers } from '../../patch/members.js';
import { hasRules } from '../prune.js';
import { RuleCosts } from '../rules/ruleChecks.js';
import { unrepresentedKeyword, unrepresentedText } from './schemaWalk.js';
import { defaultViolations } from './defaults.js';
import { keywordViolations } from './keywords.js';
import { memberPath } from './paths.js';
import { shapeViolations } from './shape.js';

/** Keywords of the root that upstream can apply to the status alone, by their names in Go. */
const ALLOWED_WITH_STATUS = [
  ['description', 'Description'],
  ['type', 'Type'],
  ['format', 'Format'],
  ['title', 'Title'],
  ['maximum', 'Maximum'],
  ['exclusiveMaximum', 'ExclusiveMaximum'],
  ['minimum', 'Minimum'],
  ['exclusiveMinimum', 'ExclusiveMinimum'],
  ['maxLength', 'MaxLength'],
  ['minLength', 'MinLength'],
  ['pattern', 'Pattern'],
  ['maxItems', 'MaxItems'],
  ['minItems', 'MinItems'],
  ['uniqueItems', 'UniqueItems'],
  ['multipleOf', 'MultipleOf'],
  ['required', 'Required'],
  ['items', 'Items'],
  ['properties', 'Properties'],
  ['externalDocs', 'ExternalDocs'],
  ['example', 'Example'],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields'],
  ['x-kubernetes-validations', 'XValidations'],
] as const;
const ALLOWED_NAMES = new Set<string>(ALLOWED_WITH_STATUS.map(([name]) => name));
/** Keywords that come before `type` in upstream's list. The first one that is not allowed is reported. */
const BEFORE_TYPE = ['id', '$schema', '$ref'];

/** Violations of a root whose status has a path of its own. */
function statusViolations(schema: StructuralSchema, path: string): Violation[] {
  const isSet = ([name, value]: [string, unknown]): boolean =>
    name === 'additionalProperties' || (value !== false && value !== '');
  const set = Object.entries(schema)
    .filter(isSet)
    .map(([name]) => name);
  const forbidden = set.filter(name => !ALLOWED_NAMES.has(name));
  const isTypeFirst = !forbidden.some(name => BEFORE_TYPE.includes(name));
  if (isTypeFirst && schema.type && schema.type !== 'object')
    return [
      invalid(
        memberPath(path, 'type'),
        schema.type,
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      ),
    ];
  if (forbidden.length === 0) return [];
  const names = ALLOWED_WITH_STATUS.map(([, name]) => name).join(' ');
  const text = `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [invalid(path, new Verbatim(`apiextensions.JSONSchemaProps{${forbidden.join(', ')}}`), text)];
}

/** Whether a client's value may be a schema. */
const isSchema = (value: unknown): value is StructuralSchema => isMembers(value);

/**
 * Validates that a schema is structural, with upstream's messages. `path` is the path of the schema in violations.
 * `hasStatus`: the status of the objects has a path of its own. Rules are compiled, and defaults validated, only in
 * schemas whose shape is valid.
 */
export function structuralViolations(schema: StructuralSchema, path: string, hasStatus = false): Violation[] {
  if (!isSchema(schema)) return [required(path, 'schemas are required')];
  const found = hasStatus ? statusViolations(schema, path) : [];
  if (schema.nullable) found.push(forbiddenField(memberPath(path, 'nullable'), 'nullable cannot be true at the root'));
  const unrepresented = unrepresentedKeyword(schema);
  const shape = unrepresented === undefined ? shapeViolations(schema, path) : [];
  const isSound = unrepresented === undefined && shape.length === 0;
  const defaults = isSound ? defaultViolations(schema, path) : [];
  const costs = isSound && defaults.length === 0 && hasRules(schema) ? new RuleCosts() : undefined;
  found.push(...shape, ...defaults, ...keywordViolations(schema, path, costs));
  // Most keywords that cannot be represented have a violation of their own.
  if (found.length === 0 && unrepresented !== undefined) return [invalid(path, '', unrepresentedText(unrepresented))];
  return [...found, ...(costs?.total(path) ?? [])];
}
