import type { ComponentType } from 'preact';
import { mayReadPath } from './api/access.js';
import { mayReadDecisions } from './api/decisions.js';

/** The properties that every page gets. */
export interface PageProps {
  /** The parameters of its path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** A page, loaded when it is first shown. */
export interface Page {
  /** The path below the console, with parameters: `/list/:group/:version/:resource`. */
  readonly path: string;
  /** The title of the window. */
  readonly title: (params: Readonly<Record<string, string>>) => string;
  readonly load: () => Promise<{ readonly default: ComponentType<PageProps> }>;
  /** Its entry in the navigation; absent for pages that are reached from others. */
  readonly navigation?: string;
  /**
   * Whether the user may see the content of the page, as far as the console knows; absent for pages that everybody may
   * see.
   */
  readonly isShown?: () => boolean;
}

/** All pages. The first one whose path matches is shown. `README.md` says how to add one. */
export const PAGES: readonly Page[] = [
  {
    path: '/list/:group/:version/:resource',
    title: ({ resource }) => resource ?? '',
    load: () => import('./list/listPage.js'),
  },
  {
    path: '/object/:group/:version/:resource/:namespace/:name',
    title: ({ name }) => name ?? '',
    load: () => import('./pages/object/index.js'),
  },
  {
    path: '/create/:group/:version/:resource',
    title: ({ resource }) => `New ${resource}`,
    load: () => import('./pages/create/index.js'),
  },
  {
    path: '/charts',
    title: () => 'Charts',
    navigation: 'Charts',
    isShown: () => mayReadPath('/metrics'),
    load: () => import('./pages/charts/index.js'),
  },
  {
    path: '/plugins',
    title: () => 'Plugins',
    navigation: 'Plugins',
    isShown: () => mayReadPath('/metrics'),
    load: () => import('./pages/plugins/index.js'),
  },
  {
    path: '/why',
    title: () => 'Why',
    navigation: 'Why',
    isShown: mayReadDecisions,
    load: () => import('./pages/why/index.js'),
  },
  {
    path: '/why/:id',
    title: () => 'Why',
    load: () => import('./pages/why/index.js'),
  },
];
