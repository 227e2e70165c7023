import { createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namingOf } from '../../../core/naming.js';
import { issue as issueCa } from '../../../core/services/pki/certificate.js';
import { readCertificateNames } from '../../../core/services/pki/certificateNames.js';
import { Malformed, parseCertificateRequest } from '../../../core/services/pki/certificateRequest.js';
import { clientCertificates } from '../../../plugins/authn/clientCertificate.js';
import { Issuer } from '../../../plugins/controllers/certificates/issue.js';
import { received } from '../../../core/testing/conformance/samples.js';
import type { User } from '../../../core/model/user.js';
import {
  alternative,
  alternatives,
  asksFor,
  attribute,
  ATTRIBUTES,
  certificateOf,
  der,
  extension,
  KEYS,
  oid,
  pem,
  type Requested,
  requestOf,
  sequence,
  set,
  subject,
  text,
  type Type,
  TYPES,
} from './der.js';

const DAY = 86_400_000;
/** Signing hundreds of certificates takes seconds, but minutes on a busy machine. */
const PATIENCE_MS = 240_000;
const directory = mkdtempSync(join(tmpdir(), 'capstan-texts-'));
const [certFile, keyFile] = [join(directory, 'ca.crt'), join(directory, 'ca.key')];
const issuer = new Issuer({ signer: 'tested', certFile, keyFile });
const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });

beforeAll(async () => {
  const times = { notBefore: Date.now() - DAY, notAfter: Date.now() + 10 * DAY };
  const ca = await issueCa({ subject: { commonName: 'ca' }, use: 'ca', ...times });
  writeFileSync(certFile, ca.certificate);
  writeFileSync(keyFile, ca.key);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const base64 = (value: string): string => Buffer.from(value, 'latin1').toString('base64');
const parse = (value: string) => parseCertificateRequest(base64(value));
/** The reason why a text is refused; undefined if it is accepted. */
function faultOf(value: string): string | undefined {
  try {
    parse(value);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Malformed) return thrown.message;
    throw thrown;
  }
}
const JANE = subject(attribute('CN', 'jane'));
const faultIn = (wanted: Partial<Requested>) => faultOf(pem(requestOf({ subject: JANE, ...wanted })));

const authenticator = clientCertificates({
  now: () => Date.now(),
  naming: namingOf('neutral'),
  onClose: () => undefined,
});
const authenticate = (certificate: string): User | null =>
  authenticator.authenticate(received({ certificate })) as User | null;
/** The request as OpenSSL reads it. */
const readByOpenssl = (certificate: string) => {
  const { CN = [], O = [] } = new X509Certificate(certificate).toLegacyObject().subject as Record<
    'CN' | 'O',
    string | string[]
  >;
  return { commonName: [CN].flat().at(-1) ?? '', organizations: [O].flat() };
};
const sign = (value: string, usages = ['client auth']) =>
  issuer.issue({ wanted: parse(value), usages, lifetimeMs: DAY, now: Date.now() });

/** The string types that the server reads. */
const READ: readonly Type[] = ['utf8', 'numeric', 'printable', 'teletex', 'ia5', 'bmp'];

describe('an organization in a request', () => {
  test.each(Object.keys(TYPES) as Type[])(
    'of the type %s is read by authentication as in the request, or the request is refused',
    async type => {
      const organization = type === 'numeric' ? '10 20' : 'system:masters';
      const request = pem(requestOf({ subject: subject(attribute('CN', 'jane'), attribute('O', organization, type)) }));
      if (!READ.includes(type)) return expect(faultOf(request)).toBeDefined();
      expect(parse(request)).toMatchObject({ commonName: 'jane', organizations: [organization] });
      const certificate = (await sign(request)) as string;
      expect(authenticate(certificate)).toMatchObject({ name: 'jane', groups: [organization] });
      expect(readByOpenssl(certificate)).toEqual({ commonName: 'jane', organizations: [organization] });
      expect(parse(request).subject).toEqual(new Uint8Array(subjectIn(certificate)));
    },
  );

  test.each(Object.keys(TYPES).filter(type => !READ.includes(type as Type)) as Type[])(
    'of the type %s in a certificate of the CA authenticates nobody',
    type => {
      const name = subject(attribute('CN', 'jane'), attribute('O', 'system:masters', type));
      const issued = certificateOf({ subject: name, issuer: { name: JANE, key: authority.privateKey } });
      expect(() => authenticate(pem(issued, 'CERTIFICATE'))).toThrow();
    },
  );

  test.each([
    ['invalid UTF-8', attribute('O', Buffer.from([0xff])), 'UTF8String'],
    ['UTF-8 that is too long', attribute('O', Buffer.from([0xc1, 0xb3])), 'UTF8String'],
    ['a surrogate in UTF-8', attribute('O', Buffer.from([0xed, 0xa0, 0x80])), 'UTF8String'],
    ['a NUL character', attribute('O', 'system:masters\0'), 'NUL'],
    ['a NUL character in an IA5String', attribute('O', 'system:masters\0', 'ia5'), 'NUL'],
    ['the terminator of a BMPString', attribute('O', 'system:masters\0', 'bmp'), 'NUL'],
    ['half a character', attribute('O', Buffer.from([0, 65, 0]), 'bmp'), 'invalid'],
    ['a surrogate', attribute('O', '\ud800', 'bmp'), 'BMPString'],
    ['letters in a NumericString', attribute('O', 'masters', 'numeric'), 'NumericString'],
    ['an at sign in a PrintableString', attribute('O', 'a@b', 'printable'), 'PrintableString'],
    ['eight bits in an IA5String', attribute('O', 'ä', 'ia5'), 'IA5String'],
    ['eight bits in a TeletexString', attribute('O', 'ä', 'teletex'), 'TeletexString'],
    ['an escape in a TeletexString', attribute('O', '\x1b', 'teletex'), 'TeletexString'],
    ['a second value', sequence(oid(ATTRIBUTES.O), text('utf8', 'a'), text('utf8', 'system:masters')), 'trailing'],
    ['no value', sequence(oid(ATTRIBUTES.O)), 'truncated'],
    ['a padded identifier', sequence(oid('5504800a'), text('utf8', 'system:masters')), 'identifier'],
  ])('with %s is refused', (_, value, why) => expect(faultIn({ subject: subject(value) })).toContain(why));

  test('is read if it is repeated, in a set of several, or empty', () => {
    const read = (name: Buffer) => parse(pem(requestOf({ subject: name })));
    expect(read(subject(attribute('O', 'a'), attribute('O', 'b'))).organizations).toEqual(['a', 'b']);
    const several = subject([attribute('CN', 'x'), attribute('O', 'a')], attribute('O', ''));
    expect(read(several).organizations).toEqual(['a', '']);
    expect(read(subject(attribute('CN', 'x'), attribute('CN', 'y'))).commonName).toBe('y');
  });
});

/** The subject of a certificate, byte by byte. */
function subjectIn(certificate: string): Buffer {
  const { raw } = new X509Certificate(certificate);
  const common = raw.lastIndexOf(Buffer.from('jane'));
  // The set of the common name begins eleven bytes before its text, the subject two bytes before that.
  const start = common - 13;
  return raw.subarray(start, start + 2 + raw[start + 1]!);
}

describe('names of all kinds', () => {
  const texts = fc.oneof(
    fc.constantFrom(
      'system:masters',
      'system:nodes',
      'system:node:n',
      '',
      ' ',
      'a, O=system:masters',
      'O=x/CN=y',
      '12',
    ),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.string({ maxLength: 12 }),
  );
  const values = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(
        fc.constantFrom<Type>('utf8', 'utf8', 'printable', 'ia5', 'teletex', 'bmp', 'numeric'),
        texts,
      ),
    },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...(Object.keys(TYPES) as Type[])), texts) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom<Type>('utf8', 'bmp'), fc.uint8Array({ maxLength: 6 })) },
  );
  const attributes = fc
    .tuple(
      fc.constantFrom(...(Object.keys(ATTRIBUTES) as (keyof typeof ATTRIBUTES)[]), 'O' as const, 'CN' as const),
      values,
    )
    .map(([name, [type, value]]) => attribute(name, typeof value === 'string' ? value : Buffer.from(value), type));
  const subjects = fc.array(fc.array(attributes, { minLength: 1, maxLength: 2 }), { maxLength: 3 });

  test(
    'are the same for validation, the certificate, authentication and OpenSSL, or refused',
    async () => {
      let signed = 0;
      await fc.assert(
        fc.asyncProperty(subjects, async parts => {
          const request = pem(requestOf({ subject: subject(...parts) }));
          if (faultOf(request) !== undefined) return;
          signed++;
          const { commonName, organizations } = parse(request);
          const certificate = (await sign(request)) as string;
          expect(certificate).toContain('BEGIN CERTIFICATE');
          const user = authenticate(certificate);
          expect(user && { name: user.name, groups: user.groups }).toEqual(
            commonName === '' ? null : { name: commonName, groups: organizations },
          );
          expect(readByOpenssl(certificate)).toEqual({ commonName, organizations });
        }),
        { numRuns: 250 },
      );
      expect(signed).toBeGreaterThan(50);
    },
    PATIENCE_MS,
  );

  test(
    'are the same for validation and for the certificate when they are alternative names',
    async () => {
      const byType = fc.oneof(
        fc.tuple(
          fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 8, 9),
          fc.oneof(texts, fc.constantFrom('a.example', 'spiffe://a/b', 'x@y')),
        ),
        fc.tuple(fc.constant(7), fc.uint8Array({ minLength: 3, maxLength: 17 })),
        fc.tuple(
          fc.constant(7),
          fc.oneof(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array({ minLength: 16, maxLength: 16 })),
        ),
      );
      let signed = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(byType, { maxLength: 3 }), async names => {
          const san = alternatives(...names.map(([type, value]) => alternative(type, value)));
          const request = pem(requestOf({ subject: JANE, attributes: [asksFor(san)] }));
          if (faultOf(request) !== undefined) return;
          signed++;
          const certificate = new X509Certificate((await sign(request)) as string);
          const issued = readCertificateNames(certificate.raw).alternativeNames();
          expect(issued).toEqual(parse(request).names);
        }),
        { numRuns: 150 },
      );
      expect(signed).toBeGreaterThan(20);
    },
    PATIENCE_MS,
  );
});

const GOOD = pem(requestOf({ subject: JANE }));
const EVIL = pem(requestOf({ subject: subject(attribute('CN', 'eve'), attribute('O', 'system:masters')) }));

describe('a request in PEM', () => {
  test.each([
    ['with line feeds', GOOD],
    ['with carriage returns and line feeds', GOOD.replaceAll('\n', '\r\n')],
    ['without a last line end', GOOD.trimEnd()],
    ['with blank lines around it', `\n\r\n${GOOD}\n \n`],
    ['on one long line', GOOD.replace(/(?<=[\w+/=])\n(?=[\w+/=])/g, '')],
    ['with white space at line ends', GOOD.replace(/(?<=[\w+/=])\n/g, ' \t\n')],
  ])('%s is read', (_, value) => expect(parse(value).commonName).toBe('jane'));

  const body = GOOD.split('\n').slice(1, -2).join('\n');
  test.each([
    ['before another', GOOD + EVIL],
    ['after another', EVIL + GOOD],
    ['after text', `text\n${GOOD}`],
    ['before text', `${GOOD}text\n`],
    ['after text on its line', `text ${GOOD}`],
    ['after white space on its line', ` ${GOOD}`],
    ['after another that is on a line with text', `x ${EVIL}${GOOD}`],
    ['after another that is indented', ` ${EVIL}${GOOD}`],
    ['after another that ends otherwise', EVIL.replace('END CERTIFICATE REQUEST', 'END CERTIFICATE') + GOOD],
    ['after a certificate', pem(requestOf({ subject: JANE }), 'CERTIFICATE') + GOOD],
    ['after the beginning of one', `-----BEGIN CERTIFICATE REQUEST-----\n${GOOD}`],
    ['after a byte order mark', `\xef\xbb\xbf${GOOD}`],
    ['before a NUL character', `${GOOD}\0`],
    ['with headers', GOOD.replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\n\n')],
    ['with unterminated headers', GOOD.replace('-----\n', '-----\nProc-Type: 4\n')],
    ['with another label', pem(requestOf({ subject: JANE }), 'NEW CERTIFICATE REQUEST')],
    ['with a label in lower case', pem(requestOf({ subject: JANE }), 'certificate request')],
    ['with only carriage returns', GOOD.replaceAll('\n', '\r')],
    ['with other characters', GOOD.replace('\n-----END', '\n*\n-----END')],
    ['with too much padding', GOOD.replace('\n-----END', '=\n-----END')],
    ['without BEGIN and END lines', body],
    ['in DER', requestOf({ subject: JANE }).toString('latin1')],
    ['without contents', '-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n'],
    ['of nothing', ''],
    ['with more bytes than the limit', `${GOOD}${'\n'.repeat(64 * 1024)}`],
  ])('%s is refused', (_, value) => expect(faultOf(value)).toEqual(expect.any(String)));
});

describe('a request in DER', () => {
  const ones = (hex: string) => der(0x02, Buffer.from(hex, 'hex'));
  const san = alternatives(alternative(2, 'a.example'));
  const other = extension('2a03', Buffer.from('x'));
  test.each<[string, Partial<Requested>]>([
    ['a version of two bytes', { version: ones('0000') }],
    ['extensions in two attributes', { attributes: [asksFor(san), asksFor(other)] }],
    ['a duplicate extension', { attributes: [asksFor(san, san)] }],
    ['a duplicate unknown extension', { attributes: [asksFor(other, other)] }],
    [
      'two lists of extensions',
      { attributes: [sequence(oid('2a864886f70d01090e'), set(sequence(san), sequence(other)))] },
    ],
    ['no list of extensions', { attributes: [sequence(oid('2a864886f70d01090e'), set())] }],
    ['an invalid attribute', { attributes: [der(0x05)] }],
    ['a name in a sequence', { subject: sequence(sequence(attribute('CN', 'x'))) }],
    ['an address of five bytes', { attributes: [asksFor(alternatives(alternative(7, Buffer.alloc(5))))] }],
    ['a NUL character in a DNS name', { attributes: [asksFor(alternatives(alternative(2, 'a\0b')))] }],
    ['an unknown algorithm', { algorithm: sequence(oid('2a03')) }],
    ['more than an algorithm', { algorithm: sequence(oid('2a8648ce3d040302'), der(0x05), der(0x05)) }],
    ['an invalid key', { spki: sequence(sequence(oid('2a03')), der(0x03, Buffer.from([0]))) }],
    ['a curve that certificates do not have', { keys: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }) }],
    ['a compressed point', { spki: compressed(KEYS.publicKey) }],
    ['many thousand elements', { subject: sequence(...Array.from({ length: 6000 }, () => set(sequence()))) }],
    [
      'deep elements',
      { attributes: [Array.from({ length: 1000 }).reduce<Buffer>(inner => sequence(inner), der(0x05))] },
    ],
  ])('with %s is refused', (_, wanted) => expect(faultIn(wanted)).toEqual(expect.any(String)));

  test('with one changed byte is refused', () => {
    const request = requestOf({ subject: JANE, attributes: [asksFor(san)] });
    for (let at = 0; at < request.length; at++)
      for (const mask of [0x01, 0x20, 0x80, 0xff]) {
        const changed = Buffer.from(request);
        changed[at]! ^= mask;
        expect([at, faultOf(pem(changed))]).toEqual([at, expect.any(String)]);
      }
  });

  test('of random bytes is refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), bytes => {
        expect(faultOf(pem(bytes))).toEqual(expect.any(String));
        expect(faultIn({ subject: Buffer.from(bytes) })).toEqual(expect.any(String));
      }),
      { numRuns: 500 },
    );
  });
});

function compressed(key: KeyObject): Buffer {
  const spki = key.export({ type: 'spki', format: 'der' });
  const point = spki.subarray(-65);
  const short = Buffer.concat([Buffer.from([0, 2 + (point[64]! & 1)]), point.subarray(1, 33)]);
  const made = sequence(spki.subarray(2, -68), der(0x03, short));
  expect(createPublicKey({ key: made, format: 'der', type: 'spki' }).equals(key)).toBe(true);
  return made;
}
