import { writeJson } from '../../../core/model/text/jsonText.js';
import { encodeJson } from '../../../core/schema/json/json.js';
import type { MediaName } from '../../../core/request/negotiate.js';
import { cborItems, cborListFrame } from '../../../core/schema/cbor/cbor.js';
import { encodeYaml, encodeYamlItems } from '../../../core/schema/yaml/yamlText.js';
import { jsonFrame } from '../../../core/services/tables/frame.js';

/** How a list is written: a media type whose lists are made of parts, and for JSON whether it is indented. */
export interface TextForm {
  readonly media: MediaName;
  readonly pretty: boolean | undefined;
}

/** The bytes around and between the parts of a list. */
export interface ListFrame {
  readonly head: Uint8Array;
  readonly between: Uint8Array;
  readonly tail: Uint8Array;
}

const NOTHING = new Uint8Array();
const COMMA = Uint8Array.of(0x2c);

/** The bytes of a text, in memory of their own: they are copied between threads. */
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));

/** The end of an array that is the last member of a document, indented. */
const INDENTED_END = '\n  ]\n}';

/** The frame of a list, made from the list without items. Its array `member` is the last member of the object. */
export function listFrame({ media, pretty = false }: TextForm, empty: object, member: string): ListFrame {
  if (media === 'yaml') {
    const text = encodeYaml(empty);
    const line = `${member}: []\n`;
    const at = text.startsWith(line) ? 0 : text.indexOf(`\n${line}`) + 1;
    const head = bytesOf(`${text.slice(0, at)}${member}:\n`);
    return { head, between: NOTHING, tail: bytesOf(text.slice(at + line.length)) };
  }
  if (media === 'cbor') {
    const { head, tail } = cborListFrame(Buffer.from(writeJson(empty)));
    return { head, between: NOTHING, tail: Uint8Array.from(tail) };
  }
  const { head, tail } = jsonFrame(empty, pretty);
  return { head: bytesOf(head), between: COMMA, tail: bytesOf(pretty ? INDENTED_END : tail) };
}

/** Encodes items as they appear in the list. */
export function encodeItems({ media, pretty = false }: TextForm, items: readonly unknown[]): Uint8Array {
  if (media === 'yaml') return encodeYamlItems(items.map(item => Buffer.from(writeJson(item))));
  if (media === 'cbor') return cborItems(Buffer.from(writeJson(items)));
  const text = encodeJson({ items }, pretty);
  const start = text.indexOf('[') + 1;
  return Buffer.from(text.slice(start, text.length - (pretty ? INDENTED_END.length : ']}'.length)));
}
