import { ConfigError } from '../../api/point.js';
import { queryOf } from '../../api/client/paths.js';
import { recordAt, recordsAt, stringAt, type UnknownRecord } from '../../model/record.js';
import { type ParsedArguments, parseArguments } from '../arguments.js';
import { pathIn, resourceName, ServedKinds, type ServedKind, TABLE } from '../client/kinds.js';
import { Columns, isTable, type Output, outputOf, printedObject, shownObject, TableReader } from '../client/printed.js';
import { AnswerError, ApiClient, serverOf } from '../client/request.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';
import { styleOf } from '../terminal/style.js';

/** The number of objects in one answer; further ones are requested. */
const PAGE = '500';
const NOT_FOUND = 404;

/** The objects that a command reads, and the form in which it prints them. */
export interface Selection {
  readonly kind: ServedKind;
  /** '' for all namespaces, and for kinds without. */
  readonly namespace: string;
  /** The name of the only object; undefined for all. */
  readonly name: string | undefined;
  readonly labelSelector: string | undefined;
  readonly fieldSelector?: string;
  readonly output: Output;
}

/** The selection of a command line: `KIND [NAME]` or `KIND/NAME`. Throws ConfigError, and Error for unknown kinds. */
export function selectionOf({ values, positionals }: ParsedArguments, kinds: ServedKinds, command: string): Selection {
  const [first = '', second, ...more] = positionals;
  const [word = '', joined, ...rest] = first.split('/');
  const name = second ?? joined;
  const output = outputOf(values['output']);
  if (word === '' || more.length > 0 || rest.length > 0 || (second !== undefined && joined !== undefined))
    throw new ConfigError(`capstan ${command}`, 'expects KIND [NAME], such as pods, or deployments web');
  const kind = kinds.named(word);
  const isAll = values['all-namespaces'] === true;
  if (isAll && values['namespace'] !== undefined)
    throw new ConfigError('--all-namespaces', 'cannot be used with --namespace: omit one of them');
  if (isAll && name !== undefined && kind.namespaced)
    throw new ConfigError('--all-namespaces', 'cannot be used with a name: give the namespace with --namespace');
  const labelSelector = typeof values['selector'] === 'string' ? values['selector'] : undefined;
  if (labelSelector !== undefined && name !== undefined)
    throw new ConfigError('--selector', 'cannot be used with a name: omit one of them');
  return { kind, namespace: namespaceIn(values, kind, isAll), name, labelSelector, output };
}

const namespaceIn = (values: ParsedArguments['values'], kind: ServedKind, isAll: boolean): string =>
  isAll || !kind.namespaced ? '' : typeof values['namespace'] === 'string' ? values['namespace'] : 'default';

/** The headers that request objects in a form. */
export const acceptFor = (output: Output): Readonly<Record<string, string>> => ({
  accept: isTable(output) ? TABLE : 'application/json',
});

/** The answers to a get or a list, page by page. */
export async function* pagesOf(client: Pick<ApiClient, 'ask'>, selection: Selection): AsyncGenerator<UnknownRecord> {
  const { kind, namespace, name, labelSelector, fieldSelector, output } = selection;
  const path = pathIn(kind, namespace, name);
  for (let next: string | undefined = ''; next !== undefined; ) {
    const parameters = { labelSelector, fieldSelector, limit: PAGE, continue: next || undefined };
    const query = name === undefined ? queryOf(parameters) : '';
    const { body } = await client.ask({ method: 'GET', path: path + query, headers: acceptFor(output) });
    yield body;
    next = stringAt(body, 'metadata', 'continue') || undefined;
  }
}

/** The objects of an answer to a get or a list. */
const objectsIn = (body: UnknownRecord, { name }: Selection): readonly UnknownRecord[] =>
  name === undefined ? recordsAt(body, 'items') : [body];

function tellNone({ kind, namespace }: Selection, io: Io): void {
  const place = namespace === '' ? '' : ` in the namespace ${namespace}`;
  io.err(`there are no ${resourceName(kind)}${place}`);
}

function printRows(head: readonly string[], rows: readonly (readonly string[])[], io: Io): void {
  const columns = new Columns([head, ...rows]);
  io.out(styleOf().strong(columns.line(head)));
  for (const row of rows) io.out(columns.line(row));
}

async function printTable(client: ApiClient, selection: Selection, io: Io): Promise<void> {
  const { kind, namespace, output } = selection;
  const reader = new TableReader(output === 'wide', kind.namespaced && namespace === '');
  const rows: (readonly string[])[] = [];
  for await (const page of pagesOf(client, selection)) rows.push(...reader.rows(page));
  if (rows.length === 0) tellNone(selection, io);
  else printRows(reader.head, rows, io);
}

async function printObjects(client: ApiClient, selection: Selection, io: Io): Promise<void> {
  const { kind, output, name } = selection;
  const objects: UnknownRecord[] = [];
  for await (const page of pagesOf(client, selection)) objects.push(...objectsIn(page, selection));
  if (output === 'json' && name === undefined) {
    const items = objects.map(object => shownObject(object, kind));
    io.out(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2));
    return;
  }
  if (objects.length === 0) return tellNone(selection, io);
  const texts = objects.map(object => printedObject(object, kind, output));
  io.out(texts.join(output === 'yaml' ? '\n---\n' : '\n'));
}

function printKinds(kinds: ServedKinds, io: Io): void {
  const listed = kinds.preferred.filter(({ verbs }) => verbs.includes('list'));
  const rows = listed.map(kind => [
    resourceName(kind),
    kind.shortNames.join(','),
    kind.kind,
    kind.namespaced ? 'in a namespace' : '',
  ]);
  printRows(['NAME', 'SHORT', 'KIND', 'PLACE'], rows, io);
}

/** Adds to the error for an object that does not exist how to find those that do. */
function withNextStep(error: unknown, { kind, namespace, name }: Selection): unknown {
  if (name === undefined || !(error instanceof AnswerError) || error.status !== NOT_FOUND) return error;
  const place = kind.namespaced ? ` -n ${namespace}` : '';
  return new Error(`${error.message}; capstan get ${resourceName(kind)}${place} lists those that are there`);
}

/** `capstan get [KIND [NAME]]`. Returns the exit code. Throws ConfigError for bad arguments. */
export async function getCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('get'));
  const access = serverOf(parsed.values);
  try {
    const client = new ApiClient(access);
    const kinds = await ServedKinds.of(client);
    if (parsed.positionals.length === 0) {
      printKinds(kinds, io);
      return 0;
    }
    const selection = selectionOf(parsed, kinds, 'get');
    await (isTable(selection.output) ? printTable : printObjects)(client, selection, io).catch((error: unknown) => {
      throw withNextStep(error, selection);
    });
    return 0;
  } finally {
    access.close();
  }
}

/** The resource version of a list or table, from which a watch continues. */
export const versionOf = (body: UnknownRecord): string => stringAt(recordAt(body, 'metadata'), 'resourceVersion');
