import { type Document, isMap, isNode, isScalar, parseDocument, stringify, visit, YAMLParseError } from 'yaml';
import { isFields } from '../../../api/objects.js';

/**
 * Integers beyond 2^53 stay exact: values of a text have them as BigInt. The library compares each key of a map with
 * all others, and cuts an excerpt of the text for each error: both take long for large texts, and are not used.
 */
const READ = { intAsBigInt: true, uniqueKeys: false, prettyErrors: false } as const;
/** The form in which the server writes YAML. */
const WRITE = { lineWidth: 0, indentSeq: false } as const;

/** The segments of a field's path: names, and indexes of lists. */
export type Path = readonly (string | number)[];

/** A place of a text with the fault there. */
export interface Problem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

/** Largest number of problems of one text that are shown. */
const SHOWN_PROBLEMS = 100;

/** Adds keys that occur twice in a map to the errors of a document. */
function checkKeys(doc: Document.Parsed): void {
  visit(doc, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const [from = 0, to = from] = key.range ?? [];
          doc.errors.push(new YAMLParseError([from, to], 'DUPLICATE_KEY', 'Map keys must be unique'));
        }
        seen.add(key.value);
      }
    },
  });
}

/** Reads a text. Its errors are in `errors` of the document. */
export function readYaml(text: string): Document.Parsed {
  const doc = parseDocument(text, READ);
  if (doc.errors.length === 0) checkKeys(doc);
  return doc;
}

/** The errors of a text that prevent saving it. */
export function problemsOf(doc: Document.Parsed): Problem[] {
  const found = doc.errors.slice(0, SHOWN_PROBLEMS).map(({ pos: [from, to], message }) => ({
    from,
    to: Math.max(from + 1, to),
    message,
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
export function editedText(doc: Document.Parsed): string {
  if (doc.hasIn(['metadata', 'managedFields'])) doc.deleteIn(['metadata', 'managedFields']);
  return textOf(doc);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isFields(value)) return value;
  return new Map(
    Object.keys(value)
      .sort()
      .map(key => [key, sorted(value[key])]),
  );
}

/** A value as text that is the same for equal values: keys are sorted, and comments are removed. */
export const canonicalText = (value: unknown): string => stringify(sorted(value), WRITE);

/** An object for comparison: without the fields that the server sets with every write. */
export function comparedText(text: string): string {
  const doc = readYaml(text);
  for (const field of ['managedFields', 'resourceVersion'])
    if (doc.hasIn(['metadata', field])) doc.deleteIn(['metadata', field]);
  return canonicalText(doc.toJS());
}

/** The segments of a path that is written as in messages of the server: `spec.containers[0].image`. */
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

/** The range of a field in a text; if it is absent, that of the deepest field that would contain it. */
export function rangeOf(doc: Document.Parsed, path: Path): { readonly from: number; readonly to: number } {
  for (let length = path.length; length > 0; length--) {
    const node = doc.getIn(path.slice(0, length), true);
    const range = isNode(node) ? node.range : undefined;
    if (range) return { from: range[0], to: Math.max(range[0] + 1, range[1]) };
  }
  return { from: 0, to: 1 };
}
