import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { Known } from '../edit/completion.js';
import { canonicalText, type Path, problemsOf, readYaml } from '../edit/yamlText.js';
import { isIntOrString, type Schema, skeletonOf, typeText } from '../schema/schema.js';
import { FieldButtons, type ItemPlace } from './fieldButtons.js';
import type { FormDraft } from './formDraft.js';

/** The properties of a field of the form. */
export interface FieldProps {
  readonly form: FormDraft;
  readonly known: Known;
  /** The schema, with its reference resolved. */
  readonly schema: Schema;
  readonly path: Path;
  readonly value: unknown;
  readonly label: string;
  readonly isRequired: boolean;
  readonly isReadOnly: boolean;
  /** Removes the field; undefined if it must stay. */
  readonly remove: (() => void) | undefined;
  /** Set for an item of a list. */
  readonly place?: ItemPlace;
}

/** A field that the form can change without YAML: those below a kind of value that it knows. */
export type Shape =
  | 'fields'
  | 'map'
  | 'list'
  | 'choice'
  | 'boolean'
  | 'integer'
  | 'number'
  | 'intOrString'
  | 'text'
  | 'yaml';

/** How a schema is shown. */
export function shapeOf(schema: Schema): Shape {
  if (isIntOrString(schema)) return 'intOrString';
  if (schema.enum?.length) return 'choice';
  const { type, properties, additionalProperties, items } = schema;
  if (type === 'boolean' || type === 'integer' || type === 'number') return type;
  if (type === 'string') return 'text';
  if (type === 'array') return items ? 'list' : 'yaml';
  // Unknown fields next to the known ones are kept in the text; they can be changed there.
  if (type === 'object' && properties && Object.keys(properties).length > 0) return 'fields';
  return type === 'object' && typeof additionalProperties === 'object' ? 'map' : 'yaml';
}

/** A value that a new field begins with. */
export const beginningOf = ({ schemas }: Known, schema: Schema): unknown => skeletonOf(schemas, schema);

/** The value of the typed text; undefined if the text is not of the shape. */
function typedValue(shape: Shape, text: string): unknown {
  const isInteger = /^-?\d+$/.test(text);
  if (shape === 'integer') return isInteger ? BigInt(text) : undefined;
  if (shape === 'number') return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined;
  if (shape === 'intOrString' && isInteger) return BigInt(text);
  return text;
}

function textOfValue(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}

/** A value of one line, or of several. */
function Input(props: FieldProps & { readonly id: string; readonly describedBy: string }) {
  const { form, schema, path, value, isReadOnly, isRequired, id, describedBy } = props;
  const shape = shapeOf(schema);
  const problem = useSignal('');
  const common = { id, 'aria-describedby': describedBy, 'aria-required': isRequired, disabled: isReadOnly };
  const set = (text: string): void => {
    const typed = typedValue(shape, text);
    problem.value = typed === undefined ? `${shape === 'integer' ? 'An integer' : 'A number'} is expected.` : '';
    if (typed !== undefined && typed !== value) form.set(path, typed);
  };
  if (shape === 'boolean')
    return (
      <select
        {...common}
        class="select"
        value={String(value)}
        onChange={event => form.set(path, event.currentTarget.value === 'true')}
      >
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    );
  if (shape === 'choice') {
    const given = textOfValue(value);
    const offered = [...new Set([...(schema.enum ?? []).map(String), given])];
    return (
      <select {...common} class="select" value={given} onChange={event => set(event.currentTarget.value)}>
        {offered.map(option => (
          <option key={option} value={option}>
            {option || '(empty)'}
          </option>
        ))}
      </select>
    );
  }
  const text = textOfValue(value);
  const field = { ...common, spellcheck: false, autocomplete: 'off', 'aria-invalid': problem.value !== '' } as const;
  return (
    <>
      {text.includes('\n') ? (
        <textarea
          {...field}
          class="field area mono"
          rows={Math.min(14, text.split('\n').length + 1)}
          value={text}
          onChange={event => set(event.currentTarget.value)}
        />
      ) : (
        <input
          {...field}
          class="field"
          inputMode={shape === 'integer' ? 'numeric' : 'text'}
          value={text}
          onChange={event => set(event.currentTarget.value.trim())}
        />
      )}
      {problem.value && (
        <p class="small bad-text" role="alert">
          {problem.value}
        </p>
      )}
    </>
  );
}

/** A value of any kind, as YAML. */
function YamlInput(props: FieldProps & { readonly id: string; readonly describedBy: string }) {
  const { form, path, value, isReadOnly, id, describedBy } = props;
  const problem = useSignal('');
  const text = value === undefined ? '' : canonicalText(value);
  const set = (given: string): void => {
    const doc = readYaml(given);
    // Values need not be objects here.
    problem.value = doc.errors.length > 0 ? (problemsOf(doc)[0]?.message ?? '') : '';
    if (problem.value === '') form.set(path, doc.toJS());
  };
  return (
    <>
      <textarea
        id={id}
        class="field area mono"
        rows={Math.min(12, Math.max(2, text.split('\n').length))}
        aria-describedby={describedBy}
        aria-invalid={problem.value !== ''}
        spellcheck={false}
        disabled={isReadOnly}
        value={text}
        onChange={event => set(event.currentTarget.value)}
      />
      {problem.value && (
        <p class="small bad-text" role="alert">
          {problem.value}
        </p>
      )}
    </>
  );
}

/** A field with one value: label, input, description. */
export function ValueField(props: FieldProps) {
  const { schema, label, isRequired } = props;
  const id = useId();
  const describedBy = `${id}-text`;
  return (
    <div class="form-field">
      <div class="row form-label">
        <label htmlFor={id}>
          <code>{label}</code>
        </label>
        <span class="soft small">
          {typeText(schema)}
          {isRequired ? ', required' : ''}
        </span>
        <span class="grow" />
        <FieldButtons {...props} />
      </div>
      {shapeOf(schema) === 'yaml' ? (
        <YamlInput {...props} id={id} describedBy={describedBy} />
      ) : (
        <Input {...props} id={id} describedBy={describedBy} />
      )}
      <p class="soft small" id={describedBy}>
        {schema.description}
      </p>
    </div>
  );
}
