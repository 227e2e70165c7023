import { signal, useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { session, signOut } from '../api/session.js';
import { type Page, PAGES, type PageProps } from '../pages.js';
import { Failure } from '../parts/failure.js';
import { BASE, hrefOf, match, mayLeave, place } from '../router.js';
import { Navigation } from './navigation.js';
import { NamespaceSelect } from './namespaces.js';
import { isDark, switchTheme } from './theme.js';

/** Pages that were loaded. */
const loaded = new Map<Page, ComponentType<PageProps>>();
/** Whether the navigation is open, where it does not fit next to the page. */
const isMenuOpen = signal(false);

function Header() {
  const user = session.value?.user;
  return (
    <header class="header">
      <button
        type="button"
        class="button plain menu-button"
        aria-expanded={isMenuOpen.value}
        aria-controls="navigation"
        onClick={() => (isMenuOpen.value = !isMenuOpen.value)}
      >
        <span aria-hidden="true">☰</span>
        <span class="hidden">Kinds</span>
      </button>
      <a class="brand" href={hrefOf('/')} aria-label="Console">
        <img src={`${BASE}/icon.svg`} alt="" />
        <span>Console</span>
      </a>
      <NamespaceSelect />
      <span class="grow" />
      <span class="user soft" title={user?.groups.join(', ')}>
        {user?.name}
      </span>
      <button type="button" class="button plain" onClick={switchTheme} aria-label={isDark() ? 'Light' : 'Dark'}>
        <span aria-hidden="true">{isDark() ? '☀' : '☾'}</span>
      </button>
      <button type="button" class="button" onClick={() => mayLeave() && void signOut()}>
        Sign out
      </button>
    </header>
  );
}

/** The page of the address, which is loaded when it is first shown. */
function Current() {
  const { path, query } = place.value;
  const error = useSignal<unknown>(undefined);
  const version = useSignal(0);
  const main = useRef<HTMLElement>(null);
  const found = PAGES.map(page => ({ page, params: match(page.path, path) })).find(({ params }) => params);
  const page = found?.page;
  const params = found?.params ?? {};
  const Shown = page && version.value >= 0 ? loaded.get(page) : undefined;
  useEffect(() => {
    isMenuOpen.value = false;
    document.title = page ? `${page.title(params)} · Console` : 'Console';
    main.current?.focus({ preventScroll: true });
    if (!page || loaded.has(page)) return;
    error.value = undefined;
    page.load().then(
      module => {
        loaded.set(page, module.default);
        version.value++;
      },
      thrown => (error.value = thrown),
    );
  }, [path]);
  return (
    <main class="main" id="main" tabIndex={-1} ref={main}>
      {error.value !== undefined && <Failure error={error.value} doing="loading the page" />}
      {Shown && <Shown key={path} params={params} query={query} />}
      {!page && <p class="notice">There is no page at this address. Choose a kind in the navigation.</p>}
    </main>
  );
}

/** The frame of all pages: header, navigation, and the page of the address. */
export function Shell() {
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Header />
      <Navigation isOpen={isMenuOpen.value} />
      <Current />
    </div>
  );
}
