/** The few DER values (X.690) that a certificate needs. Each function gives one complete tag-length-value. */

/** A value of any tag. */
export function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const length: number[] = [];
  for (let rest = body.length; rest > 0; rest = Math.floor(rest / 256)) length.unshift(rest % 256);
  const head = body.length < 128 ? [tag, body.length] : [tag, 0x80 | length.length, ...length];
  return Buffer.concat([Buffer.from(head), body]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => tagged(0x31, ...parts);
export const octets = (body: Uint8Array): Buffer => tagged(0x04, body);
export const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text));
export const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]));

/** Non-negative integer from big-endian bytes. */
export const integer = (magnitude: Uint8Array): Buffer =>
  tagged(0x02, (magnitude[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), magnitude]) : magnitude);

/** Bit string whose last `unused` bits do not count. */
export const bits = (body: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), body);

/** Object identifier from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tagged(0x06, Buffer.from(bytes));
}

/** Time to the second: UTCTime until 2049, GeneralizedTime after it (RFC 5280, 4.1.2.5). */
export function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/[-:T]|\.\d+/g, '');
  const short = Number(digits.slice(0, 4)) < 2050;
  return tagged(short ? 0x17 : 0x18, Buffer.from(short ? digits.slice(2) : digits));
}

/** A PEM document of one block (RFC 7468). */
export const pem = (label: string, der: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${Buffer.from(der)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
