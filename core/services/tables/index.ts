import type { Column, RowCondition } from '../../api/strategy.js';
import { showCell } from '../../model/age.js';
import type { ApiObject, Json } from '../../model/object.js';
import { ROW_CHARACTERS } from '../../limits.js';
import { badRequest } from '../../model/refusal.js';
import type { Naming } from '../../naming.js';

/** The part of the object that each row includes (`includeObject`). */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Version of the meta group, which Table and PartialObjectMetadata belong to. */
export type MetaVersion = 'v1' | 'v1beta1';

/** Metadata of a list or of its Table. */
export interface ListMetadata {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** The contents of a Table. */
export interface TableInput {
  /** Columns of the kind. Default: Name and Created At. */
  readonly columns?: readonly Column[] | undefined;
  /** Computes the conditions of a row. Default: none. */
  readonly conditions?: ((object: ApiObject) => readonly RowCondition[]) | undefined;
  /** Objects in the requested version, with kind and apiVersion. */
  readonly objects: readonly ApiObject[];
  readonly listMetadata: ListMetadata;
  readonly includeObject: IncludeObject;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly tableVersion: MetaVersion;
  /** Whether to include the column definitions: in a watch, only the first event has them. */
  readonly withHeader: boolean;
  readonly naming: Naming;
  /** Converts an object to the version that cells are computed from, if that is not the requested one. */
  readonly cellSource?: (object: ApiObject) => ApiObject;
}

/** The Name column, which is the first one of most kinds. */
export const NAME_COLUMN: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  priority: 0,
  description: 'Name of the object, unique among those of its kind in its namespace.',
  cell: object => object.metadata.name ?? '',
};

/** The columns of kinds that define none (spec, "Table representation"). */
export const DEFAULT_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  {
    name: 'Created At',
    type: 'date',
    format: '',
    priority: 0,
    description: 'Time at which the object was created, RFC 3339 in UTC.',
    cell: object => object.metadata.creationTimestamp ?? null,
  },
];

/** Parses the `includeObject` parameter; empty means Metadata. Throws a Refusal (400) for an unknown value. */
export function parseIncludeObject(value: string | undefined): IncludeObject {
  if (value === undefined || value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be ` +
      "'Metadata', 'Object', 'None', or empty",
  );
}

const metaApiVersion = (naming: Naming, version: MetaVersion): string =>
  `${naming.group('meta.orchestrator.io')}/${version}`;

/** The object's metadata as a PartialObjectMetadata. */
export const partialObjectMetadata = (object: ApiObject, version: MetaVersion, naming: Naming): ApiObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: metaApiVersion(naming, version),
  metadata: object.metadata,
});

/** The metadata of several objects as a PartialObjectMetadataList. */
export const partialObjectMetadataList = (
  objects: readonly ApiObject[],
  metadata: ListMetadata,
  version: MetaVersion,
  naming: Naming,
): object => ({
  kind: 'PartialObjectMetadataList',
  apiVersion: metaApiVersion(naming, version),
  metadata,
  items: objects.length > 0 ? objects.map(object => partialObjectMetadata(object, version, naming)) : null,
});

const columnDefinition = ({ name, type, format, description, priority }: Column): { [key: string]: Json } => ({
  name,
  type,
  format,
  description,
  priority,
});

function rowObject(object: ApiObject, input: TableInput): unknown {
  if (input.includeObject === 'None') return null;
  return input.includeObject === 'Object' ? object : partialObjectMetadata(object, input.tableVersion, input.naming);
}

/** The cells of a row. Cells after the bound are empty: each may repeat the whole object. */
function cellsOf(columns: readonly Column[], source: ApiObject, now: number): unknown[] {
  let left = ROW_CHARACTERS;
  return columns.map(column => {
    if (left < 0) return null;
    const cell = showCell(column.cell(source), now);
    left -= typeof cell === 'string' ? cell.length : 1;
    return cell;
  });
}

function rowOf(object: ApiObject, input: TableInput): object {
  const { columns = DEFAULT_COLUMNS } = input;
  const source = input.cellSource?.(object) ?? object;
  const conditions = input.conditions?.(source) ?? [];
  return {
    cells: cellsOf(columns, source, input.now),
    ...(conditions.length ? { conditions } : {}),
    object: rowObject(object, input),
  };
}

/** The Table as a JSON value. Without rows it has `rows: null` if the kind defines no columns, upstream's form. */
export function tableValue(input: TableInput): object {
  const columns = input.columns ?? DEFAULT_COLUMNS;
  const rows = input.objects.map(object => rowOf(object, input));
  return {
    kind: 'Table',
    apiVersion: metaApiVersion(input.naming, input.tableVersion),
    metadata: input.listMetadata,
    columnDefinitions: input.withHeader ? columns.filter(({ name }) => name !== '').map(columnDefinition) : null,
    rows: rows.length > 0 || input.columns ? rows : null,
  };
}
