import type { Resource } from '../resource.js';

/** The text of the warning of a deprecated version, in upstream's form. */
export function deprecationText(
  apiVersion: string,
  kind: string,
  { deprecated, removed, replacement }: NonNullable<Resource['deprecation']>,
): string {
  const until = removed ? `, unavailable in v${removed}+` : '';
  return `${apiVersion} ${kind} is deprecated in v${deprecated}+${until}${replacement ? `; use ${replacement}` : ''}`;
}
