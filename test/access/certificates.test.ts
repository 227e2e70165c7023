import type { CertificateSigningRequest } from '../../kinds/certificates/v1.js';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as send } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issue } from '../../core/services/pki/certificate.js';
import { obsolescence } from '../../plugins/controllers/certificates/cleaner.js';
import { Api, type Loose } from '../api/support.js';
import type { JsonGeneralName } from '@peculiar/x509';
import { pkcs10 } from './certificateRequests.js';
import { LISTENER_NAMES } from '../listener/names.js';
import { MERGE } from '../support/mediaTypes.js';
import { textOf, partly } from '../support/values.js';

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CLIENT = 'kubernetes.io/kube-apiserver-client';
const NODE_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
let api: Api;
let made = 0;

beforeAll(async () => {
  api = await Api.start();
});
afterAll(() => api.close());

interface Wanted {
  readonly request: string;
  readonly signerName?: string;
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
}

const submit = (spec: Wanted, token?: string) => {
  const name = `csr-${++made}`;
  const body = { metadata: { name }, spec: { signerName: CLIENT, usages: ['client auth'], ...spec } };
  return api.post(CSRS, body, token ? { token } : {});
};
const approve = async (name: string): Promise<void> => {
  const status = { conditions: [{ type: 'Approved', status: 'True', reason: 'Tested', message: '' }] };
  const answer = await api.patch(`${CSRS}/${name}/approval`, MERGE, { status });
  expect(answer.status).toBe(200);
};
async function until(name: string, isSo: (status: Loose) => unknown): Promise<Loose> {
  let status: Loose = {};
  await api.until(async () => {
    status = (await api.get(`${CSRS}/${name}`)).body.status ?? {};
    return Boolean(isSo(status));
  });
  return status;
}
/** Submits and approves a request; returns the certificate. */
async function issueCertificate(spec: Wanted): Promise<X509Certificate> {
  const answer = await submit(spec);
  expect(answer.status).toBe(201);
  const name = textOf(answer.body.metadata!.name);
  await approve(name);
  const { certificate } = await until(name, status => status.certificate ?? status.conditions?.[1]);
  return new X509Certificate(Buffer.from(textOf(certificate), 'base64'));
}
/** The user as whom a certificate authenticates, from a self subject review. */
const whoIs = (cert: string, key: string, url = api.server.url): Promise<{ status: number; user?: Loose }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const headers = { 'content-type': 'application/json' };
    const options = {
      method: 'POST',
      hostname,
      port,
      path,
      cert,
      key,
      headers,
      rejectUnauthorized: false,
      agent: false,
    };
    const request = send(options, async response => {
      const text = (await response.toArray()).join('');
      resolve({ status: response.statusCode ?? 0, user: (JSON.parse(text) as Loose).status?.userInfo });
    });
    request.on('error', reject).end('{"metadata":{}}');
  });

describe('a certificate for an approved request', () => {
  test.each(['ec', 'rsa'] as const)(
    'authenticates as its common name and organizations: %s [A007] [A183]',
    async type => {
      const { key, request } = await pkcs10('CN=dave, O=ops, O=dev', [], type);
      const usages = ['client auth', 'digital signature'];
      const certificate = await issueCertificate({ request, usages, expirationSeconds: 3600 });
      expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
      expect(certificate.ca).toBe(false);
      expect(Math.round((Date.parse(certificate.validTo) - Date.now()) / 60_000)).toBe(60);
      const { status, user } = await whoIs(certificate.toString(), key);
      expect(status).toBe(201);
      expect(user).toMatchObject({ username: 'dave', groups: ['ops', 'dev', 'system:authenticated'] });
    },
  );

  test('is valid at most as long as the setting says, even if a longer time is requested', async () => {
    const { request } = await pkcs10('CN=dave');
    const certificate = await issueCertificate({ request, expirationSeconds: 10 * 365 * 24 * 3600 });
    const days = (Date.parse(certificate.validTo) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(364);
    expect(days).toBeLessThan(366);
  });

  test('for the server of a node has its names', async () => {
    const names: JsonGeneralName[] = [
      { type: 'dns', value: 'n1' },
      { type: 'ip', value: '10.0.0.1' },
    ];
    const { request } = await pkcs10('CN=system:node:n1, O=system:nodes', names);
    const signerName = 'kubernetes.io/kubelet-serving';
    const certificate = await issueCertificate({ request, signerName, usages: ['digital signature', 'server auth'] });
    expect(certificate.subjectAltName).toBe('DNS:n1, IP Address:10.0.0.1');
  });
});

test.each(LISTENER_NAMES)(
  'a certificate of an intermediate CA authenticates if its client sends that CA, too: %s [A182]',
  async listener => {
    const directory = mkdtempSync(join(tmpdir(), 'capstan-chain-'));
    const now = Date.now();
    const times = { notBefore: now - 60_000, notAfter: now + 3_600_000 };
    const root = await issue({ subject: { commonName: 'root' }, use: 'ca', ...times });
    const below = await issue({ subject: { commonName: 'below' }, use: 'ca', ...times }, root);
    const leaf = await issue({ subject: { commonName: 'erin', organization: 'dev' }, use: 'client', ...times }, below);
    writeFileSync(join(directory, 'root.crt'), root.certificate);
    const other = await Api.start({ clientCaFile: join(directory, 'root.crt'), listener });
    try {
      const { user } = await whoIs(leaf.certificate + below.certificate, leaf.key, other.server.url);
      expect(user).toMatchObject({ username: 'erin', groups: ['dev', 'system:authenticated'] });
      const alone = await whoIs(leaf.certificate, leaf.key, other.server.url).catch(() => ({ status: 0 }));
      expect(alone.status).not.toBe(201);
    } finally {
      await other.close();
      rmSync(directory, { recursive: true, force: true });
    }
  },
);

describe('a request is refused by the signer', () => {
  test.each([
    [CLIENT, 'CN=dave', ['server auth'], 'usages did not match'],
    [NODE_CLIENT, 'CN=system:node:n, O=dev', ['digital signature', 'client auth'], 'not system:nodes'],
    [NODE_CLIENT, 'CN=n, O=system:nodes', ['digital signature', 'client auth'], 'common name'],
    [
      'kubernetes.io/kubelet-serving',
      'CN=system:node:n, O=system:nodes',
      ['server auth'],
      'subjectAltName is required',
    ],
  ])('%s %s %j', async (signerName, subject, usages, why) => {
    const { request } = await pkcs10(subject);
    const answer = await submit({ request, signerName, usages });
    const name = textOf(answer.body.metadata!.name);
    await approve(name);
    const status = await until(name, ({ conditions }) => conditions?.[1]);
    expect(status.conditions![1]).toMatchObject({ type: 'Failed', reason: 'SignerValidationFailure' });
    expect(status.conditions![1]!.message).toContain(why);
    expect(status.certificate).toBeUndefined();
  });

  test('that does not handle its signer name, and no certificate is issued', async () => {
    const { request } = await pkcs10('CN=dave');
    const answer = await submit({ request, signerName: 'example.com/other' });
    const name = textOf(answer.body.metadata!.name);
    await approve(name);
    await issueCertificate({ request });
    expect((await api.get(`${CSRS}/${name}`)).body.status?.certificate).toBeUndefined();
  });
});

describe('a request is refused at once', () => {
  const pem = (der: Buffer) =>
    Buffer.from(
      `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`,
    ).toString('base64');
  const derOf = (request: string): Buffer =>
    Buffer.from(
      Buffer.from(request, 'base64')
        .toString()
        .replace(/-----[^-]+-----|\s/g, ''),
      'base64',
    );
  const changed = (der: Buffer, at: number, value: number): Buffer => {
    const copy = Buffer.from(der);
    copy[at < 0 ? copy.length + at : at] = value;
    return copy;
  };
  const refusalOf = async (request: string) => {
    const { status, body } = await submit({ request });
    return [status, /\[\]byte\{[^}]*\}: (.*)$/.exec(textOf(body.details?.causes?.[0]?.message))?.[1]];
  };

  test.each([
    ['rsa', 'crypto/rsa: verification error'],
    ['ec', 'x509: ECDSA verification failure'],
  ] as const)('that is not signed with its own %s key', async (type, why) => {
    const der = derOf((await pkcs10('CN=dave', [], type)).request);
    expect((await submit({ request: pem(der) })).status).toBe(201);
    expect(await refusalOf(pem(changed(der, -1, der.at(-1)! ^ 1)))).toEqual([422, why]);
    // The signature protects the subject.
    const subject = der.indexOf('dave');
    expect(await refusalOf(pem(changed(der, subject, 'e'.charCodeAt(0))))).toEqual([422, why]);
  });

  test('that is not a request in DER', async () => {
    const der = derOf((await pkcs10('CN=dave')).request);
    expect(await refusalOf(pem(der.subarray(0, 100)))).toEqual([422, 'asn1: syntax error: data truncated']);
    expect(await refusalOf(pem(Buffer.concat([der, der])))).toEqual([422, 'asn1: syntax error: trailing data']);
    expect(await refusalOf(pem(Buffer.from([0x30, 0])))).toEqual([422, 'asn1: syntax error: sequence truncated']);
    expect(await refusalOf(pem(changed(der, 1, 0x80)))).toEqual([
      422,
      'asn1: syntax error: indefinite length found (not DER)',
    ]);
    for (let at = 0; at < der.length; at++) {
      const { status } = await submit({ request: pem(changed(der, at, der[at]! ^ 0x55)) });
      expect([at, status]).toEqual([at, 422]);
    }
  });
});

test('nobody can request a client certificate of the group that may do everything', async () => {
  const { request } = await pkcs10('CN=dave, O=system:masters');
  const answer = await submit({ request });
  expect([answer.status, answer.body.message]).toEqual([
    403,
    expect.stringContaining(
      'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    ),
  ]);
});

test('a client certificate of a node is approved once its sender may have it approved', async () => {
  const { request } = await pkcs10('CN=system:node:n, O=system:nodes');
  const usages = ['digital signature', 'client auth'];
  const answer = await submit({ request, signerName: NODE_CLIENT, usages });
  const name = textOf(answer.body.metadata!.name);
  const status = await until(name, ({ certificate }) => certificate);
  expect(status.conditions![0]).toMatchObject({ type: 'Approved', reason: 'AutoApproved' });
});

describe('a signing request is removed', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  const at = (hours: number): string => new Date(now - hours * 3_600_000).toISOString();
  const request = (hours: number, status: object = {}): CertificateSigningRequest =>
    partly<CertificateSigningRequest>({ metadata: { name: 'x', creationTimestamp: at(hours) }, status });
  const condition = (type: string, hours: number): object => ({
    conditions: [{ type, status: 'True', lastUpdateTime: at(hours) }],
  });

  test('an hour after a decision, or a day after their creation without one', () => {
    expect(obsolescence(request(23), now)).toBeUndefined();
    expect(obsolescence(request(25), now)).toBe('nobody decided about it');
    for (const type of ['Denied', 'Failed']) {
      expect(obsolescence(request(30, condition(type, 0.5)), now)).toBeUndefined();
      expect(obsolescence(request(30, condition(type, 1.5)), now)).toBe(`it is ${type}`);
    }
    expect(obsolescence(request(30, condition('Approved', 1.5)), now)).toBeUndefined();
    const issuedOne = { ...condition('Approved', 1.5), certificate: 'eA==' };
    expect(obsolescence(request(30, issuedOne), now)).toBe('its certificate was issued');
  });
});
