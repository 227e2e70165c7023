import { type RequestOptions, sendJson } from './http.js';
import type { ApiObject } from './objects.js';
import { systemGroup } from './session.js';

/** A column of a Table, as the server describes it. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 for columns that are shown even where there is little room. */
  readonly priority: number;
}

interface TableRow {
  readonly cells: readonly unknown[];
  readonly object: Pick<ApiObject, 'metadata'>;
}

/** A list, or an event of a watch, in the form that has one row for each object. */
export interface Table {
  readonly kind: string;
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  /** Null in events after the first one. */
  readonly columnDefinitions: readonly Column[] | null;
  readonly rows: readonly TableRow[];
}

/** A row as the list keeps it. */
export interface Row {
  /** `namespace/name`, or the name alone: the order of keys is that of the server. */
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly cells: readonly unknown[];
  /** Milliseconds since the epoch; NaN for objects without a time. */
  readonly created: number;
  readonly isDeleted: boolean;
}

/** The media types of lists and watches as Tables, in the version of the server's naming. */
export const tableType = (): string => `application/json;as=Table;v=v1;g=${systemGroup('meta')},application/json`;

/** The rows of a Table. */
export const rowsOf = ({ rows }: Table): Row[] =>
  (rows ?? []).map(({ cells, object: { metadata } }) => {
    const { name = '', namespace = '', creationTimestamp = '', deletionTimestamp } = metadata;
    return {
      key: namespace === '' ? name : `${namespace}/${name}`,
      name,
      namespace,
      cells,
      created: Date.parse(creationTimestamp),
      isDeleted: deletionTimestamp !== undefined,
    };
  });

/** The version of a Table of an event, or of a bookmark. */
export const versionOf = ({ metadata, rows }: Table): string | undefined =>
  metadata.resourceVersion || rows?.[0]?.object.metadata.resourceVersion;

/** Reads a page of a list. Throws ApiError. */
export const readPage = (path: string, query: RequestOptions['query'], signal?: AbortSignal): Promise<Table> =>
  sendJson<Table>('GET', path, { query, accept: tableType(), signal });
