import { isIP } from 'node:net';
import { ConfigError } from '../api/point.js';
import { listOf, type Reader } from './values.js';

/** The smallest and the largest length of a prefix, by family; as in upstream. */
const LENGTHS = { 4: [12, 29], 6: [108, 125] } as const;

/** A network from which Services get addresses, in CIDR notation. */
const network: Reader<string> = (value, path) => {
  const text = typeof value === 'string' ? value.trim() : '';
  const [, address = '', digits = ''] = /^([^/%]*)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  if (family !== 4 && family !== 6)
    throw new ConfigError(path, `must be a network such as 10.0.0.0/16 or fd00::/112, not ${JSON.stringify(value)}`);
  const [least, most] = LENGTHS[family];
  const length = Number(digits);
  if (length < least || length > most)
    throw new ConfigError(path, `${text}: the prefix of an IPv${family} network must have ${least} to ${most} bits`);
  return `${address}/${length}`;
};

/** One network, or two of different families. */
export const networks: Reader<readonly string[]> = (value, path) => {
  const all = listOf(network)(value, path);
  const families = new Set(all.map(one => one.includes(':')));
  if (families.size < all.length) throw new ConfigError(path, 'must be one network, or an IPv4 and an IPv6 network');
  return all;
};

const PORTS = /^(\d{1,5})(?:([-+])(\d{1,5}))?$/;

/** The first and the last port: a pair, or a text with both: `30000-32767`, `30000+2767`, or one port. */
export const portRange: Reader<readonly [number, number]> = (value, path) => {
  const [, first = '', sign, second = '0'] =
    PORTS.exec((Array.isArray(value) ? value.join('-') : String(value)).trim()) ?? [];
  const low = Number(first);
  const high = sign === '-' ? Number(second) : low + Number(second);
  if (low < 1 || high < low || high > 65_535)
    throw new ConfigError(path, `must be a range of ports such as 30000-32767, not ${JSON.stringify(value)}`);
  return [low, high];
};
