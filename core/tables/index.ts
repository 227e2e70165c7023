import type { Column, RowCondition } from '../api/strategy.js';
import type { ApiObject, Json } from '../model/object.js';
import { badRequest } from '../model/refusal.js';
import type { Naming } from '../naming.js';

/** How much of each object its row carries. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Version of the group of the derived forms. */
export type MetaVersion = 'v1' | 'v1beta1';

/** Metadata of a list: what a Table of it repeats. */
export interface ListMetadata {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** What a Table is made of. */
export interface TableInput {
  /** Columns of the kind; absent means Name and Created At. */
  readonly columns?: readonly Column[] | undefined;
  /** Conditions of a row; absent: none. */
  readonly conditions?: ((object: ApiObject) => readonly RowCondition[]) | undefined;
  /** As the client would receive them as objects, kind and apiVersion included. */
  readonly objects: readonly ApiObject[];
  readonly listMetadata: ListMetadata;
  readonly includeObject: IncludeObject;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly tableVersion: MetaVersion;
  /** Only the first event of a watch carries the column definitions. */
  readonly withHeader: boolean;
  readonly naming: Naming;
  /** Gives the object that cells are computed from, where that is another version than the one shown. */
  readonly cellsFrom?: (object: ApiObject) => ApiObject;
}

/** The first column of kinds without columns of their own choice. */
export const NAME_COLUMN: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  priority: 0,
  description: 'Name of the object, unique among those of its kind in its namespace.',
  cell: object => object.metadata.name ?? '',
};

/** Columns of kinds that define none (spec, "Table representation"). */
const DEFAULT_COLUMNS: readonly Column[] = [
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

/** Reads the `includeObject` parameter; throws the 400 of an unknown value. Absent and empty mean metadata. */
export function parseIncludeObject(value: string | undefined): IncludeObject {
  if (value === undefined || value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

const metaApiVersion = (naming: Naming, version: MetaVersion): string =>
  `${naming.group('meta.orchestrator.io')}/${version}`;

/** The object's metadata alone, as a PartialObjectMetadata. */
export const partialObjectMetadata = (object: ApiObject, version: MetaVersion, naming: Naming): ApiObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: metaApiVersion(naming, version),
  metadata: object.metadata,
});

/** A list of metadata alone. */
export const partialObjectMetadataList = (
  objects: readonly ApiObject[],
  metadata: ListMetadata,
  version: MetaVersion,
  naming: Naming,
): object => ({
  kind: 'PartialObjectMetadataList',
  apiVersion: metaApiVersion(naming, version),
  metadata,
  items: objects.map(object => partialObjectMetadata(object, version, naming)),
});

const definition = ({ name, type, format, description, priority }: Column): { [key: string]: Json } => ({
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

function row(object: ApiObject, columns: readonly Column[], input: TableInput): object {
  const source = input.cellsFrom?.(object) ?? object;
  const conditions = input.conditions?.(source) ?? [];
  return {
    cells: columns.map(column => column.cell(source, input.now)),
    ...(conditions.length ? { conditions } : {}),
    object: rowObject(object, input),
  };
}

/** The Table as a JSON value. */
export function tableValue(input: TableInput): object {
  const columns = input.columns ?? DEFAULT_COLUMNS;
  return {
    kind: 'Table',
    apiVersion: metaApiVersion(input.naming, input.tableVersion),
    metadata: input.listMetadata,
    columnDefinitions: input.withHeader ? columns.map(definition) : null,
    rows: input.objects.map(object => row(object, columns, input)),
  };
}
