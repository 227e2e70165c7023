import type { TextMember } from '../../shared/values/members.js';
import type {
  CustomResourceDefinitionVersion,
  CustomResourceColumnDefinition,
  CustomResourceSubresourceScale,
  SelectableField,
} from '../../../../kinds/apiextensions/v1.js';
import { isDeepStrictEqual } from 'node:util';
import type { StructuralSchema } from '../../../../core/api/resource.js';
import { duplicate, invalid, required, tooMany, type Violation } from '../../../../core/model/refusal.js';
import { findFieldPath } from '../../../../core/schema/custom/fieldPath.js';
import { unrepresentedKeyword, unrepresentedText } from '../../../../core/schema/custom/structural/schemaWalk.js';
import { structuralViolations } from '../../../../core/schema/custom/structural/structural.js';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];

const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

const NOT_SELECTABLE =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
const SELECTABLE_TYPES = new Set(['string', 'boolean', 'integer']);

/** Selectable fields of a version. */
const MOST_SELECTABLE = 8;

/** Where upstream reports schemas and selectable fields that are equal in all versions. */
const LIFTED_SCHEMA = 'spec.validation';
const LIFTED_FIELDS = 'spec.selectableFields';

const SIMPLE = 'must be a simple json path starting with .';

/**
 * The field of a member of a version in messages. Upstream reports members that are equal in all versions outside of
 * the versions.
 */
function fieldOfVersion(
  versions: readonly CustomResourceDefinitionVersion[],
  member: keyof CustomResourceDefinitionVersion,
  lifted: string,
): (i: number) => string | undefined {
  const [first] = versions;
  const common = versions.every(version => isDeepStrictEqual(version[member], first?.[member]));
  if (common) return i => (i === 0 ? lifted : undefined);
  return i => `spec.versions[${i}].${member}`;
}

const hasStatus = (version: CustomResourceDefinitionVersion): boolean => version.subresources?.status !== undefined;

/** Violations of the versions of a definition: schemas, subresources, columns and selectable fields. */
export function validateVersions(versions: readonly CustomResourceDefinitionVersion[]): Violation[] {
  const schemaAt = fieldOfVersion(versions, 'schema', LIFTED_SCHEMA);
  const subresourcesAt = fieldOfVersion(versions, 'subresources', 'spec.subresources');
  const columnsAt = fieldOfVersion(versions, 'additionalPrinterColumns', 'spec.additionalPrinterColumns');
  const selectableAt = fieldOfVersion(versions, 'selectableFields', LIFTED_FIELDS);
  return versions.flatMap((version, i) => {
    const schema = version.schema?.openAPIV3Schema as StructuralSchema | undefined;
    const [place, subs, columns, fields] = [schemaAt(i), subresourcesAt(i), columnsAt(i), selectableAt(i)];
    const path = `${place}.openAPIV3Schema`;
    return [
      ...(schema ? [] : [required(`spec.versions[${i}].schema.openAPIV3Schema`, 'schemas are required')]),
      ...(schema && place ? structuralViolations(schema, path, hasStatus(version)) : []),
      ...(subs ? validateScale(version.subresources?.scale, `${subs}.scale`) : []),
      ...(columns ? validateColumns(version.additionalPrinterColumns ?? [], columns) : []),
      ...(fields ? selectableViolations(version, schema, fields, place ?? LIFTED_SCHEMA) : []),
    ];
  });
}

function validateScale(scale: CustomResourceSubresourceScale | undefined, path: string): Violation[] {
  if (!scale) return [];
  const check = (
    member: TextMember<CustomResourceSubresourceScale>,
    roots: readonly string[],
    where: string,
    optional = false,
  ): Violation[] => {
    const field = `${path}.${member}`;
    const given = scale[member] ?? '';
    if (given === '') return optional ? [] : [required(field)];
    if (!given.startsWith('.')) return [invalid(field, given, SIMPLE)];
    return roots.some(root => given.startsWith(`${root}.`))
      ? []
      : [invalid(field, given, `should be a json path under ${where}`)];
  };
  return [
    ...check('specReplicasPath', ['.spec'], '.spec'),
    ...check('statusReplicasPath', ['.status'], '.status'),
    ...check('labelSelectorPath', ['.spec', '.status'], 'either .spec or .status', true),
  ];
}

function validateColumns(columns: readonly CustomResourceColumnDefinition[], base: string): Violation[] {
  return columns.flatMap((column, i) => {
    const path = `${base}[${i}]`;
    const [type, format, jsonPath] = [column.type, column.format ?? '', column.jsonPath];
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    const found: Violation[] = [];
    if (column.name === '') found.push(required(`${path}.name`));
    if (type === '') found.push(required(`${path}.type`, types));
    else if (!COLUMN_TYPES.includes(type)) found.push(invalid(`${path}.type`, type, types));
    if (format !== '' && !COLUMN_FORMATS.includes(format))
      found.push(invalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    if (jsonPath === '') found.push(required(`${path}.JSONPath`));
    else if (!jsonPath.startsWith('.')) found.push(invalid(`${path}.JSONPath`, jsonPath, SIMPLE));
    return found;
  });
}

function validateSelectableFields(
  fields: readonly SelectableField[],
  schema: StructuralSchema | undefined,
  base: string,
): Violation[] {
  const seen = new Set<string>();
  const found: Violation[] = [];
  for (const [i, field] of fields.entries()) {
    const path = `${base}[${i}].jsonPath`;
    const given = field.jsonPath;
    const target = findFieldPath(given, schema, false);
    if (given === '') found.push(required(path));
    else if ('error' in target) found.push(invalid(path, given, `is an invalid path: ${target.error}`));
    else {
      if (target.names[0]?.name === 'metadata')
        found.push(invalid(path, given, 'must not point to fields in metadata'));
      if (!SELECTABLE_TYPES.has(target.schema?.type ?? '')) found.push(invalid(path, given, NOT_SELECTABLE));
      if (seen.has(given)) found.push(duplicate(path, given));
      seen.add(given);
    }
  }
  if (seen.size > MOST_SELECTABLE) found.push(tooMany(base, seen.size, MOST_SELECTABLE));
  return found;
}

/** Violations of the selectable fields of a version. Upstream looks for their schema where they are themselves. */
function selectableViolations(
  version: CustomResourceDefinitionVersion,
  schema: StructuralSchema | undefined,
  base: string,
  schemaPlace: string,
): Violation[] {
  const fields = version.selectableFields ?? [];
  const isLifted = base === LIFTED_FIELDS;
  if (fields.length > 0 && isLifted !== (schemaPlace === LIFTED_SCHEMA))
    return [
      invalid(
        base,
        '',
        isLifted
          ? 'selectableFields may only be set when validations.schema is included'
          : 'selectableFields may only be set when version.schema.openAPIV3Schema is not included',
      ),
    ];
  return checkSelectableFields(
    fields,
    schema,
    base,
    isLifted ? 'spec.schema.openAPIV3Schema' : `${schemaPlace}.openAPIV3Schema`,
  );
}

/** Violations of the selectable fields, which are found in the schema of the same place. */
function checkSelectableFields(
  fields: readonly SelectableField[],
  schema: StructuralSchema | undefined,
  base: string,
  schemaBase: string,
): Violation[] {
  if (fields.length === 0) return [];
  const unrepresented = schema && unrepresentedKeyword(schema);
  if (!unrepresented) return validateSelectableFields(fields, schema, base);
  return [
    invalid(schemaBase, '', unrepresentedText(unrepresented)),
    ...validateSelectableFields(fields, undefined, base),
  ];
}
