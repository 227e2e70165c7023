import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete';
import type { EditorState } from '@codemirror/state';
import { type Schema, type Schemas, typeText } from '../schema/schema.js';
import { type Place, placeAt } from './place.js';

/** The schema of the edited object, and those that it refers to. */
export interface Known {
  readonly schemas: Schemas;
  readonly root: Schema;
}

/** The place of the cursor of an editor. */
function cursorPlace(state: EditorState, position = state.selection.main.head): Place {
  const line = state.doc.lineAt(position);
  const { doc } = state;
  return placeAt({ count: doc.lines, text: index => doc.line(index + 1).text }, line.number - 1, position - line.from);
}

/** Escapes nothing: only for values of schemas, which are plain words, numbers and booleans. */
const asYaml = (value: unknown): string => (value === '' ? '""' : String(value));

function valuesOf(schema: Schema): Completion[] {
  const values = schema.type === 'boolean' ? [true, false] : (schema.enum ?? []);
  return values.map(value => ({ label: asYaml(value), type: 'enum' }));
}

/** The text inserted after a key, up to where its value begins. */
function begin(schema: Schema, column: number): string {
  const inner = `\n${' '.repeat(column + 2)}`;
  if (schema.type === 'array') return `:${inner}- `;
  return schema.type === 'object' ? `:${inner}` : ': ';
}

function keysOf({ schemas }: Known, schema: Schema, { siblings, key }: Place, column: number): Completion[] {
  const required = schema.required ?? [];
  const taken = new Set(siblings());
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => name === key || !taken.has(name))
    .map(([name, property]) => {
      const of = schemas.resolve(property);
      return {
        label: name,
        type: 'property',
        detail: `${typeText(of)}${required.includes(name) ? ', required' : ''}`,
        ...(of.description ? { info: of.description } : {}),
        boost: required.includes(name) ? 1 : 0,
        apply: name + begin(of, column),
      };
    });
}

/** A character of a name or of a plain value. */
const WORD = /[\w.-]/;

/** Completes names of fields, and values that a schema lists. */
export const completionOf =
  (known: () => Known | undefined): CompletionSource =>
  (context: CompletionContext): CompletionResult | null => {
    const found = known();
    if (!found) return null;
    const { state, pos, explicit } = context;
    const place = cursorPlace(state, pos);
    const line = state.doc.lineAt(pos);
    const before = line.text.slice(0, pos - line.from);
    const schema = found.schemas.at(found.root, place.parent);
    if (!schema) return null;
    let start = before.length;
    while (start > 0 && WORD.test(before[start - 1]!)) start--;
    const typed = before.slice(start);
    if (typed === '' && !explicit) return null;
    const from = pos - typed.length;
    if (place.isValue) {
      const of = found.schemas.child(schema, place.key);
      return of ? { from, options: valuesOf(of), validFor: /^[\w.-]*$/ } : null;
    }
    if (!/^[\s-]*$/.test(before.slice(0, start))) return null;
    const items = schema.type === 'array' && schema.items ? found.schemas.resolve(schema.items) : schema;
    return { from, options: keysOf(found, items, place, before.length - typed.length), validFor: /^[\w.-]*$/ };
  };

/** The field at a place, and its schema. */
export interface FieldHelp {
  readonly path: readonly (string | number)[];
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** The field at the cursor of an editor; undefined where no schema knows it. */
export function fieldAt(known: Known | undefined, state: EditorState): FieldHelp | undefined {
  if (!known) return undefined;
  const { parent, key } = cursorPlace(state);
  const path = key === '' ? parent : [...parent, key];
  const schema = path.length > 0 ? known.schemas.at(known.root, path) : undefined;
  if (!schema) return undefined;
  const isRequired = known.schemas.at(known.root, path.slice(0, -1))?.required?.includes(String(path.at(-1))) ?? false;
  return { path, schema, isRequired };
}
