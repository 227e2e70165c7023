import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { isFields } from '../../../api/objects.js';
import { Several } from '../../../parts/several.js';
import { type Path, pathText } from '../edit/yamlText.js';
import { type Schema, typeText } from '../schema/schema.js';
import { FieldButtons } from './fieldButtons.js';
import { beginningOf, type FieldProps, shapeOf, ValueField } from './fields.js';

/** Fields that the server sets, by the path that they have in every object. */
const OF_SERVER = new Set([
  'apiVersion',
  'kind',
  'metadata.uid',
  'metadata.resourceVersion',
  'metadata.generation',
  'metadata.creationTimestamp',
  'metadata.deletionTimestamp',
  'metadata.deletionGracePeriodSeconds',
  'metadata.managedFields',
  'metadata.selfLink',
]);
/** Fields that cannot be changed once the object exists. */
const OF_CREATION = new Set(['metadata.name', 'metadata.namespace', 'metadata.generateName']);

/** Number of levels that are open at first. */
const OPEN_LEVELS = 2;

/** A group of fields that can be closed. */
function Group(props: FieldProps & { readonly note: string; readonly children: ComponentChildren }) {
  const { schema, path, label, isRequired, note, children } = props;
  return (
    <details class="form-group" open={path.length <= OPEN_LEVELS}>
      <summary>
        <code>{label}</code> <span class="soft small">{note}</span>
        {isRequired && <span class="soft small">required</span>}
      </summary>
      <div class="form-inner">
        {schema.description && <p class="soft small">{schema.description}</p>}
        {children}
        <FieldButtons {...props} />
      </div>
    </details>
  );
}

/** The choice of a field that the object does not have yet. */
function AddField(props: FieldProps & { readonly absent: readonly (readonly [string, Schema])[] }) {
  const { form, known, path, absent, label } = props;
  const id = useId();
  const chosen = useSignal('');
  const select = useRef<HTMLSelectElement>(null);
  const schema = absent.find(([name]) => name === chosen.value)?.[1];
  const add = (): void => {
    if (!schema) return;
    form.set([...path, chosen.value], beginningOf(known, schema));
    chosen.value = '';
    // The button is disabled now, and would lose the focus.
    select.current?.focus();
  };
  return (
    <div class="form-add">
      <label class="hidden" htmlFor={id}>
        Field to add to {pathText(path) || label}
      </label>
      <div class="row">
        <select
          ref={select}
          id={id}
          class="select"
          value={chosen.value}
          onChange={event => (chosen.value = event.currentTarget.value)}
        >
          <option value="">Add a field …</option>
          {absent.map(([name]) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <button type="button" class="button" disabled={!schema} onClick={add}>
          Add
        </button>
      </div>
      {schema && (
        <p class="soft small" role="status">
          {typeText(schema)}. {schema.description}
        </p>
      )}
    </div>
  );
}

function Fields(props: FieldProps) {
  const { known, schema, path, value, isReadOnly, form } = props;
  const given = isFields(value) ? value : {};
  const properties = Object.entries(schema.properties ?? {})
    .map(([name, of]): [string, Schema] => [name, known.schemas.resolve(of)])
    .filter(([name]) => !isHidden([...path, name], props));
  const isPresent = ([name]: readonly [string, Schema]): boolean => Object.hasOwn(given, name);
  const isNeeded = (name: string): boolean => schema.required?.includes(name) ?? false;
  const shown = properties.filter(entry => isPresent(entry) || isNeeded(entry[0]));
  const absent = properties.filter(entry => !isPresent(entry) && !isNeeded(entry[0]));
  return (
    <>
      {shown.map(([name, of]) => (
        <Field
          key={name}
          form={form}
          known={known}
          schema={of}
          path={[...path, name]}
          value={given[name]}
          label={name}
          isRequired={isNeeded(name)}
          isReadOnly={isReadOnly || isFixed([...path, name], props)}
          remove={isNeeded(name) || path.length === 0 ? undefined : () => form.remove([...path, name])}
        />
      ))}
      {!isReadOnly && absent.length > 0 && <AddField {...props} absent={absent} />}
    </>
  );
}

function isHidden(path: Path, { form, schema }: FieldProps): boolean {
  const text = path.join('.');
  if (OF_SERVER.has(text)) return true;
  const { subresources } = form.draft.address.kind;
  return text === 'status' && (schema.properties === undefined || subresources.some(({ name }) => name === 'status'));
}

const isFixed = (path: Path, { form }: FieldProps): boolean => !form.draft.isNew && OF_CREATION.has(path.join('.'));

function MapFields(props: FieldProps) {
  const { form, known, schema, path, value, isReadOnly } = props;
  const next = useSignal('');
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const given = isFields(value) ? value : {};
  const of = known.schemas.child(schema, '') ?? {};
  const key = next.value.trim();
  const isTaken = Object.hasOwn(given, key);
  const add = (event: Event): void => {
    event.preventDefault();
    if (key === '' || isTaken) return;
    form.set([...path, key], beginningOf(known, of));
    next.value = '';
    // The button is disabled now, and would lose the focus.
    input.current?.focus();
  };
  return (
    <>
      <Several
        of={Object.keys(given)}
        show={name => (
          <Field
            key={name}
            form={form}
            known={known}
            // The description is that of the map.
            schema={{ ...of, description: '' }}
            path={[...path, name]}
            value={given[name]}
            label={name}
            isRequired={false}
            isReadOnly={isReadOnly}
            remove={() => form.remove([...path, name])}
          />
        )}
      />
      {!isReadOnly && (
        <form class="row form-add" onSubmit={add}>
          <label class="hidden" htmlFor={id}>
            Key to add to {pathText(path)}
          </label>
          <input
            ref={input}
            id={id}
            class="field"
            placeholder="New key"
            spellcheck={false}
            autocomplete="off"
            value={next.value}
            onInput={event => (next.value = event.currentTarget.value)}
          />
          <button type="submit" class="button" disabled={key === '' || isTaken}>
            Add
          </button>
        </form>
      )}
    </>
  );
}

/** The name of an item: its own name, or its place. */
function itemLabel(item: unknown, index: number, keys: readonly string[] = []): string {
  const named = isFields(item)
    ? [...keys, 'name', 'type'].map(key => item[key]).find(of => of !== undefined)
    : undefined;
  return named === undefined ? `${index + 1}` : String(named);
}

/** Numbers that identify the items of a list between renderings, so that open items stay open and the focus is kept. */
function useItemIds(count: number): number[] {
  const { ids, used } = useRef({ ids: [] as number[], used: { count: 0 } }).current;
  while (ids.length < count) ids.push(used.count++);
  ids.length = count;
  return ids;
}

function ListFields(props: FieldProps) {
  const { form, known, schema, path, value, isReadOnly, label } = props;
  const items = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const of = known.schemas.resolve(schema.items ?? {});
  const ids = useItemIds(items.length);
  const move = (index: number, by: 1 | -1): void => {
    ids.splice(index + by, 0, ...ids.splice(index, 1));
    form.move(path, index, index + by);
  };
  const remove = (index: number): void => {
    ids.splice(index, 1);
    form.remove([...path, index]);
  };
  return (
    <>
      <Several
        of={items}
        show={(item, index) => (
          <Field
            key={ids[index]}
            form={form}
            known={known}
            schema={{ ...of, description: of.type === 'object' ? (of.description ?? '') : '' }}
            path={[...path, index]}
            value={item}
            label={itemLabel(item, index, schema['x-kubernetes-list-map-keys'])}
            isRequired={false}
            isReadOnly={isReadOnly}
            remove={() => remove(index)}
            place={{ index, count: items.length, move: by => move(index, by) }}
          />
        )}
      />
      {!isReadOnly && (
        <div>
          <button
            type="button"
            class="button"
            onClick={() => form.set([...path, items.length], beginningOf(known, of))}
          >
            Add to {label}
          </button>
        </div>
      )}
    </>
  );
}

/** A field of the form, with those below it. */
export function Field(props: FieldProps) {
  const { schema, value, path } = props;
  const shape = shapeOf(schema);
  const count = Array.isArray(value) ? value.length : isFields(value) ? Object.keys(value).length : 0;
  if (shape === 'fields')
    return path.length === 0 ? (
      <Fields {...props} />
    ) : (
      <Group {...props} note="">
        <Fields {...props} />
      </Group>
    );
  if (shape === 'map')
    return (
      <Group {...props} note={`map, ${count} ${count === 1 ? 'entry' : 'entries'}`}>
        <MapFields {...props} />
      </Group>
    );
  if (shape === 'list')
    return (
      <Group {...props} note={`list, ${count} ${count === 1 ? 'item' : 'items'}`}>
        <ListFields {...props} />
      </Group>
    );
  return <ValueField {...props} />;
}
