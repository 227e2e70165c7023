import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../core/api/point.js';
import { issue } from '../../core/services/pki/certificate.js';
import { checkAudit } from '../../core/server/audit.js';
import { checkSigning } from '../../core/server/certificateSigning.js';
import { checkCredentialFiles } from '../../core/server/access/credentialFiles.js';
import { checkServiceAccounts } from '../../core/server/serviceAccounts.js';
import { DEFAULTS } from '../../core/server/settings.js';
import type { Settings } from '../../core/settings/settings.js';

/*
 * Files that flags of access control name: an unusable file fails the start with an error that names flag, file and
 * fault.
 */

const DAY = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'capstan-access-flags-'));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const refusalOf = (check: (settings: Settings) => Settings, settings: Partial<Settings>): string => {
  try {
    check({ ...DEFAULTS, ...settings });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('accepted');
};

const junk = file('junk', 'junk\n');
const spki = { type: 'spki', format: 'pem' } as const;
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const ec = generateKeyPairSync('ec', {
  namedCurve: 'prime256v1',
  publicKeyEncoding: spki,
  privateKeyEncoding: pkcs8,
});
const edwards = generateKeyPairSync('ed25519', { publicKeyEncoding: spki, privateKeyEncoding: pkcs8 });
const privateKey = file('ec.key', ec.privateKey);
const publicKey = file('ec.pub', ec.publicKey);
const unusable = file('ed.key', edwards.privateKey);

describe('flags of service accounts', () => {
  it('accept files with keys', () => {
    const settings = {
      ...DEFAULTS,
      serviceAccountKeyFile: [publicKey, privateKey],
      serviceAccountSigningKeyFile: privateKey,
    };
    expect(checkServiceAccounts(settings)).toBe(settings);
  });

  it.each([
    [junk, 'holds no RSA or ECDSA key in PEM'],
    [unusable, 'holds a key that is neither RSA nor ECDSA on the curve P-256, P-384 or P-521'],
  ])('are named in the error if the keys of %s cannot verify', (path, fault) => {
    expect(refusalOf(checkServiceAccounts, { serviceAccountKeyFile: [publicKey, path] })).toBe(
      `--service-account-key-file: ${path}: ${fault}`,
    );
  });

  it.each([
    [junk, 'holds no private key in PEM'],
    [publicKey, 'holds no private key in PEM'],
    [unusable, 'holds a key that is neither RSA nor ECDSA on the curve P-256, P-384 or P-521'],
  ])('are named in the error if the key of %s cannot sign', (path, fault) => {
    expect(refusalOf(checkServiceAccounts, { serviceAccountSigningKeyFile: path })).toBe(
      `--service-account-signing-key-file: ${path}: ${fault}`,
    );
  });
});

describe('flags of signers', () => {
  it('are named in the error if a CA cannot be parsed', () => {
    const expected = `${junk}: it or ${privateKey} cannot be parsed as PEM of a certificate and a private key`;
    const all = { clusterSigningCertFile: junk, clusterSigningKeyFile: privateKey };
    expect(refusalOf(checkSigning, all)).toBe(`--cluster-signing-cert-file: ${expected}`);
    const single = { clusterSigningNodeClientCertFile: junk, clusterSigningNodeClientKeyFile: privateKey };
    expect(refusalOf(checkSigning, single)).toBe(`--cluster-signing-kubelet-client-cert-file: ${expected}`);
  });

  it('are named in the error if certificates would expire at once', () => {
    expect(refusalOf(checkSigning, { clusterSigningDuration: 0 })).toBe(
      '--cluster-signing-duration: must be longer than 0',
    );
  });
});

describe('flags of credentials', () => {
  it('accept a CA bundle with text between its certificates', async () => {
    const now = Date.now();
    const { certificate } = await issue({
      subject: { commonName: 'ca' },
      use: 'ca',
      notBefore: now - DAY,
      notAfter: now + DAY,
    });
    const settings = { ...DEFAULTS, clientCaFile: file('ca.crt', `first\n${certificate}second\n${certificate}`) };
    expect(checkCredentialFiles(settings)).toBe(settings);
  });

  it.each([
    ['no certificate', 'junk', 'holds no certificate in PEM'],
    ['a key', ec.privateKey, 'holds no certificate in PEM'],
    [
      'an invalid certificate',
      '-----BEGIN CERTIFICATE-----\nZm9v\n-----END CERTIFICATE-----\n',
      'holds a certificate that cannot be parsed',
    ],
  ])('are named in the error if a CA bundle holds %s', (_, text, fault) => {
    const path = file('bad-ca.crt', text);
    expect(refusalOf(checkCredentialFiles, { clientCaFile: path })).toBe(`--client-ca-file: ${path}: ${fault}`);
    expect(refusalOf(checkCredentialFiles, { clientCaFile: folder })).toBe(
      `--client-ca-file: ${folder}: cannot be read: EISDIR`,
    );
  });

  it('are named in the error if a token file has an invalid line', () => {
    const path = file('tokens.csv', 'a,b,c\nd,e\n');
    expect(refusalOf(checkCredentialFiles, { tokenAuthFile: path })).toBe(
      `--token-auth-file: ${path}:2: expected at least 3 columns (token, user name, user uid), found 2`,
    );
    expect(refusalOf(checkCredentialFiles, { tokenAuthFile: folder })).toBe(
      `--token-auth-file: ${folder}: cannot read the token file: EISDIR`,
    );
  });
});

describe('flags of the audit log', () => {
  const policy = file(
    'policy.yaml',
    'apiVersion: audit.orchestrator.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n',
  );

  it('are named in the error if the policy file is not valid', () => {
    expect(refusalOf(checkAudit, { auditPolicyFile: junk })).toBe(
      `--audit-policy-file: ${junk}: must be an object of apiVersion audit.orchestrator.io/v1 and kind Policy`,
    );
  });

  it('are named in the error if the log cannot be written; the server does not start without it', () => {
    expect(refusalOf(checkAudit, { auditPolicyFile: policy, auditLogPath: folder })).toBe(
      `--audit-log-path: cannot write ${folder}: EISDIR`,
    );
    const missing = join(folder, 'missing', 'audit.log');
    expect(refusalOf(checkAudit, { auditPolicyFile: policy, auditLogPath: missing })).toBe(
      `--audit-log-path: cannot write ${missing}: ENOENT: make the folder ${join(folder, 'missing')}`,
    );
  });

  it('create a log that only its owner can read', () => {
    const auditLogPath = join(folder, 'audit.log');
    checkAudit({ ...DEFAULTS, auditPolicyFile: policy, auditLogPath });
    expect(statSync(auditLogPath).mode & 0o777).toBe(0o600);
  });
});
