import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { findKind, kinds } from '../api/kinds.js';
import { session } from '../api/session.js';
import { readPage, rowsOf } from '../api/table.js';
import { navigate, namespace, hrefOf, place, setQuery } from '../router.js';

/** Largest number of namespaces that are offered; others can be entered in the address. */
const MOST = 1000;

const names = signal<readonly string[]>([]);

async function readNames(): Promise<void> {
  try {
    names.value = rowsOf(await readPage('/api/v1/namespaces', { limit: MOST })).map(({ name }) => name);
  } catch {
    // The user may not list namespaces. The selected one is still offered.
    names.value = [];
  }
}

/** The choice of a namespace, which is kept from list to list. */
export function NamespaceSelect() {
  const chosen = namespace.value;
  const user = session.value?.user?.name;
  useEffect(() => {
    if (user !== undefined && kinds.value && findKind('', 'namespaces')) void readNames();
  }, [user, kinds.value]);
  const offered = names.value.includes(chosen) || chosen === '' ? names.value : [chosen, ...names.value];
  const choose = (value: string): void => {
    // An object belongs to one namespace: on its page, the choice leads back to the list.
    const [, page, group = '', version = '', resource = ''] = place.value.path.split('/');
    if (page === 'object') navigate(hrefOf(`/list/${group}/${version}/${resource}`, { namespace: value }));
    else setQuery({ namespace: value });
  };
  return (
    <select
      class="select"
      aria-label="Namespace"
      value={chosen}
      onFocus={() => void readNames()}
      onChange={event => {
        choose(event.currentTarget.value);
        // The user may have stayed on the page, to save a change first.
        event.currentTarget.value = namespace.peek();
      }}
    >
      <option value="">All namespaces</option>
      {offered.map(name => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
