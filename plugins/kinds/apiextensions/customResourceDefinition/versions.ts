import { isDeepStrictEqual } from 'node:util';
import type { StructuralSchema } from '../../../../core/api/resource.js';
import { recordAt, recordsAt, stringAt, type UnknownRecord, valueAt } from '../../../../core/model/record.js';
import { duplicate, invalid, required, tooMany, type Violation } from '../../../../core/model/refusal.js';
import { simplePathNames } from '../../../../core/schema/custom/jsonPath.js';
import { structuralViolations } from '../../../../core/schema/custom/structural.js';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];

const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

const SELECTABLE_TYPES = new Set(['string', 'boolean', 'integer']);

/** Selectable fields of a version. */
const MOST_SELECTABLE = 8;

const SIMPLE = 'must be a simple json path starting with .';

/**
 * The field of a member of a version in messages. Upstream reports members that are equal in all versions outside of
 * the versions.
 */
function fieldOfVersion(
  versions: readonly UnknownRecord[],
  member: string,
  lifted: string,
): (i: number) => string | undefined {
  const [first] = versions;
  const common = versions.every(version => isDeepStrictEqual(valueAt(version, member), valueAt(first, member)));
  if (common) return i => (i === 0 ? lifted : undefined);
  return i => `spec.versions[${i}].${member}`;
}

/** Violations of the versions of a definition: schemas, subresources, columns and selectable fields. */
export function validateVersions(versions: readonly UnknownRecord[]): Violation[] {
  const schemaAt = fieldOfVersion(versions, 'schema', 'spec.validation');
  const subresourcesAt = fieldOfVersion(versions, 'subresources', 'spec.subresources');
  const columnsAt = fieldOfVersion(versions, 'additionalPrinterColumns', 'spec.additionalPrinterColumns');
  const selectableAt = fieldOfVersion(versions, 'selectableFields', 'spec.selectableFields');
  return versions.flatMap((version, i) => {
    const schema = recordAt(version, 'schema', 'openAPIV3Schema') as StructuralSchema | undefined;
    const [place, subs, columns, fields] = [schemaAt(i), subresourcesAt(i), columnsAt(i), selectableAt(i)];
    const path = `${place}.openAPIV3Schema`;
    return [
      ...(schema ? [] : [required(`spec.versions[${i}].schema.openAPIV3Schema`, 'schemas are required')]),
      ...(schema && place ? structuralViolations(schema, path) : []),
      ...(subs ? validateScale(recordAt(version, 'subresources', 'scale'), `${subs}.scale`) : []),
      ...(columns ? validateColumns(recordsAt(version, 'additionalPrinterColumns'), columns) : []),
      ...(fields ? validateSelectableFields(recordsAt(version, 'selectableFields'), schema, fields) : []),
    ];
  });
}

function validateScale(scale: UnknownRecord | undefined, path: string): Violation[] {
  if (!scale) return [];
  const check = (member: string, roots: readonly string[], where: string, optional = false): Violation[] => {
    const field = `${path}.${member}`;
    const given = stringAt(scale, member);
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

function validateColumns(columns: readonly UnknownRecord[], base: string): Violation[] {
  return columns.flatMap((column, i) => {
    const path = `${base}[${i}]`;
    const [type, format, jsonPath] = [
      stringAt(column, 'type'),
      stringAt(column, 'format'),
      stringAt(column, 'jsonPath'),
    ];
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    const found: Violation[] = [];
    if (stringAt(column, 'name') === '') found.push(required(`${path}.name`));
    if (type === '') found.push(required(`${path}.type`, types));
    else if (!COLUMN_TYPES.includes(type)) found.push(invalid(`${path}.type`, type, types));
    if (format !== '' && !COLUMN_FORMATS.includes(format))
      found.push(invalid(`${path}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    if (jsonPath === '') found.push(required(`${path}.JSONPath`));
    else if (!jsonPath.startsWith('.')) found.push(invalid(`${path}.JSONPath`, jsonPath, SIMPLE));
    return found;
  });
}

/** The schema at a path of property names; undefined if there is no such property. */
function schemaAt(schema: StructuralSchema | undefined, names: readonly string[]): StructuralSchema | undefined {
  return names.reduce<StructuralSchema | undefined>(
    (here, name) => (here?.properties && Object.hasOwn(here.properties, name) ? here.properties[name] : undefined),
    schema,
  );
}

function validateSelectableFields(
  fields: readonly UnknownRecord[],
  schema: StructuralSchema | undefined,
  base: string,
): Violation[] {
  const seen = new Set<string>();
  const found = fields.length > MOST_SELECTABLE ? [tooMany(base, fields.length, MOST_SELECTABLE)] : [];
  fields.forEach((field, i) => {
    const path = `${base}[${i}].jsonPath`;
    const given = stringAt(field, 'jsonPath');
    const names = simplePathNames(given);
    const target = names && names[0] !== 'metadata' ? schemaAt(schema, names) : undefined;
    if (given === '') found.push(required(path));
    else if (given.includes('[')) found.push(invalid(path, given, 'is an invalid path: array notation is not allowed'));
    else if (!target) found.push(invalid(path, given, 'is an invalid path: does not refer to a valid field'));
    else if (!SELECTABLE_TYPES.has(target.type ?? ''))
      found.push(
        invalid(
          path,
          given,
          'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        ),
      );
    else if (seen.has(given)) found.push(duplicate(path, given));
    seen.add(given);
  });
  return found;
}
