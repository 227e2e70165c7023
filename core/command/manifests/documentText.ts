import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseAllDocuments,
  type Scalar,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { ConfigError } from '../../api/point.js';
import { YAML_ALIASES } from '../../limits.js';
import { isDeepEqual, isRecord, type UnknownRecord } from '../../model/record.js';

/** A document of a manifest, which can be changed without losing its comments. */
export interface ManifestDocument {
  /** Its place in the file, from 1. */
  readonly number: number;
  /** Its content; undefined for an empty document. */
  readonly content: unknown;
  /** Makes the document have another content. Comments and order stay, except at what is gone. */
  update(content: UnknownRecord): void;
}

/** The documents of a file, and its text after they were updated. */
export interface Manifest {
  readonly documents: readonly ManifestDocument[];
  /** The text in a form; that of the file, unless one is given. Without a change, it is the text of the file. */
  text(form?: 'yaml' | 'json'): string;
}

/** Whether lists are written at the column of their key, as in most manifests. */
function hasFlatLists(text: string): boolean {
  let key = '';
  for (const line of text.split('\n')) {
    const content = line.trimStart();
    const indent = line.length - content.length;
    if (content.startsWith('- ') && key !== '') return key.length - key.trimStart().length === indent;
    key = content.trimEnd().endsWith(':') && !content.startsWith('- ') ? line : '';
  }
  return false;
}

/** Parses the YAML or JSON documents of a file. Throws ConfigError that names `file` and the document. */
export function parseManifest(text: string, file: string): Manifest {
  const parsed = parseAllDocuments(text, { merge: true }) as Document[];
  let isChanged = false;
  const documents = parsed.map((document, i): ManifestDocument => {
    const [error] = document.errors;
    if (error) throw new ConfigError(`${file}: document ${i + 1}`, error.message.split('\n')[0] ?? 'is not YAML');
    return {
      number: i + 1,
      content: plainOf(document, document.contents),
      update(content) {
        if (isDeepEqual(plainOf(document, document.contents), content)) return;
        isChanged = true;
        updateNode(document, document.contents as Node, content, node => (document.contents = node));
      },
    };
  });
  const isJson = /^\s*[[{]/.test(text);
  const contents = (): unknown[] =>
    parsed.filter(({ contents: node }) => node !== null).map(document => plainOf(document, document.contents));
  return {
    documents,
    text(form = isJson ? 'json' : 'yaml') {
      if (!isChanged && (form === 'json') === isJson) return text.trimEnd();
      if (form === 'json')
        return contents()
          .map(one => JSON.stringify(one, null, 2))
          .join('\n');
      if (isJson)
        return contents()
          .map(one => stringify(one).trimEnd())
          .join('\n---\n');
      const options = { lineWidth: 0, indentSeq: !hasFlatLists(text) };
      const texts = parsed.map(document => document.toString(options).trimEnd());
      return texts.reduce((all, one) => `${all}\n${one.startsWith('---') || one.startsWith('%') ? '' : '---\n'}${one}`);
    },
  };
}

const plainOf = (document: Document, node: unknown): unknown =>
  node === null || node === undefined ? undefined : (node as Node).toJS(document, { maxAliasCount: YAML_ALIASES });

/** Gives a node another value. `replace` is called with a node that takes its place, where it cannot be kept. */
function updateNode(document: Document, node: Node | null, value: unknown, replace: (made: Node) => void): void {
  if (node && isDeepEqual(plainOf(document, node), value)) return;
  if (isMap(node) && isRecord(value)) updateMap(document, node, value);
  else if (isSeq(node) && Array.isArray(value)) updateList(document, node, value);
  else if (isScalar(node) && !isAlias(node) && !isRecord(value) && !Array.isArray(value)) updateScalar(node, value);
  else replace(document.createNode(value) as Node);
}

/** The style of a scalar is kept where its type is. */
function updateScalar(node: Scalar, value: unknown): void {
  if (typeof node.value !== typeof value) delete node.type;
  delete node.source;
  node.value = value;
}

function updateList(document: Document, { items }: YAMLSeq, values: readonly unknown[]): void {
  items.length = Math.min(items.length, values.length);
  for (const [i, value] of values.entries())
    updateNode(document, (items[i] as Node | undefined) ?? null, value, made => (items[i] = made));
}

const keyOf = ({ key }: Pair): string => String(isScalar(key) ? key.value : key);

/**
 * The member of a map that has got another name: one with the value of the new member, or the only one that is gone, if
 * there is one new one.
 */
function renamedMember(document: Document, gone: readonly Pair[], value: unknown, isOnly: boolean): Pair | undefined {
  const same = gone.find(pair => isDeepEqual(plainOf(document, pair.value), value));
  return same ?? (isOnly && gone.length === 1 ? gone[0] : undefined);
}

/** A member that was renamed keeps its place and its comments. */
function updateMap(document: Document, map: YAMLMap, value: UnknownRecord): void {
  const wanted = Object.keys(value).filter(name => value[name] !== undefined);
  const added = wanted.filter(name => !map.items.some(pair => keyOf(pair) === name));
  for (const name of added) {
    const gone = map.items.filter(pair => !wanted.includes(keyOf(pair)));
    const renamed = renamedMember(document, gone, value[name], added.length === 1);
    if (renamed && isScalar(renamed.key)) updateScalar(renamed.key, name);
    else map.items.push(document.createPair(name, value[name]));
  }
  map.items = map.items.filter(pair => wanted.includes(keyOf(pair)));
  for (const pair of map.items)
    updateNode(document, pair.value as Node | null, value[keyOf(pair)], made => (pair.value = made));
}
