/** IP addresses and CIDR blocks by the rules of Go's `netip`: no leading zeros, zones or IPv4-mapped IPv6. */
import { declare, declareGlobal } from '../check/declarations.js';
import { goQuote } from '../../model/text/quote.js';
import type { Library } from '../library.js';
import { fail, noOverload, Opaque, type Value } from '../evaluate/values.js';

/** An IP address. */
export class Ip extends Opaque {
  readonly typeName = 'net.IP';
  constructor(
    readonly bits: bigint,
    readonly family: 4 | 6,
  ) {
    super();
  }
  equals(other: Opaque): boolean {
    return other instanceof Ip && other.family === this.family && other.bits === this.bits;
  }
  get width(): number {
    return this.family === 4 ? 32 : 128;
  }
  override toString(): string {
    if (this.family === 4) return [24n, 16n, 8n, 0n].map(s => (this.bits >> s) & 255n).join('.');
    const groups = Array.from({ length: 8 }, (_, i) => ((this.bits >> BigInt(112 - 16 * i)) & 0xffffn).toString(16));
    const runs = [
      ...groups
        .map(g => (g === '0' ? 'z' : '.'))
        .join('')
        .matchAll(/z{2,}/g),
    ];
    const longest = runs.reduce<RegExpMatchArray | undefined>(
      (a, b) => (a && a[0].length >= b[0].length ? a : b),
      undefined,
    );
    if (!longest) return groups.join(':');
    return `${groups.slice(0, longest.index).join(':')}::${groups.slice(longest.index! + longest[0].length).join(':')}`;
  }
}

/** A CIDR block: an address, including its host bits, and a prefix length. */
export class Cidr extends Opaque {
  readonly typeName = 'net.CIDR';
  constructor(
    readonly ip: Ip,
    readonly prefix: number,
  ) {
    super();
  }
  equals(other: Opaque): boolean {
    return other instanceof Cidr && other.prefix === this.prefix && other.ip.equals(this.ip);
  }
  get masked(): Ip {
    const shift = BigInt(this.ip.width - this.prefix);
    return new Ip((this.ip.bits >> shift) << shift, this.ip.family);
  }
  contains(ip: Ip): boolean {
    const shift = BigInt(this.ip.width - this.prefix);
    return ip.family === this.ip.family && ip.bits >> shift === this.ip.bits >> shift;
  }
  override toString(): string {
    return `${this.ip}/${this.prefix}`;
  }
}

function parse4(text: string): bigint | undefined {
  const m = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (!m) return undefined;
  let bits = 0n;
  for (const part of m.slice(1)) {
    if ((part.length > 1 && part.startsWith('0')) || Number(part) > 255) return undefined;
    bits = (bits << 8n) | BigInt(part);
  }
  return bits;
}

function parse6(text: string): bigint | undefined {
  if (text.length > 45) return undefined;
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  let src = text;
  if (tail) {
    const v4 = parse4(tail[2]!);
    if (v4 === undefined) return undefined;
    src = `${tail[1]}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`;
  }
  const halves = src.split('::');
  if (halves.length > 2) return undefined;
  const groups = halves.map(h => (h === '' ? [] : h.split(':')));
  const count = groups.reduce((n, g) => n + g.length, 0);
  if (groups.flat().some(g => !/^[0-9a-fA-F]{1,4}$/.test(g)) || (halves.length === 1 ? count !== 8 : count > 7))
    return undefined;
  const all =
    halves.length === 1 ? groups[0]! : [...groups[0]!, ...new Array<string>(8 - count).fill('0'), ...groups[1]!];
  return all.reduce((bits, g) => (bits << 16n) | BigInt(`0x${g}`), 0n);
}

/** Parses an address. Returns the error as text. */
function parseIp(text: string): Ip | string {
  const v4 = parse4(text);
  if (v4 !== undefined) return new Ip(v4, 4);
  const zone = text.indexOf('%');
  const v6 = text.includes(':') ? parse6(zone < 0 ? text : text.slice(0, zone)) : undefined;
  if (v6 === undefined || zone === text.length - 1)
    return `IP Address ${goQuote(text)} parse error during conversion from string`;
  if (zone >= 0) return `IP address ${goQuote(text)} with zone value is not allowed`;
  if (v6 >> 32n === 0xffffn) return `IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`;
  return new Ip(v6, 6);
}

/** Parses a block. Returns `undefined` if malformed or IPv4-mapped. */
export function parseCidr(text: string): Cidr | undefined {
  const m = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text);
  const ip = m ? parseIp(m[1]!) : '';
  return ip instanceof Ip && Number(m![2]) <= ip.width ? new Cidr(ip, Number(m![2])) : undefined;
}

const ipFromText = (v: Value): Ip => {
  const made = parseIp(v as string);
  return made instanceof Ip ? made : fail(made);
};
const cidrFromText = (v: Value): Cidr =>
  parseCidr(v as string) ?? fail('network address parse error during conversion from string');

/** Whether an address has the prefix given for its family, as bits and length. */
const hasPrefix = (v: Value, four: readonly [bigint, number], six: readonly [bigint, number]): boolean => {
  const a = v as Ip;
  const [bits, length] = a.family === 4 ? four : six;
  return a.bits >> BigInt(a.width - length) === bits;
};
const isUnspecified = (v: Value): boolean => (v as Ip).bits === 0n;
const isLoopback = (v: Value): boolean => hasPrefix(v, [127n, 8], [1n, 128]);
const isMulticast = (v: Value): boolean => hasPrefix(v, [0xen, 4], [0xffn, 8]);
const isLinkLocalMulticast = (v: Value): boolean =>
  hasPrefix(v, [0xe00000n, 24], [0xffn, 8]) && ((v as Ip).family === 4 || (((v as Ip).bits >> 112n) & 0xfn) === 2n);
const isLinkLocalUnicast = (v: Value): boolean => hasPrefix(v, [0xa9fen, 16], [0x3fan, 10]);
const isGlobalUnicast = (v: Value): boolean =>
  !isUnspecified(v) &&
  !isLoopback(v) &&
  !isMulticast(v) &&
  !isLinkLocalUnicast(v) &&
  !((v as Ip).family === 4 && (v as Ip).bits === 0xffffffffn);

/** Parses the string argument of `containsIP`; text that is not an address is reported as a missing overload. */
const ipOrNoOverload = (v: Value): Ip => {
  const made = parseIp(v as string);
  return made instanceof Ip ? made : noOverload();
};
const containsCidr = (a: Value, b: Cidr): boolean => (a as Cidr).prefix <= b.prefix && (a as Cidr).contains(b.ip);

/** The IP address library. */
export const IP: Library = {
  name: 'ip',
  types: ['net.IP'],
  functions: [
    declareGlobal('isIP(string): bool', (v, _b, _c, m) => {
      m.traverse((v as string).length);
      return parseIp(v as string) instanceof Ip;
    }),
    declareGlobal('ip(string): net.IP', (v, _b, _c, m) => {
      m.traverse((v as string).length);
      return ipFromText(v);
    }),
    declareGlobal('ip.isCanonical(string): bool', (v, _b, _c, m) => {
      m.traverse((v as string).length);
      return ipFromText(v).toString() === v;
    }),
    declareGlobal('string(net.IP): string', String as (v: Value) => Value),
    declare('net.IP.family(): int', v => (v as Ip).family),
    declare('net.IP.isUnspecified(): bool', isUnspecified),
    declare('net.IP.isLoopback(): bool', isLoopback),
    declare('net.IP.isLinkLocalMulticast(): bool', isLinkLocalMulticast),
    declare('net.IP.isLinkLocalUnicast(): bool', isLinkLocalUnicast),
    declare('net.IP.isGlobalUnicast(): bool', isGlobalUnicast),
  ],
};

/** The CIDR library. */
export const CIDR: Library = {
  name: 'cidr',
  types: ['net.CIDR'],
  functions: [
    declareGlobal('isCIDR(string): bool', (v, _b, _c, m) => {
      m.traverse((v as string).length);
      return parseCidr(v as string) instanceof Cidr;
    }),
    declareGlobal('cidr(string): net.CIDR', (v, _b, _c, m) => {
      m.traverse((v as string).length);
      return cidrFromText(v);
    }),
    declareGlobal('string(net.CIDR): string', String as (v: Value) => Value),
    declare('net.CIDR.ip(): net.IP', v => (v as Cidr).ip),
    declare('net.CIDR.masked(): net.CIDR', v => new Cidr((v as Cidr).masked, (v as Cidr).prefix)),
    declare('net.CIDR.prefixLength(): int', v => (v as Cidr).prefix),
    declare('net.CIDR.containsIP(net.IP): bool', (a, b) => (a as Cidr).contains(b as Ip)),
    declare('net.CIDR.containsIP(string): bool', (a, b) => (a as Cidr).contains(ipOrNoOverload(b))),
    declare('net.CIDR.containsCIDR(net.CIDR): bool', (a, b) => containsCidr(a, b as Cidr)),
    declare('net.CIDR.containsCIDR(string): bool', (a, b) => containsCidr(a, cidrFromText(b))),
  ],
};
