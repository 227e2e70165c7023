import type { StructuralSchema } from '../../../api/resource.js';
import type { ApiObject, Json } from '../../../model/object.js';
import { goValue } from '../../../model/text/goText.js';
import { invalid, type Violation } from '../../../model/refusal.js';
import { StrictErrors } from '../../decode/strictErrors.js';
import { EmbeddedMismatch, embeddedViolations, excessiveDefaults, normalizeEmbedded } from '../customSchema.js';
import { applyDefaults, ExcessiveDefaults, Growth, hasDefaults } from '../defaults.js';
import { prune } from '../prune.js';
import { compileRules } from '../rules/rules.js';
import { memberPath, propertyPath } from './paths.js';
import { schemaViolations, WHOLE_OBJECT } from '../validate.js';

/** The API object around a default in its metadata, to validate the object with the default. */
interface Surrounding {
  readonly schema: StructuralSchema;
  /** Puts a value at the place of the default. */
  readonly place: (value: Json) => Json;
}

const ENVELOPE = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Validates the defaults of a schema, except those in `additionalProperties`, which upstream does not validate.
 * Together, they must not make an otherwise empty object too large.
 */
export const defaultViolations = (schema: StructuralSchema, path: string): Violation[] =>
  hasDefaults(schema)
    ? [
        ...violationsBelow({ ...schema, 'x-kubernetes-embedded-resource': true }, path, undefined),
        ...growthViolations(schema, path),
      ]
    : [];

function growthViolations(schema: StructuralSchema, path: string): Violation[] {
  try {
    applyDefaults({}, schema, new Growth());
    return [];
  } catch (error) {
    if (!(error instanceof ExcessiveDefaults)) throw error;
    return [excessiveDefaults(path, error)];
  }
}

function violationsBelow(schema: StructuralSchema, path: string, around: Surrounding | undefined): Violation[] {
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const outer = isEmbedded ? undefined : around;
  const found: Violation[] = [];
  if (schema.default !== undefined && schema.default !== null)
    found.push(...valueViolations(schema, schema.default, memberPath(path, 'default'), outer));
  if (schema.items)
    found.push(...violationsBelow(schema.items, memberPath(path, 'items'), outer && placedIn(outer, value => [value])));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const inner =
      isEmbedded && ENVELOPE.has(name)
        ? { schema, place: (value: Json): Json => ({ apiVersion: 'validation/v1', kind: 'Validation', [name]: value }) }
        : outer && placedIn(outer, value => ({ [name]: value }));
    found.push(...violationsBelow(property, propertyPath(path, name), inner));
  }
  return found;
}

const placedIn = ({ schema, place }: Surrounding, wrap: (value: Json) => Json): Surrounding => ({
  schema,
  place: value => place(wrap(value)),
});

function valueViolations(
  schema: StructuralSchema,
  value: Json,
  path: string,
  around: Surrounding | undefined,
): Violation[] {
  const found = around ? metadataViolations(value, path, around) : [];
  if (found.length > 0) return found;
  if (!around) {
    // Coercion and pruning change a value in place. Each gets a copy, because the value before it is used below.
    const coerced = structuredClone(value);
    const wrong = coerceObjects(coerced, schema, path);
    const pruned = structuredClone(coerced);
    const dropped = new StrictErrors();
    prune(pruned, schema, '', dropped, schema['x-kubernetes-embedded-resource'] === true);
    if (dropped.texts.length > 0) found.push(invalid(path, goValue(coerced), 'must not have unknown fields'));
    const objects = wrong ? [wrong] : objectViolations(coerced, schema, path);
    if (objects.length > 0) return [...found, ...objects];
  }
  const prefixField = (violation: Violation): Violation => {
    const { field } = violation;
    return {
      ...violation,
      field: field === '' || field === WHOLE_OBJECT ? path : `${path}.${field.replace(/^\./, '')}`,
    };
  };
  const below = schemaViolations(value, schema).map(prefixField);
  if (below.length > 0) return [...found, ...below];
  const rules = compileRules(schema, true)?.(value, value) ?? [];
  return [
    ...found,
    ...rules.map(rule => (rule.field.startsWith('[') ? { ...rule, field: `${path}${rule.field}` } : prefixField(rule))),
  ];
}

/** A value as the member of an object, since the object that is visited first is not an embedded one. */
const inObject = (value: Json): ApiObject => ({ default: value }) as unknown as ApiObject;
const ofObject = (schema: StructuralSchema): StructuralSchema => ({ properties: { default: schema } });
const withPath = (violation: Violation, path: string): Violation => ({
  ...violation,
  field: `${path}${violation.field.slice('default'.length)}`,
});

/** Decodes the API objects in a default, in place. Returns the violation of one that has a wrong type. */
function coerceObjects(value: Json, schema: StructuralSchema, path: string): Violation | undefined {
  try {
    normalizeEmbedded(inObject(value) as unknown as Json, ofObject(schema), new StrictErrors());
    return undefined;
  } catch (error) {
    if (!(error instanceof EmbeddedMismatch)) throw error;
    return withPath(invalid(error.field, goValue(error.value), error.why), path);
  }
}

/** Violations of the API objects in a default. */
const objectViolations = (value: Json, schema: StructuralSchema, path: string): Violation[] =>
  embeddedViolations(inObject(value), ofObject(schema)).map(violation => withPath(violation, path));

/** Violations of a default in the metadata of an API object: those of the object with the default. */
function metadataViolations(value: Json, path: string, { schema, place }: Surrounding): Violation[] {
  const object = place(structuredClone(value));
  const wrong = coerceObjects(object, schema, '');
  return (wrong ? [wrong] : objectViolations(object, schema, '')).map(({ field, message }) =>
    invalid(path, goValue(value), `must result in valid metadata: ${field.replace(/^\./, '')}: ${message}`),
  );
}
