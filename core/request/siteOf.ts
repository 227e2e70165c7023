import type { HttpSite, Sites } from '../api/site.js';

/** The site that answers a path; undefined if none does. */
export function siteOf(sites: Sites, path: string): HttpSite | undefined {
  const end = path.indexOf('/', 1);
  return sites.get(end < 0 ? path : path.slice(0, end));
}
