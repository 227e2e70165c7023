import { dns1035Label, dns1123Label, dns1123Subdomain, pathSegment } from '../../core/model/names.js';
import type { Strategy } from '../../core/api/strategy.js';

/** A trailing dash of a generateName is followed by a random suffix, so it counts as a letter. */
const masked = (name: string, prefix: boolean): string =>
  prefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -1)}a` : name;

/** Names are RFC 1123 labels. */
export const labelName: Strategy['checkName'] = (name, prefix) => dns1123Label(masked(name, prefix));
/** Names are RFC 1123 subdomains. */
export const subdomainName: Strategy['checkName'] = (name, prefix) => dns1123Subdomain(masked(name, prefix));
/** Names are RFC 1035 labels. */
export const label1035Name: Strategy['checkName'] = (name, prefix) => dns1035Label(masked(name, prefix));
/** Names are anything that fits into one path segment. */
export const segmentName: Strategy['checkName'] = (name, prefix) => pathSegment(masked(name, prefix));
