import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { mayInNamespace } from '../api/access.js';
import { findKind, type Kind, kinds, pathOf } from '../api/kinds.js';
import { createPage } from '../links.js';
import type { PageProps } from '../pages.js';
import { Failure } from '../parts/failure.js';
import { hrefOf, namespace, setQuery } from '../router.js';
import { LiveList } from './liveList.js';
import { RowsView } from './rowsView.js';

/** Milliseconds after the last key before a search begins. */
const TYPING_MS = 250;

const STATES = {
  loading: ['', 'Loading'],
  live: ['good', 'Live'],
  reconnecting: ['warn', 'Reconnecting'],
  failed: ['bad', 'Failed'],
} as const;

const numbers = new Intl.NumberFormat('en');

/** A search field, whose text is put into the address when the user pauses. */
function SearchField(props: {
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly isFirst?: boolean;
}) {
  const { name, label, placeholder, value, isFirst = false } = props;
  const text = useSignal(value);
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  const apply = (given: string): void => {
    text.value = given;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setQuery({ [name]: given.trim() }, { replace: true }), TYPING_MS);
  };
  useEffect(() => {
    if (!isFirst) return;
    const press = (event: KeyboardEvent): void => {
      const isTyping = (event.target as Element).closest('input, textarea, select, [contenteditable]') !== null;
      if (event.key !== '/' || isTyping || event.metaKey || event.ctrlKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [isFirst]);
  const press = (event: KeyboardEvent): void => {
    const table = document.querySelector<HTMLElement>('.table');
    if (event.key === 'Escape') apply('');
    if (event.key === 'ArrowDown' || event.key === 'Enter') {
      event.preventDefault();
      table?.focus();
    }
  };
  return (
    <input
      ref={input}
      class="field"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      spellcheck={false}
      value={text.value}
      onInput={event => apply(event.currentTarget.value)}
      onKeyDown={press}
    />
  );
}

/** The state of a list in words. */
function Status({ list }: { readonly list: LiveList }) {
  void list.version.value;
  const { rows } = list;
  const [color, word] = STATES[list.state.value];
  const { total } = rows;
  const isSearching = rows.keep !== undefined && rows.next !== undefined && list.state.value !== 'failed';
  const number = `${numbers.format(total)}${rows.isCounted || isSearching ? '' : '+'}`;
  const found = `${number} ${number === '1' ? 'object' : 'objects'}`;
  return (
    <div class="status">
      <span class={`chip ${color}`}>{word}</span>
      <span role="status">{list.state.value === 'loading' ? '' : isSearching ? `${found} so far` : found}</span>
      <span class="grow" />
      <span class="keys">
        <kbd>/</kbd> search · <kbd>↑</kbd> <kbd>↓</kbd> move · <kbd>Enter</kbd> open
      </span>
    </div>
  );
}

function List({ kind, query }: { readonly kind: Kind; readonly query: URLSearchParams }) {
  const of = kind.namespaced ? namespace.value : '';
  const [name, labelSelector, fieldSelector] = ['name', 'labels', 'fields'].map(key => query.get(key) ?? '') as [
    string,
    string,
    string,
  ];
  const path = pathOf(kind, of);
  const list = useMemo(
    () => new LiveList({ path, labelSelector, fieldSelector, name: name.toLowerCase() }),
    [path, labelSelector, fieldSelector, name],
  );
  useEffect(() => {
    list.open();
    return () => list.close();
  }, [list]);
  return (
    <section class="list-page">
      <div class="row">
        <h1>{kind.kind}</h1>
        <span class="soft">
          {kind.group || 'core'}/{kind.version}
        </span>
        <span class="grow" />
        {kind.verbs.includes('create') && mayInNamespace('create', kind) && (
          <a class="button" href={hrefOf(createPage(kind), { namespace: of })}>
            New {kind.kind}
          </a>
        )}
      </div>
      <div class="row tools" role="search">
        <SearchField name="name" label="Name contains" placeholder="Name contains" value={name} isFirst />
        <SearchField
          name="labels"
          label="Label selector"
          placeholder="Labels: app=web,tier!=db"
          value={labelSelector}
        />
        <SearchField
          name="fields"
          label="Field selector"
          placeholder="Fields: metadata.name=web"
          value={fieldSelector}
        />
      </div>
      {list.error.value ? (
        <Failure error={list.error.value} doing={`listing ${kind.resource}`} />
      ) : (
        <RowsView key={path} list={list} kind={kind} />
      )}
      <Status list={list} />
    </section>
  );
}

/** The objects of a kind, in the selected namespace or in all of them. */
export default function ListPage({ params, query }: PageProps) {
  const { group = '', resource = '' } = params;
  const kind = findKind(group, resource);
  if (kind) return <List key={`${group}/${resource}`} kind={kind} query={query} />;
  if (kinds.value === undefined) return <p class="soft">Loading …</p>;
  return (
    <p class="notice">
      The server serves no {resource} in the group {group}. If its definition was just created, it appears within some
      seconds.
    </p>
  );
}
