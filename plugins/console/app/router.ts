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

/** Where the user is. */
export const place = signal<Place>(here());

/** The address of a page, for links: `hrefOf('/list/core/v1/pods', { namespace: 'shop' })`. */
export function hrefOf(path: string, query: Readonly<Record<string, string>> = {}): string {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `${BASE}${path}${given === '' ? '' : `?${given}`}`;
}

/** Goes to a page. `replace`: without an entry in the history, for what changes while the user types. */
export function navigate(href: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) window.history.replaceState(null, '', href);
  else window.history.pushState(null, '', href);
  place.value = here();
}

/** Changes parameters of the address; '' removes one. */
export function setQuery(changes: Readonly<Record<string, string>>, options?: { readonly replace?: boolean }): void {
  const { path, query } = place.value;
  navigate(hrefOf(path, { ...Object.fromEntries(query), ...changes }), options);
}

/** The namespace that the user has selected; '' for all. It is part of the address, and goes with the user. */
export const namespace = computed(() => place.value.query.get('namespace') ?? '');

/**
 * The parameters of a path by a pattern such as `/list/:group/:version/:resource`; undefined if it does not match.
 */
export function match(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const [wanted, given] = [pattern, path].map(text => text.split('/').filter(part => part !== '')) as [
    string[],
    string[],
  ];
  if (wanted.length !== given.length) return undefined;
  const found: Record<string, string> = {};
  for (const [i, part] of wanted.entries())
    if (part.startsWith(':')) found[part.slice(1)] = decodeURIComponent(given[i]!);
    else if (part !== given[i]) return undefined;
  return found;
}

/** Links of the console change the page without loading it again. Returns a function that ends this. */
export function followLinks(): () => void {
  const click = (event: MouseEvent): void => {
    const link = (event.target as Element | null)?.closest?.('a');
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target !== '' || link.hasAttribute('download')) return;
    if (link.origin !== window.location.origin || !link.pathname.startsWith(`${BASE}/`)) return;
    event.preventDefault();
    navigate(link.pathname + link.search + link.hash);
  };
  const back = (): void => void (place.value = here());
  document.addEventListener('click', click);
  window.addEventListener('popstate', back);
  return () => {
    document.removeEventListener('click', click);
    window.removeEventListener('popstate', back);
  };
}
