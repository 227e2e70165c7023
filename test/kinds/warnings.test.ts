import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issue } from '../../core/services/pki/certificate.js';
import { keyPairProblem } from '../../plugins/kinds/core/secret/keyPair.js';
import { type Answer, Api, deployment, pod } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

const warning = ({ headers }: Answer) => headers['warning'];

describe('warnings', () => {
  let api: Api;
  let core: string;
  beforeAll(async () => {
    api = await Api.start();
    core = await api.namespace('warned');
  });
  afterAll(() => api.close());

  const hostname = (what: string, why: string) =>
    `299 - "metadata.name: this is used in ${what}, which can result in surprising behavior; a DNS label is recommended: [${why}]"`;

  test('about a new name that is not a valid host name', async () => {
    const pods = `${core}/pods?dryRun=All`;
    const deployments = '/apis/apps/v1/namespaces/warned/deployments';
    expect(warning(await api.post(pods, pod('a')))).toBeUndefined();
    expect(warning(await api.post(pods, pod('a.b')))).toBe(hostname("the Pod's hostname", 'must not contain dots'));
    const long = `${'a'.repeat(64)}.b`;
    const both = 'must be no more than 63 characters must not contain dots';
    expect(warning(await api.post(`${deployments}?dryRun=All`, deployment(long)))).toBe(
      hostname('Pod names and hostnames', both),
    );
    await api.made(deployments, deployment('a.b'));
    const changed = await api.patch(`${deployments}/a.b`, MERGE, { spec: { replicas: 2 } });
    expect([changed.status, warning(changed)]).toEqual([200, undefined]);
  });

  test('only about valid objects', async () => {
    const refused = await api.post(`${core}/pods`, { ...pod('a.b'), metadata: { name: 'a.b', labels: { 'a b': '' } } });
    expect([refused.status, warning(refused)]).toEqual([422, undefined]);
  });

  test('about a Secret whose certificate and key do not match, in every write', async () => {
    const secrets = `${core}/secrets`;
    const text = '299 - "tls: failed to find any PEM data in certificate input"';
    const data = { 'tls.crt': 'aGk=', 'tls.key': 'aGk=' };
    expect(warning(await api.post(secrets, { metadata: { name: 'x' }, type: 'kubernetes.io/tls', data }))).toBe(text);
    expect(warning(await api.patch(`${secrets}/x`, MERGE, { data: { a: '' } }))).toBe(text);
  });

  test('when the Secrets of a ServiceAccount are newly restricted', async () => {
    const accounts = `${core}/serviceaccounts`;
    const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
    const made = await api.post(accounts, { metadata: { name: 'x', annotations } });
    expect(warning(made)).toContain(
      'deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets',
    );
    const labelled = await api.patch(`${accounts}/x`, MERGE, {
      metadata: { labels: { a: '1' } },
    });
    expect([labelled.status, warning(labelled)]).toEqual([200, undefined]);
  });
});

describe('a certificate and a key', () => {
  const request = { subject: { commonName: 'x' }, notBefore: 0, notAfter: 4e12, use: 'server' } as const;
  const block = (label: string) => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----\n`;

  test('that match are accepted', async () => {
    const { certificate, key } = await issue(request);
    expect(keyPairProblem(certificate, key)).toBeUndefined();
    expect(keyPairProblem(certificate, (await issue(request)).key)).toBe('tls: private key does not match public key');
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }) as string;
    expect(keyPairProblem(certificate, rsa)).toBe('tls: private key type does not match public key type');
    expect(keyPairProblem(certificate, certificate)).toBe(
      'tls: found a certificate rather than a key in the PEM for the private key',
    );
    expect(keyPairProblem(key, key)).toContain('PEM inputs may have been switched');
    expect(keyPairProblem(certificate, block('PRIVATE KEY'))).toBe('tls: failed to parse private key');
  });

  test.each([
    ['', '', 'tls: failed to find any PEM data in certificate input'],
    [
      block('A') + block('B'),
      '',
      'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [A B]',
    ],
    [block('CERTIFICATE'), 'x', 'tls: failed to find any PEM data in key input'],
    [
      block('CERTIFICATE'),
      block('A'),
      'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [A]',
    ],
    [block('CERTIFICATE'), block('EC PRIVATE KEY'), 'x509: malformed certificate'],
  ])('%j and %j do not match', (certificate, key, problem) => {
    expect(keyPairProblem(certificate, key)).toBe(problem);
  });
});
