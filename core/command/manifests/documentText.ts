import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isDeepEqual, isRecord, type UnknownRecord } from '../../model/record.js';
import type { SourceFile } from './files.js';
import { plainOf, type YamlDocument, yamlDocumentsOf } from './yamlDocuments.js';

/** A document of a manifest, which can be changed without losing its comments. */
export interface ManifestDocument extends Pick<YamlDocument, 'number' | 'place' | 'content'> {
  /** Replaces the content of the document. Comments and order are preserved, except at removed nodes. */
  update(content: UnknownRecord): void;
}

/** The documents of a file, and its text after they were updated. */
export interface Manifest {
  readonly documents: readonly ManifestDocument[];
  /** The text in a form; by default in that of the file. If nothing was changed, it is the text of the file. */
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

/** Parses the YAML or JSON documents of a file. Throws ConfigError that names the file and the document. */
export function parseManifest(source: SourceFile): Manifest {
  const { text } = source;
  const found = yamlDocumentsOf(source);
  const parsed: readonly Document[] = found.map(({ document }) => document);
  let isChanged = false;
  const documents = found.map(({ number, place, content }, i): ManifestDocument => {
    const document = parsed[i]!;
    return {
      number,
      place,
      content,
      update(value) {
        if (isDeepEqual(plainOf(document, document.contents), value)) return;
        isChanged = true;
        updateNode(document, document.contents as Node, value, node => (document.contents = node));
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

/** Sets the value of a node. If the node cannot be kept, `replace` is called with the one that replaces it. */
function updateNode(document: Document, node: Node | null, value: unknown, replace: (made: Node) => void): void {
  if (node && isDeepEqual(plainOf(document, node), value)) return;
  if (isMap(node) && isRecord(value)) updateMap(document, node, value);
  else if (isSeq(node) && Array.isArray(value)) updateList(document, node, value);
  else if (isScalar(node) && !isAlias(node) && !isRecord(value) && !Array.isArray(value)) updateScalar(node, value);
  else replace(document.createNode(value) as Node);
}

/** Sets the value of a scalar, whose style is kept if its type does not change. */
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

/** A member that is to be removed from a map, with its key and its plain value. */
interface GoneMember {
  readonly key: Scalar;
  readonly value: unknown;
}

/** The members of a map that are not in `wanted`. Keys that merge other maps are not renamed. */
const goneMembers = (document: Document, { items }: YAMLMap, wanted: ReadonlySet<string>): GoneMember[] =>
  items.flatMap(pair => {
    const { key, value } = pair;
    if (wanted.has(keyOf(pair)) || !isScalar(key) || typeof key.value === 'symbol') return [];
    return [{ key, value: plainOf(document, value) }];
  });

/**
 * Updates a map. A renamed member keeps its place and its comments. A removed member counts as renamed if its value is
 * that of a new member, or if it is the only removed one and there is only one new one.
 */
function updateMap(document: Document, map: YAMLMap, value: UnknownRecord): void {
  const wanted = new Set(Object.keys(value).filter(name => value[name] !== undefined));
  const before = new Set(map.items.map(keyOf));
  const added = [...wanted].filter(name => !before.has(name));
  const gone = new Set(goneMembers(document, map, wanted));
  for (const name of added) {
    const isOnly = added.length === 1 && gone.size === 1;
    const renamed = [...gone].find(member => isOnly || isDeepEqual(member.value, value[name]));
    if (renamed) {
      gone.delete(renamed);
      updateScalar(renamed.key, name);
    } else map.items.push(document.createPair(name, value[name]));
  }
  map.items = map.items.filter(pair => wanted.has(keyOf(pair)));
  for (const pair of map.items)
    updateNode(document, pair.value as Node | null, value[keyOf(pair)], made => (pair.value = made));
}
