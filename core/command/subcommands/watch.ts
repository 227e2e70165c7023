import { queryOf } from '../../api/client/paths.js';
import { recordAt, recordsAt, stringAt, type UnknownRecord } from '../../model/record.js';
import { parseArguments } from '../arguments.js';
import { pathIn, ServedKinds } from '../client/kinds.js';
import { Columns, isTable, printedName, printedObject, shownObject, TableReader } from '../client/printed.js';
import { AnswerError, ApiClient, serverOf } from '../client/request.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';
import { type Style, styleOf } from '../terminal/style.js';
import { acceptFor, pagesOf, type Selection, selectionOf, versionOf } from './get.js';

/** The word printed instead of a type of change for the objects that exist at the beginning. */
const CURRENT = 'CURRENT';
/** The status for a version since which the server does not know all changes any more. */
const EXPIRED = 410;

/** A change, or an object as it is at the beginning. */
type Show = (type: string, object: UnknownRecord) => void;

const colorLine = (style: Style, type: string, text: string): string =>
  type === 'DELETED' ? style.bad(text) : type === 'ADDED' ? style.good(text) : text;

/** Prints tables with the change in their first column. The first table determines the widths of the columns. */
function tableShow({ kind, namespace, output }: Selection, io: Io): Show {
  const style = styleOf();
  const reader = new TableReader(output === 'wide', kind.namespaced && namespace === '');
  let columns: Columns | undefined;
  return (type, table) => {
    const rows = reader.rows(table).map(row => [type, ...row]);
    const head = ['CHANGE', ...reader.head];
    if (!columns) {
      columns = new Columns([head, ['MODIFIED'], ...rows]);
      io.out(style.strong(columns.line(head)));
    }
    for (const row of rows) io.out(colorLine(style, type, columns.line(row)));
  };
}

/** Prints changes as YAML documents, lines of JSON, or lines with names. */
function objectShow({ kind, output }: Selection, io: Io): Show {
  return (type, body) => {
    const objects = type === CURRENT ? recordsAt(body, 'items') : [body];
    for (const object of objects) {
      if (output === 'name') io.out(`${type} ${printedName(object, kind)}`);
      else if (output === 'json') io.out(JSON.stringify({ type, object: shownObject(object, kind) }));
      else io.out(`--- # ${type}\n${printedObject(object, kind, output)}`);
    }
  };
}

/**
 * Turns a selection with a name into a list. The version of a list is that of the store, whereas the version of an
 * object is that of its last change, since which the server may no longer know all changes.
 */
function asList(selection: Selection): Selection {
  const { name } = selection;
  return name === undefined ? selection : { ...selection, name: undefined, fieldSelector: `metadata.name=${name}` };
}

/** Shows the current objects, and returns the version from which changes follow. */
async function showCurrent(client: ApiClient, selection: Selection, show: Show): Promise<string> {
  let version = '';
  for await (const page of pagesOf(client, selection)) {
    show(CURRENT, page);
    version = versionOf(page);
  }
  return version;
}

/** Shows changes after a version until the server ends the watch. Returns the version of the last one. */
async function showChanges(client: ApiClient, selection: Selection, from: string, show: Show): Promise<string> {
  const { kind, namespace, labelSelector, fieldSelector, output } = selection;
  const query = { watch: 'true', resourceVersion: from, allowWatchBookmarks: 'true', labelSelector, fieldSelector };
  let version = from;
  const path = pathIn(kind, namespace) + queryOf(query);
  for await (const event of client.watch(path, acceptFor(output))) {
    const object = recordAt(event, 'object') ?? {};
    const type = stringAt(event, 'type');
    const [row] = isTable(output) ? recordsAt(object, 'rows') : [];
    version = stringAt(row ? recordAt(row, 'object') : object, 'metadata', 'resourceVersion') || version;
    if (type !== 'BOOKMARK') show(type, object);
  }
  return version;
}

/**
 * `capstan watch KIND [NAME]`: prints objects and their changes until it is interrupted. Rejects if the server can no
 * longer be reached. Throws ConfigError for bad arguments.
 */
export async function watchCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('watch'));
  const access = serverOf(parsed.values);
  try {
    const client = new ApiClient(access);
    const selection = asList(selectionOf(parsed, await ServedKinds.of(client), 'watch'));
    const show = (isTable(selection.output) ? tableShow : objectShow)(selection, io);
    for (let version = await showCurrent(client, selection, show); ; )
      try {
        version = await showChanges(client, selection, version, show);
      } catch (error) {
        if (!(error instanceof AnswerError && error.status === EXPIRED)) throw error;
        io.err('the server does not know the changes since the last one any more: these are the current objects');
        version = await showCurrent(client, selection, show);
      }
  } finally {
    access.close();
  }
}
