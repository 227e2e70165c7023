import { ipVersion } from './ipAddresses.js';

/** Returns why Go's parser refuses a text as an IPv4 address; undefined if it accepts it. */
function ipv4Problem(text: string): string | undefined {
  let [digits, value, dots] = ['', 0, 0];
  for (let i = 0; i < text.length; i++) {
    const here = (why: string): string => `${why} (at ${JSON.stringify(text.slice(i))})`;
    const character = text[i]!;
    if (character === '.') {
      if (digits === '' || i === text.length - 1) return here('IPv4 field must have at least one digit');
      if (++dots > 3) return 'IPv4 address too long';
      [digits, value] = ['', 0];
    } else if (character < '0' || character > '9') return here('unexpected character');
    else {
      if (digits === '0') return 'IPv4 field has octet with leading zero';
      digits += character;
      value = value * 10 + Number(character);
      if (value > 255) return 'IPv4 field has value >255';
    }
  }
  return dots < 3 ? 'IPv4 address too short' : undefined;
}

/** Returns why Go's parser (`netip.ParseAddr`) refuses a text; undefined if it accepts it. Zones are accepted. */
export function addressProblem(text: string): string | undefined {
  const [, separator] = /^[^.:%]*([.:%])/.exec(text) ?? [];
  const problem = separator === '.' ? ipv4Problem(text) : undefined;
  const isAddress = separator === '.' || ipVersion(text.replace(/%[^%]+$/, '')) === 6;
  const why = isAddress ? problem : 'unable to parse IP';
  return why && `ParseAddr(${JSON.stringify(text)}): ${why}`;
}

/** Returns why Go's parser (`netip.ParsePrefix`) refuses a network in CIDR notation; undefined if it accepts it. */
export function prefixProblem(text: string): string | undefined {
  const slash = text.lastIndexOf('/');
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  const here = (why: string): string => `netip.ParsePrefix(${JSON.stringify(text)}): ${why}`;
  if (slash < 0) return here("no '/'");
  const problem = addressProblem(address);
  if (problem) return here(problem);
  if (address.includes('%')) return here('IPv6 zones cannot be present in a prefix');
  if (!/^(0|[1-9]\d{0,8})$/.test(bits)) return here(`bad bits after slash: ${JSON.stringify(bits)}`);
  return Number(bits) > (address.includes(':') ? 128 : 32) ? here('prefix length out of range') : undefined;
}
