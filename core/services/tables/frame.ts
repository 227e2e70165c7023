import { encodeJsonBody } from '../../request/forms.js';

/** The text of a list or Table without items: up to them, and after them. Their array is the last member. */
export function jsonFrame(empty: object, indent = false): { readonly head: string; readonly tail: string } {
  const text = encodeJsonBody(empty, indent).toString();
  const items = text.lastIndexOf('[') + 1;
  return { head: text.slice(0, items), tail: text.slice(items) };
}
