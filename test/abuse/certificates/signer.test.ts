import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, afterAll, describe, expect, test } from 'vitest';
import type { ApiObject } from '../../../core/api/index.js';
import { issue as issueCa } from '../../../core/services/pki/certificate.js';
import { parseCertificateRequest } from '../../../core/services/pki/certificateRequest.js';
import { type FakeHost, fakeHost } from '../../../core/testing/host.js';
import { Issuer, Unsignable } from '../../../plugins/controllers/certificates/issue.js';
import { signer } from '../../../plugins/controllers/certificates/signer.js';
import { attribute, pem, requestOf, subject } from './der.js';

const STORED = 'certificates.orchestrator.io/certificatesigningrequests';
const SIGNER = 'orchestrator.io/orchestrator-apiserver-client';
const directory = mkdtempSync(join(tmpdir(), 'capstan-signer-'));
const files = { signer: SIGNER, certFile: join(directory, 'ca.crt'), keyFile: join(directory, 'ca.key') };
beforeAll(async () => {
  const now = Date.UTC(2030, 0, 1);
  const times = { notBefore: now - 1000, notAfter: now + 86_400_000 };
  const ca = await issueCa({ subject: { commonName: 'ca' }, use: 'ca', ...times });
  writeFileSync(files.certFile, ca.certificate);
  writeFileSync(files.keyFile, ca.key);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const MASTERS = subject(attribute('CN', 'eve'), attribute('O', 'system:masters', 'visible'));
const JANE = subject(attribute('CN', 'jane'));
const encoded = (text: string): string => Buffer.from(text, 'latin1').toString('base64');
const approved = (name: string, request: string): ApiObject => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name },
  spec: { request: encoded(request), signerName: SIGNER, usages: ['client auth'] },
  status: { conditions: [{ type: 'Approved', status: 'True' }] },
});

describe('an approved request', () => {
  let fake: FakeHost<'control'>;
  /** Starts the controller with requests, and handles all of them. */
  async function sign(...objects: readonly ApiObject[]): Promise<void> {
    fake = fakeHost('control');
    for (const object of objects) fake.put(STORED, object);
    // A write is stored, and reported to the controller again.
    fake.answer = ({ body }) => {
      fake.put(STORED, body as ApiObject);
      return body as ApiObject;
    };
    await signer(fake.host, { signers: [files], maxMs: 3_600_000 }).start();
  }
  afterEach(() => fake.close());
  const statusOf = (name: string) => fake.host.informer(STORED).get('', name)!['status'] as ApiObject;

  test.each([
    ['whose names cannot be read', pem(requestOf({ subject: MASTERS }))],
    ['that is followed by another', pem(requestOf({ subject: JANE })) + pem(requestOf({ subject: MASTERS }))],
    ['that is not a request', 'nothing'],
  ])('%s fails once', async (_, request) => {
    await sign(approved('bad', request));
    const message = expect.stringContaining('unable to parse csr: ');
    const failed = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message };
    expect(statusOf('bad')['conditions']).toMatchObject([{ type: 'Approved' }, failed]);
    expect(statusOf('bad')['certificate']).toBeUndefined();
    expect(fake.requests.length).toBe(1);
  });

  test('is signed once if it can be signed', async () => {
    await sign(approved('good', pem(requestOf({ subject: JANE }))));
    expect(statusOf('good')['certificate']).toEqual(expect.any(String));
    expect(fake.requests.length).toBe(1);
  });
});

describe('an issuer', () => {
  const wanted = parseCertificateRequest(encoded(pem(requestOf({ subject: JANE }))));
  const rest = { usages: ['client auth'], lifetimeMs: 1000, now: Date.UTC(2030, 0, 1) };

  test('returns the reason if a request cannot be signed: its certificate would have other names', async () => {
    const issue = (names: object) => new Issuer(files).issue({ wanted: { ...wanted, ...names }, ...rest });
    expect(await issue({})).toContain('BEGIN CERTIFICATE');
    expect(await issue({ commonName: 'eve' })).toBeInstanceOf(Unsignable);
    expect(await issue({ organizations: ['system:masters'] })).toBeInstanceOf(Unsignable);
    expect(await issue({ publicKey: Buffer.from([5, 0]) })).toBeInstanceOf(Unsignable);
  });

  test('throws if another attempt may succeed: its CA cannot be read', async () => {
    const absent = new Issuer({ ...files, keyFile: join(directory, 'absent.key') });
    await expect(absent.issue({ wanted, ...rest })).rejects.toThrow('absent.key');
  });
});
