import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer } from '../server/library.js';
import { authority } from '../authn/certificates.js';
import { certificatePair } from '../../core/files/certificateFiles.js';

const folder = mkdtempSync(join(tmpdir(), 'capstan-certificate-files-'));
const file = (name: string): string => join(folder, name);
beforeAll(async () => {
  const ca = await authority('ca');
  const [own, other] = [await ca.issue('own', ['localhost']), await ca.issue('other', ['localhost'])];
  writeFileSync(file('own.crt'), own.certificate);
  writeFileSync(file('own.key'), own.key);
  writeFileSync(file('other.key'), other.key);
  writeFileSync(file('chain.crt'), `Subject: own\n${own.certificate}${ca.certificate}`);
  writeFileSync(file('half.crt'), own.certificate.slice(0, own.certificate.length / 2));
  writeFileSync(file('half.key'), own.key.slice(0, own.key.length / 2));
  // As OpenSSL writes keys: the curve P-256 comes first.
  const curve = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  writeFileSync(file('parameters.key'), curve + own.key);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a certificate with its key in files', () => {
  const check = (certificate: string, key: string) =>
    certificatePair({ flag: '--cert', file: file(certificate) }, { flag: '--key', file: file(key) });

  test.each([
    ['own.crt', 'own.key'],
    ['chain.crt', 'own.key'],
    ['own.crt', 'parameters.key'],
  ])('is accepted if the key is that of the first certificate: %s, %s', (certificate, key) => {
    expect(() => check(certificate, key)).not.toThrow();
  });

  test.each([
    ['absent.crt', 'own.key', /^--cert: cannot read .*absent\.crt: ENOENT/],
    ['own.crt', 'absent.key', /^--key: cannot read .*absent\.key: ENOENT/],
    ['own.key', 'own.key', /^--cert: .*own\.key must have certificates in PEM$/],
    ['half.crt', 'own.key', /^--cert: .*half\.crt must have certificates in PEM$/],
    ['own.crt', 'half.key', /^--key: .*half\.key must be a private key in PEM that is not encrypted$/],
    ['own.crt', 'other.key', /^--key: .*other\.key does not belong to the first certificate of --cert$/],
  ])('is refused with the name of the flag and the file: %s, %s', (certificate, key, why) => {
    expect(() => check(certificate, key)).toThrow(why);
  });
});

test.each([
  ['--tls-private-key-file', 'tlsCertFile', 'tlsPrivateKeyFile'],
  ['--proxy-client-key-file', 'proxyClientCertFile', 'proxyClientKeyFile'],
])('a server does not start with a certificate whose key does not belong to it: %s', async (flag, ...settings) => {
  const [certificate, key] = settings as [string, string];
  const given = { storage: 'memory', port: 0, [certificate]: file('own.crt'), [key]: file('other.key') } as const;
  await expect(startServer(given)).rejects.toThrow(new RegExp(`^${flag}: .*other\\.key does not belong`));
});

test.each([
  [{ tlsCertFile: file('own.crt') }, '--tls-cert-file: needs --tls-private-key-file too'],
  [{ tlsPrivateKeyFile: file('own.key') }, '--tls-private-key-file: needs --tls-cert-file too'],
])('a server does not start with a certificate without a key, or a key without one: %j', async (given, why) => {
  await expect(startServer({ storage: 'memory', port: 0, ...given })).rejects.toThrow(why);
});
