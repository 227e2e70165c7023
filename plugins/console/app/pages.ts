import type { ComponentType } from 'preact';

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
}

/** All pages. The first one whose path matches is shown. `README.md` says how to add one. */
export const PAGES: readonly Page[] = [
  {
    path: '/list/:group/:version/:resource',
    title: ({ resource }) => resource ?? '',
    load: () => import('./list/listPage.js'),
  },
];
