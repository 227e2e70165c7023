import type { Strategy } from '../../../core/api/strategy.js';
import { dns1035Label, dns1123Label, dns1123Subdomain, pathSegment, prefixed } from '../../../core/model/names.js';

/** The check of a name, for prefixes of generated ones too. */
const nameCheck =
  (check: (name: string) => readonly string[]): Strategy['checkName'] =>
  (name, prefix) =>
    check(prefix ? prefixed(name) : name);

/** Names are RFC 1123 labels. */
export const checkLabelName = nameCheck(dns1123Label);

/** Names are RFC 1123 subdomains. */
export const checkSubdomainName = nameCheck(dns1123Subdomain);

/** Names are RFC 1035 labels. */
export const checkLabel1035Name = nameCheck(dns1035Label);

/** Names are anything that fits into one path segment. */
export const checkSegmentName = nameCheck(pathSegment);
