import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../core/model/object.js';
import { Refusal } from '../../core/model/refusal.js';
import { namingOf } from '../../core/naming.js';
import {
  parseIncludeObject,
  partialObjectMetadataList,
  type TableInput,
  tableValue,
} from '../../core/services/tables/index.js';
import { builtInStrategies, columnsOf } from '../kinds/builtIn.js';

const naming = namingOf('kubernetes');
const secret: ApiObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'x', namespace: 'n', creationTimestamp: '2024-01-01T00:00:00Z', resourceVersion: '7' },
  type: 'Opaque',
  data: { k: 'dg==' },
};
const input = (rest: Partial<TableInput> = {}): TableInput => ({
  columns: columnsOf('core/secrets', 'kubernetes'),
  objects: [secret],
  listMetadata: { resourceVersion: '9' },
  includeObject: 'Metadata',
  now: Date.parse('2024-01-01T00:00:05Z'),
  tableVersion: 'v1',
  withHeader: true,
  naming,
  ...rest,
});
type Table = {
  apiVersion: string;
  columnDefinitions: Record<string, unknown>[] | null;
  rows: { cells: unknown[]; object: Record<string, unknown> | null; conditions?: unknown[] }[];
  metadata: unknown;
};
const table = (rest?: Partial<TableInput>): Table => JSON.parse(JSON.stringify(tableValue(input(rest)))) as Table;

describe('Tables and lists without objects', () => {
  it('have null as rows if the kind defines no columns, and as items', () => {
    expect(table({ objects: [] }).rows).toEqual([]);
    expect(table({ objects: [], columns: undefined }).rows).toBeNull();
    expect(partialObjectMetadataList([], {}, 'v1', naming)).toMatchObject({ items: null });
  });
});

describe('Tables [R057] [R058]', () => {
  it('have definitions, cells, list metadata and the metadata of each object', () => {
    const result = table();
    expect(result.apiVersion).toBe('meta.k8s.io/v1');
    expect(result.metadata).toEqual({ resourceVersion: '9' });
    expect(result.columnDefinitions?.map(c => [c.name, c.type, c.format, c.priority])).toEqual([
      ['Name', 'string', 'name', 0],
      ['Type', 'string', '', 0],
      ['Data', 'string', '', 0],
      ['Age', 'string', '', 0],
    ]);
    expect(result.columnDefinitions?.every(c => typeof c.description === 'string' && c.description !== '')).toBe(true);
    expect(result.rows).toEqual([
      {
        cells: ['x', 'Opaque', 1, '5s'],
        object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: secret.metadata },
      },
    ]);
  });

  it('include nothing, the metadata or the whole object', () => {
    expect(table({ includeObject: 'None' }).rows[0]?.object).toBeNull();
    expect(table({ includeObject: 'Object' }).rows[0]?.object).toEqual(secret);
    expect(['None', 'Metadata', 'Object', '', undefined].map(parseIncludeObject)).toEqual([
      'None',
      'Metadata',
      'Object',
      'Metadata',
      'Metadata',
    ]);
  });

  it('refuse other values of includeObject with 400', () => {
    expect(() => parseIncludeObject('Other')).toThrow(
      new Refusal(
        'BadRequest',
        `Unable to convert to Table as requested: includeObject: Invalid value: "Other": must be 'Metadata', 'Object', 'None', or empty`,
      ),
    );
  });

  it('have Name and Created At if the kind defines no columns', () => {
    const result = table({ columns: undefined });
    expect(result.columnDefinitions?.map(c => [c.name, c.type])).toEqual([
      ['Name', 'string'],
      ['Created At', 'date'],
    ]);
    expect(result.rows[0]?.cells).toEqual(['x', '2024-01-01T00:00:00Z']);
  });

  it('omit the definitions after the first event of a watch', () => {
    expect(table({ withHeader: false }).columnDefinitions).toBeNull();
  });

  it('without objects have no rows but all columns', () => {
    const result = table({ objects: [] });
    expect([result.rows, result.columnDefinitions?.length]).toEqual([[], 4]);
  });

  it('support both versions, in the naming of the server', () => {
    expect(table({ tableVersion: 'v1beta1' }).rows[0]?.object?.apiVersion).toBe('meta.k8s.io/v1beta1');
    expect(table({ naming: namingOf('neutral') }).apiVersion).toBe('meta.orchestrator.io/v1');
  });

  it('compute cells from the version that is requested', () => {
    expect(table({ cellSource: object => ({ ...object, type: 'stored' }) }).rows[0]?.cells[1]).toBe('stored');
  });

  it('have a row condition for pods that have ended', () => {
    const ended = (phase: string): unknown =>
      table({
        conditions: builtInStrategies('kubernetes').get('core/pods')?.rowConditions,
        objects: [{ ...secret, status: { phase } }],
      }).rows[0]?.conditions;
    expect(ended('Succeeded')).toEqual([
      { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' },
    ]);
    expect(ended('Failed')).toEqual([
      { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' },
    ]);
    expect(ended('Running')).toBeUndefined();
  });
});

describe('metadata-only answers [R193] [R194]', () => {
  it('are lists of PartialObjectMetadata, each with kind and version', () => {
    expect(partialObjectMetadataList([secret], { resourceVersion: '9' }, 'v1', naming)).toEqual({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9' },
      items: [{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: secret.metadata }],
    });
  });
});
