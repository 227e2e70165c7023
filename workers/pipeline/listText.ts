import { encodeJson } from '../../core/schema/json.js';
import type { MediaName } from '../../core/request/negotiate.js';
import { encodeYaml } from '../../core/schema/yamlText.js';
import { jsonFrame } from '../../core/tables/frame.js';

/** How a list is written: a media type that is a text, and for JSON whether it is indented. */
export interface TextForm {
  readonly media: MediaName;
  readonly pretty: boolean | undefined;
}

/** What a list's text has around and between the texts of its parts. */
export interface ListFrame {
  readonly head: string;
  readonly between: string;
  readonly tail: string;
}

/** The end of an array that is the last member of a document, indented. */
const INDENTED_END = '\n  ]\n}';

/** The frame of a list, by the list without items. Its array `member` is the last one of the object. */
export function listFrame({ media, pretty = false }: TextForm, empty: object, member: string): ListFrame {
  if (media === 'yaml') {
    const text = encodeYaml(empty);
    const line = `${member}: []\n`;
    const at = text.startsWith(line) ? 0 : text.indexOf(`\n${line}`) + 1;
    return { head: `${text.slice(0, at)}${member}:\n`, between: '', tail: text.slice(at + line.length) };
  }
  const { head, tail } = jsonFrame(empty, pretty);
  return { head, between: ',', tail: pretty ? INDENTED_END : tail };
}

/** The text of some items, as it appears in the list. */
export function itemsText({ media, pretty = false }: TextForm, items: readonly unknown[]): string {
  if (media === 'yaml') return encodeYaml({ items }).slice('items:\n'.length);
  const text = encodeJson({ items }, pretty);
  const start = text.indexOf('[') + 1;
  return text.slice(start, text.length - (pretty ? INDENTED_END.length : ']}'.length));
}
