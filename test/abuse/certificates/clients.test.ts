import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as send } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issue, type IssuedCertificate } from '../../../core/services/pki/certificate.js';
import { Api, type Loose } from '../../api/support.js';
import {
  attribute,
  certificateOf,
  EXTENDED_USAGE,
  extension,
  KEYS,
  oid,
  pem,
  requestOf,
  sequence,
  subject,
  type Type,
} from './der.js';
import { MERGE } from '../../support/mediaTypes.js';

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const DAY = 86_400_000;
const directory = mkdtempSync(join(tmpdir(), 'capstan-clients-'));
const clientCaFile = join(directory, 'ca.crt');
const [certFile, keyFile] = [clientCaFile, join(directory, 'ca.key')];
let ca: IssuedCertificate;
let foreign: IssuedCertificate;

const times = { notBefore: Date.now() - DAY, notAfter: Date.now() + 10 * DAY };
beforeAll(async () => {
  ca = await issue({ subject: { commonName: 'ca' }, use: 'ca', ...times });
  foreign = await issue({ subject: { commonName: 'foreign' }, use: 'ca', ...times });
  writeFileSync(certFile, ca.certificate);
  writeFileSync(keyFile, ca.key);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const KEY = KEYS.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const JANE = subject(attribute('CN', 'jane'));

/** A client certificate for the key that all requests use. */
function certificate(authority: IssuedCertificate, usage: string | undefined, notAfter?: Date): string {
  const name = subject(attribute('CN', new X509Certificate(authority.certificate).subject.slice('CN='.length)));
  const key: KeyObject = createPrivateKey(authority.key);
  const extensions = usage ? [extension(EXTENDED_USAGE, sequence(oid(usage)))] : [];
  const ends = notAfter && { notAfter: `${notAfter.toISOString().slice(2, 19).replace(/\D/g, '')}Z` };
  return pem(certificateOf({ subject: JANE, issuer: { name, key }, extensions, ...ends }), 'CERTIFICATE');
}
const CLIENT_AUTH = '2b06010505070302';
const SERVER_AUTH = '2b06010505070301';

interface Asked {
  readonly status: number;
  readonly user?: Loose | undefined;
}

/** The sender as a self subject review names it; status 0 if the server closes the connection. */
const whoIs = (url: string, cert: string, token?: string, agent = new Agent({ keepAlive: false })): Promise<Asked> =>
  new Promise(resolve => {
    const { hostname, port } = new URL(url);
    const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const options = { method: 'POST', hostname, port, path: REVIEWS, cert, key: KEY, headers, agent };
    const request = send({ ...options, rejectUnauthorized: false }, async response => {
      const body = JSON.parse((await response.toArray()).join('')) as Loose;
      resolve({ status: response.statusCode ?? 0, user: body.status?.userInfo });
    });
    request.on('error', () => resolve({ status: 0 })).end('{"metadata":{}}');
  });

describe.each(['uws', 'node'] as const)('with the listener %s', listener => {
  let api: Api;
  beforeAll(async () => {
    const signing = { clusterSigningCertFile: certFile, clusterSigningKeyFile: keyFile };
    api = await Api.start({ listener, clientCaFile, ...signing });
  });
  afterAll(() => api.close());

  const submit = (name: string, request: string) => {
    const encoded = Buffer.from(request, 'latin1').toString('base64');
    const signerName = 'kubernetes.io/kube-apiserver-client';
    const spec = { signerName, usages: ['client auth'], request: encoded };
    return api.post(CSRS, { metadata: { name }, spec });
  };

  test.each<[Type, number]>([
    ['utf8', 403],
    ['printable', 403],
    ['ia5', 403],
    ['teletex', 403],
    ['bmp', 403],
    ['numeric', 422],
    ['visible', 422],
    ['general', 422],
    ['graphic', 422],
    ['videotex', 422],
    ['universal', 422],
  ])('nobody can request a certificate of system:masters as a string of the type %s', async (type, status) => {
    const name = subject(attribute('CN', 'eve'), attribute('O', 'system:masters', type));
    const answer = await submit(`masters-${type}`, pem(requestOf({ subject: name })));
    expect(answer.status).toBe(status);
  });

  test('the certificate has the subject that was validated, and authenticates as that user', async () => {
    const good = requestOf({ subject: subject(attribute('CN', 'jane', 'bmp'), attribute('O', 'dev', 'teletex')) });
    const evil = pem(requestOf({ subject: subject(attribute('CN', 'eve'), attribute('O', 'system:masters')) }));
    for (const [index, before] of [`x ${evil}`, ` ${evil}`, `\x0b${evil}`, evil].entries())
      expect((await submit(`two-${index}`, before + pem(good))).status).toBe(422);
    expect((await submit('one', pem(good))).status).toBe(201);
    const status = { conditions: [{ type: 'Approved', status: 'True', reason: 'Tested', message: '' }] };
    await api.patch(`${CSRS}/one/approval`, MERGE, { status });
    let issued = '';
    await api.until(async () => {
      const { body } = await api.get(`${CSRS}/one`);
      issued = (body.status?.certificate as unknown as string | undefined) ?? '';
      return issued !== '';
    });
    const { user } = await whoIs(api.server.url, Buffer.from(issued, 'base64').toString());
    expect(user).toMatchObject({ username: 'jane', groups: ['dev', 'system:authenticated'] });
  });

  test('a certificate that is not for clients, or is from another CA, authenticates nobody', async () => {
    const { url, token } = api.server;
    expect(await whoIs(url, certificate(ca, CLIENT_AUTH))).toMatchObject({ status: 201 });
    expect(await whoIs(url, certificate(ca, undefined))).toMatchObject({ status: 201 });
    const expired = new Date(Date.now() - 60_000);
    // uws ends the handshake instead: it has no option that leaves the decision to the server.
    const refusal = listener === 'node' ? 401 : 0;
    for (const invalid of [
      certificate(ca, SERVER_AUTH),
      certificate(ca, CLIENT_AUTH, expired),
      certificate(foreign, CLIENT_AUTH),
    ]) {
      expect(await whoIs(url, invalid)).toEqual({ status: refusal, user: undefined });
      expect(await whoIs(url, invalid, 'unknown')).toEqual({ status: refusal, user: undefined });
      // The other credentials are tried then, as in upstream.
      if (listener === 'node') expect(await whoIs(url, invalid, token)).toMatchObject({ status: 201 });
    }
  });

  test('a certificate that expires while its connection is open is answered 401', async () => {
    for (const seconds of [3, 10, 40]) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const short = certificate(ca, CLIENT_AUTH, new Date(Date.now() + seconds * 1000));
      const ask = () => whoIs(api.server.url, short, undefined, agent);
      // On a busy machine it may have expired before the handshake.
      if ((await ask()).status !== 201) continue;
      let last: Asked = { status: 201 };
      await api.until(async () => {
        last = await ask();
        return last.status !== 201;
      });
      agent.destroy();
      expect(last.status).toBe(401);
      return;
    }
    throw new Error('no connection was opened before its certificate expired');
  });
});
