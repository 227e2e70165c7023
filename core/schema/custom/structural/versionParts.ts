/**
 * The rules for the parts of a version of a custom kind other than its schema: scale, columns and selectable fields.
 */
import type { ResourceColumn, ScalePaths, StructuralSchema } from '../../../api/resource.js';
import { duplicate, invalid, required, tooMany, type Violation } from '../../../model/refusal.js';
import { findFieldPath } from '../fieldPath.js';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];

const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

const NOT_SELECTABLE =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
const SELECTABLE_TYPES = new Set(['string', 'boolean', 'integer']);

/** The largest number of selectable fields of a version. */
const MOST_SELECTABLE = 8;

const SIMPLE = 'must be a simple json path starting with .';

/** Violations of the paths of a scale; `path` is its field. */
export function scaleViolations(scale: Partial<ScalePaths> | null | undefined, path: string): Violation[] {
  if (!scale) return [];
  const check = (member: keyof ScalePaths, roots: readonly string[], where: string, optional = false): Violation[] => {
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

/** Violations of printed columns; `base` is the field of the list. */
export function columnViolations(
  columns: readonly Pick<ResourceColumn, 'name' | 'type' | 'format' | 'jsonPath'>[],
  base: string,
): Violation[] {
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

/**
 * Violations of selectable fields: their paths must lead to a text, a boolean or an integer of the schema. `base` is
 * the field of the list, `member` that of a path in its item.
 */
export function selectableFieldViolations(
  paths: readonly string[],
  schema: StructuralSchema | undefined,
  base: string,
  member = '',
): Violation[] {
  const seen = new Set<string>();
  const found: Violation[] = [];
  for (const [i, given] of paths.entries()) {
    const path = `${base}[${i}]${member}`;
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
