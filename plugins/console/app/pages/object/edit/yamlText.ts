import { type Document, isMap, isNode, parseDocument, stringify } from 'yaml';

/** Integers beyond 2^53 stay exact: values of a text have them as BigInt. */
const READ = { intAsBigInt: true, uniqueKeys: true } as const;
/** The form in which the server writes YAML. */
const WRITE = { lineWidth: 0, indentSeq: false } as const;

/** The segments of a field's path: names, and indexes of lists. */
export type Path = readonly (string | number)[];

/** A place of a text with what is wrong there. */
export interface Problem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

/** Reads a text. Its errors are in `errors` of the document. */
export const readYaml = (text: string): Document.Parsed => parseDocument(text, READ);

/** The errors of a text that stand in the way of saving it. */
export function problemsOf(doc: Document.Parsed): Problem[] {
  const found = doc.errors.map(({ pos: [from, to], message }) => ({
    from,
    to: Math.max(from + 1, to),
    // The rest is an excerpt of the text, which the editor shows itself.
    message: message.split(/ at line \d/)[0] ?? message,
  }));
  if (found.length === 0 && !isMap(doc.contents)) return [{ from: 0, to: 1, message: 'An object is a map of fields' }];
  return found;
}

/** The value of a text. Throws Error for one with errors. */
export function parseYaml(text: string): unknown {
  const doc = readYaml(text);
  const [problem] = problemsOf(doc);
  if (problem) throw new Error(problem.message);
  return doc.toJS();
}

/** The text of a document, as the server would write it; comments and styles stay. */
export const textOf = (doc: Document): string => doc.toString(WRITE);

/** The text that is edited: without the owners of fields, which have a page of their own and are kept when absent. */
export function editedText(text: string): string {
  const doc = readYaml(text);
  if (doc.hasIn(['metadata', 'managedFields'])) doc.deleteIn(['metadata', 'managedFields']);
  return textOf(doc);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return new Map(
    Object.keys(value)
      .sort()
      .map(key => [key, sorted(value[key])]),
  );
}

/** A value as text in which equal values are equal: keys are sorted, and comments are gone. */
export const canonicalText = (value: unknown): string => stringify(sorted(value), WRITE);

/** An object for comparison: without what the server counts on its own with every write. */
export function comparedText(text: string): string {
  const doc = readYaml(text);
  for (const field of ['managedFields', 'resourceVersion'])
    if (doc.hasIn(['metadata', field])) doc.deleteIn(['metadata', field]);
  return canonicalText(doc.toJS());
}

/** The segments of a path as messages of the server write it: `spec.containers[0].image`. */
export const pathIn = (field: string): Path =>
  field
    .replaceAll('[', '.')
    .replaceAll(']', '')
    .split('.')
    .filter(part => part !== '')
    .map(part => (/^\d+$/.test(part) ? Number(part) : part));

/** A path as text: `spec.containers[0].image`. */
export const pathText = (path: Path): string =>
  path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');

/** Where a field is in a text; where the deepest one that contains it is, if it is absent. */
export function rangeOf(doc: Document.Parsed, path: Path): { readonly from: number; readonly to: number } {
  for (let length = path.length; length > 0; length--) {
    const node = doc.getIn(path.slice(0, length), true);
    const range = isNode(node) ? node.range : undefined;
    if (range) return { from: range[0], to: Math.max(range[0] + 1, range[1]) };
  }
  return { from: 0, to: 1 };
}
