import type { CustomResourceDefinitionVersion, SelectableField } from '../../../../kinds/apiextensions/v1.js';
import { isDeepStrictEqual } from 'node:util';
import type { StructuralSchema } from '../../../../core/api/resource.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import {
  columnViolations,
  scaleViolations,
  selectableFieldViolations,
} from '../../../../core/schema/custom/structural/versionParts.js';
import { unrepresentedKeyword, unrepresentedText } from '../../../../core/schema/custom/structural/schemaWalk.js';
import { structuralViolations } from '../../../../core/schema/custom/structural/structural.js';

/** Where upstream reports schemas and selectable fields that are equal in all versions. */
const LIFTED_SCHEMA = 'spec.validation';
const LIFTED_FIELDS = 'spec.selectableFields';

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

/** Violations of versions without a schema, which upstream reports before all others of versions. */
export const requireSchemas = (versions: readonly CustomResourceDefinitionVersion[]): Violation[] =>
  versions.flatMap(({ schema }, i) =>
    schema?.openAPIV3Schema ? [] : [required(`spec.versions[${i}].schema.openAPIV3Schema`, 'schemas are required')],
  );

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
      ...(schema && place ? structuralViolations(schema, path, hasStatus(version)) : []),
      ...(subs ? scaleViolations(version.subresources?.scale, `${subs}.scale`) : []),
      ...(columns ? columnViolations(version.additionalPrinterColumns ?? [], columns) : []),
      ...(fields ? selectableViolations(version, schema, fields, place ?? LIFTED_SCHEMA) : []),
    ];
  });
}

/**
 * Violations of the selectable fields of a version. As in upstream, fields that are equal in all versions need a schema
 * that is equal in all versions, and other fields one that is not.
 */
function selectableViolations(
  version: CustomResourceDefinitionVersion,
  schema: StructuralSchema | undefined,
  base: string,
  schemaPlace: string,
): Violation[] {
  const fields = version.selectableFields ?? [];
  const isLifted = base === LIFTED_FIELDS;
  if (fields.length > 0 && (!schema || isLifted !== (schemaPlace === LIFTED_SCHEMA)))
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

/** Violations of the selectable fields, which must be in the schema. */
function checkSelectableFields(
  fields: readonly SelectableField[],
  schema: StructuralSchema | undefined,
  base: string,
  schemaBase: string,
): Violation[] {
  if (fields.length === 0) return [];
  const unrepresented = schema && unrepresentedKeyword(schema);
  const paths = fields.map(({ jsonPath }) => jsonPath);
  const check = (known: StructuralSchema | undefined): Violation[] =>
    selectableFieldViolations(paths, known, base, '.jsonPath');
  if (!unrepresented) return check(schema);
  return [invalid(schemaBase, '', unrepresentedText(unrepresented)), ...check(undefined)];
}
