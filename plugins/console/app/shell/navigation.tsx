import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { mayInNamespace } from '../api/access.js';
import { type Kind, kinds } from '../api/kinds.js';
import { listPage } from '../links.js';
import { PAGES } from '../pages.js';
import { hrefOf, namespace, place } from '../router.js';

const isNamed = (kind: Kind, text: string): boolean =>
  [kind.kind.toLowerCase(), kind.resource, kind.group, ...kind.shortNames].some(name => name.includes(text));

/** Kinds by group, in the order of discovery. */
function byGroup(all: readonly Kind[]): [string, Kind[]][] {
  const groups = new Map<string, Kind[]>();
  for (const kind of all) groups.set(kind.group, [...(groups.get(kind.group) ?? []), kind]);
  return Array.from(groups, ([group, of]) => [group, of.sort((a, b) => a.kind.localeCompare(b.kind))]);
}

/** The pages and kinds that the user may see. */
export function Navigation({ isOpen }: { readonly isOpen: boolean }) {
  const filter = useSignal('');
  const text = filter.value.trim().toLowerCase();
  const { path } = place.value;
  const list = useRef<HTMLDivElement>(null);
  const isKnown = kinds.value !== undefined;
  useEffect(() => list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }), [path, isKnown]);
  const shown = (kinds.value ?? []).filter(
    kind => kind.verbs.includes('list') && mayInNamespace('list', kind) && (text === '' || isNamed(kind, text)),
  );
  const link = (to: string, label: string) => (
    <li key={to}>
      <a href={hrefOf(to, { namespace: namespace.value })} aria-current={path === to ? 'page' : undefined}>
        {label}
      </a>
    </li>
  );
  return (
    <nav class={`navigation ${isOpen ? 'open' : ''}`} id="navigation" aria-label="Kinds and pages">
      <div class="filter">
        <input
          class="field"
          type="search"
          aria-label="Filter kinds"
          placeholder="Filter kinds"
          value={filter.value}
          onInput={event => (filter.value = event.currentTarget.value)}
        />
      </div>
      <div class="kinds" ref={list}>
        <ul>
          {PAGES.filter(page => page.navigation !== undefined && (page.isShown?.() ?? true)).map(page =>
            link(page.path, page.navigation ?? ''),
          )}
        </ul>
        {byGroup(shown).map(([group, of]) => (
          <section key={group}>
            <h2>{group || 'core'}</h2>
            <ul>{of.map(kind => link(listPage(kind), kind.kind))}</ul>
          </section>
        ))}
        {kinds.value && shown.length === 0 && <p class="soft">No kind matches.</p>}
      </div>
    </nav>
  );
}
