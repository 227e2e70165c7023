import { computed, signal } from '@preact/signals';

/** The path of the console; all its pages are below. */
export const BASE = '/console';

/** The parts of an address that pages read. */
interface Place {
  /** Without the path of the console, beginning with a slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const here = (): Place => ({
  path: window.location.pathname.slice(BASE.length) || '/',
  query: new URLSearchParams(window.location.search),
});

/** The current place. */
export const place = signal<Place>(here());

/** The address of a page, for links: `hrefOf('/list/core/v1/pods', { namespace: 'shop' })`. */
export function hrefOf(path: string, query: Readonly<Record<string, string>> = {}): string {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `${BASE}${path}${given === '' ? '' : `?${given}`}`;
}

/** Whether the page has changes that would be lost with it. */
let hasChanges = (): boolean => false;

/** Whether the page may be left: asks the user if it has changes. */
export const mayLeave = (): boolean => !hasChanges() || window.confirm('Leave this page without saving your change?');

/**
 * Asks before a page for which `isChanged` returns true is left, including by Back and by a reload. Returns a function
 * that stops asking.
 */
export function askBeforeLeaving(isChanged: () => boolean): () => void {
  const unload = (event: BeforeUnloadEvent): void => {
    if (isChanged()) event.preventDefault();
  };
  hasChanges = isChanged;
  window.addEventListener('beforeunload', unload);
  return () => {
    hasChanges = () => false;
    window.removeEventListener('beforeunload', unload);
  };
}

/** The number of an entry of the history, which the entry has as its state. */
const entryOf = (state: unknown): number | undefined => (state as { readonly entry?: number } | null)?.entry;
/** The number of the entry that is shown. */
let entry = entryOf(window.history.state) ?? 0;

/** Whether an address is of the page that is shown. */
const isShown = (href: string): boolean =>
  new URL(href, window.location.href).pathname.slice(BASE.length) === place.peek().path;

/**
 * Goes to a page, unless the user wants to stay. `replace`: without an entry in the history, for parts that change
 * while the user types.
 */
export function navigate(href: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (!isShown(href) && !mayLeave()) return;
  if (replace) window.history.replaceState({ entry }, '', href);
  else window.history.pushState({ entry: ++entry }, '', href);
  place.value = here();
}

/** Shows the page of an entry of the history that the browser has gone to, or goes back if the user wants to stay. */
function arrive({ state }: PopStateEvent): void {
  const reached = entryOf(state);
  if (reached !== undefined && !isShown(window.location.href) && !mayLeave()) {
    window.history.go(entry - reached);
    return;
  }
  // An entry without a number is a new one, of a fragment that the user has typed.
  entry = reached ?? entry + 1;
  if (reached === undefined) window.history.replaceState({ entry }, '');
  place.value = here();
}

/** Changes parameters of the address; '' removes one. */
export function setQuery(changes: Readonly<Record<string, string>>, options?: { readonly replace?: boolean }): void {
  const { path, query } = place.value;
  navigate(hrefOf(path, { ...Object.fromEntries(query), ...changes }), options);
}

/**
 * The namespace that the user has selected; '' for all. It is part of the address, and stays selected on other pages.
 */
export const namespace = computed(() => place.value.query.get('namespace') ?? '');

/**
 * The parameters of a path by a pattern such as `/list/:group/:version/:resource`; undefined if it does not match, or
 * if its encoding is wrong.
 */
export function match(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const [wanted, given] = [pattern, path].map(text => text.split('/').filter(part => part !== '')) as [
    string[],
    string[],
  ];
  if (wanted.length !== given.length) return undefined;
  if (wanted.some((part, i) => !part.startsWith(':') && part !== given[i])) return undefined;
  try {
    const found = wanted.map((part, i): [string, string] => [part.slice(1), decodeURIComponent(given[i]!)]);
    return Object.fromEntries(found.filter((_, i) => wanted[i]!.startsWith(':')));
  } catch {
    return undefined;
  }
}

/** Has links of the console change the page without loading it again. Returns a function that stops this. */
export function followLinks(): () => void {
  const click = (event: MouseEvent): void => {
    const link = (event.target as Element | null)?.closest?.('a');
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target !== '' || link.hasAttribute('download')) return;
    if (link.origin !== window.location.origin || !link.pathname.startsWith(`${BASE}/`)) return;
    event.preventDefault();
    // The address is that of the current page: the part that the link names only gets the focus.
    if (link.hash !== '' && isShown(link.href)) document.getElementById(link.hash.slice(1))?.focus();
    else navigate(link.pathname + link.search + link.hash);
  };
  window.history.replaceState({ entry }, '');
  document.addEventListener('click', click);
  window.addEventListener('popstate', arrive);
  return () => {
    document.removeEventListener('click', click);
    window.removeEventListener('popstate', arrive);
  };
}
