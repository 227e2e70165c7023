/** The place of a line of YAML: the fields that contain it, by its indentation. */
export interface Place {
  /** The path of the map that a key of this line belongs to. */
  readonly parent: readonly (string | number)[];
  /** The key of the line; '' while there is none. */
  readonly key: string;
  /** Whether the position is in the value of the key. */
  readonly isValue: boolean;
  /** Keys that the map has in other lines. */
  readonly siblings: () => readonly string[];
}

/** The lines of a text, by index. */
export interface Lines {
  readonly count: number;
  text(index: number): string;
}

/** Largest number of dashes in one line that are parsed: lists in lists are seldom deeper than three. */
const MOST_DASHES = 32;

interface Line {
  /** Column of the first character after the dashes; -1 for empty lines and comments. */
  readonly indent: number;
  /** Columns of the dashes of items that begin in this line. */
  readonly dashes: readonly number[];
  /** The key of the line, '' if it has none. */
  readonly key: string;
  /** Column after the colon; Infinity without one. */
  readonly colon: number;
}

/** The parts of a line in block style. Texts of several lines and flow style are not parsed: they have no keys. */
function partsOf(text: string): Line {
  const dashes: number[] = [];
  let at = 0;
  for (;;) {
    while (text[at] === ' ') at++;
    if (text[at] !== '-' || (text[at + 1] !== ' ' && at + 1 < text.length) || dashes.length === MOST_DASHES) break;
    dashes.push(at);
    at++;
  }
  const rest = text.slice(at);
  if (rest.startsWith('#') || (rest.trim() === '' && dashes.length === 0))
    return { indent: -1, dashes, key: '', colon: Infinity };
  const [, quoted, plain] = /^(?:"([^"]*)"|([^\s"':#{[][^:]*)):(?:\s|$)/.exec(rest) ?? [];
  const key = quoted ?? plain ?? '';
  const colon =
    key === '' && quoted === undefined
      ? Infinity
      : at + rest.indexOf(':', quoted === undefined ? 0 : quoted.length + 2);
  return { indent: at, dashes, key: key.trim(), colon };
}

type LineAt = (index: number) => Line;

/** The items of a list at the column `dash` that begin before the line. */
function itemsBefore(lineAt: LineAt, from: number, dash: number): number {
  let count = 0;
  for (let i = from - 1; i >= 0; i--) {
    const { indent, dashes } = lineAt(i);
    if (indent < 0) continue;
    if (dashes.includes(dash)) count++;
    else if ((dashes[0] ?? indent) <= dash) break;
  }
  return count;
}

/** The keys of the map at a column that contains a line. */
function siblingsOf(lineAt: LineAt, count: number, line: number, column: number): string[] {
  const keys: string[] = [];
  const walk = (step: 1 | -1): void => {
    for (let i = line + step; i >= 0 && i < count; i += step) {
      const { indent, dashes, key } = lineAt(i);
      if (indent < 0) continue;
      if ((dashes[0] ?? indent) < column) {
        // Above, the first key of an item comes after its dash.
        if (step < 0 && indent === column && key !== '') keys.push(key);
        return;
      }
      if (indent === column && dashes.length === 0 && key !== '') keys.push(key);
    }
  };
  const isItem = lineAt(line).dashes.length > 0;
  if (!isItem) walk(-1);
  walk(1);
  return keys;
}

/** Finds the fields around a position in YAML, even while the text is not complete. */
export function placeAt(lines: Lines, lineIndex: number, column: number): Place {
  // The text may be long: only the lines that the place depends on are read.
  const known = new Map<number, Line>();
  const lineAt: LineAt = index => {
    const line = known.get(index) ?? partsOf(lines.text(index));
    known.set(index, line);
    return line;
  };
  const own = lineAt(lineIndex);
  const current: Line = own.indent < 0 ? { ...own, indent: column } : own;
  const isValue = column >= current.colon;
  const path: (string | number)[] = [];
  // The column that a containing field must be left of, and whether a list at the same column belongs to its key.
  let limit = current.indent;
  let line = lineIndex;
  const enterItems = (at: number, of: Line): void => {
    for (const dash of [...of.dashes].reverse()) {
      if (dash >= limit) continue;
      path.unshift(itemsBefore(lineAt, at, dash));
      // The key of a list may be at the column of its dashes.
      limit = dash + 0.5;
    }
  };
  enterItems(line, current);
  for (line--; line >= 0 && limit > 0; line--) {
    const above = lineAt(line);
    if (above.indent < 0) continue;
    const first = above.dashes[0] ?? above.indent;
    if (above.indent < limit && above.key !== '' && above.dashes.every(dash => dash < limit)) {
      // A dash in the same column ends the map of the item: the key is then that of another item.
      path.unshift(above.key);
      limit = above.indent;
      enterItems(line, above);
    } else if (above.dashes.some(dash => dash < limit) && above.indent === limit) {
      enterItems(line, above);
    } else if (first < limit && above.key === '') limit = Math.min(limit, first);
  }
  return {
    parent: path,
    key: current.key,
    isValue,
    siblings: () => siblingsOf(lineAt, lines.count, lineIndex, current.indent),
  };
}
