import type { Strategy } from '../../../../core/api/strategy.js';
import type { Naming } from '../../../../core/naming.js';
import {
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  pathSegment,
  maskTrailingDash,
} from '../../../../core/model/names.js';

/** The name of the system in texts. */
export const systemName = ({ product }: Naming): string => product.charAt(0).toUpperCase() + product.slice(1);

/** A check of names for strategies, which also checks prefixes of generated names. */
const nameCheck =
  (check: (name: string) => readonly string[]): Strategy['checkName'] =>
  (name, prefix) =>
    check(prefix ? maskTrailingDash(name) : name);

/** Names must be DNS-1123 labels. */
export const checkLabelName = nameCheck(dns1123Label);

/** Names must be DNS-1123 subdomains. */
export const checkSubdomainName = nameCheck(dns1123Subdomain);

/** Names must be DNS-1035 labels. */
export const checkLabel1035Name = nameCheck(dns1035Label);

/** Names must be path segments, and prefixes of generated names their beginnings. */
export const checkSegmentName: Strategy['checkName'] = pathSegment;

/** Names must be path segments, and so must prefixes of generated names. */
export const checkWholeSegmentName = nameCheck(name => pathSegment(name));
