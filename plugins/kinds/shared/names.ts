import type { Strategy } from '../../../core/api/strategy.js';
import {
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  pathSegment,
  maskTrailingDash,
} from '../../../core/model/names.js';

/** A check of names as a strategy has it, which also checks prefixes of generated names. */
const nameCheck =
  (check: (name: string) => readonly string[]): Strategy['checkName'] =>
  (name, prefix) =>
    check(prefix ? maskTrailingDash(name) : name);

/** Names are labels of RFC 1123. */
export const checkLabelName = nameCheck(dns1123Label);

/** Names are subdomains of RFC 1123. */
export const checkSubdomainName = nameCheck(dns1123Subdomain);

/** Names are labels of RFC 1035. */
export const checkLabel1035Name = nameCheck(dns1035Label);

/** Names are segments of a path. */
export const checkSegmentName = nameCheck(pathSegment);
