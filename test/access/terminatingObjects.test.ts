import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiObject, Host, Identified } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import { serviceAccountTokens } from '../../plugins/authn/serviceAccount/authenticator.js';
import type { ServiceAccountConfig } from '../../plugins/authn/serviceAccount/config.js';
import { tokenIssuerOf } from '../../plugins/authn/serviceAccount/issuer.js';
import { LEEWAY } from '../../plugins/authn/serviceAccount/objects.js';
import { ListInformer, received } from './support.js';

const naming = namingOf('kubernetes');
const NOW = Date.parse('2030-01-01T00:00:00Z');
const SECOND = 1000;
const DAY = 24 * 3600 * SECOND;

let directory: string;
let config: ServiceAccountConfig;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'capstan-terminating-'));
  const file = join(directory, 'key.pem');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  config = {
    issuers: ['https://issuer'],
    audiences: ['api'],
    keyFiles: [file],
    signingKeyFile: file,
    makesKey: false,
    extend: true,
    lookup: true,
    host: 'localhost',
  };
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const object = (kind: string, name: string, deletionTimestamp?: string): ApiObject => ({
  apiVersion: 'v1',
  kind,
  metadata: {
    name,
    namespace: 'a',
    uid: `uid-of-${name}`,
    resourceVersion: '1',
    ...(deletionTimestamp && { deletionTimestamp }),
  },
});

/** Authenticates a token of a day that is bound to a pod, at a time. */
async function authenticateAt(now: number, account: ApiObject, pod: ApiObject): Promise<Identified> {
  const informers = new Map([
    ['core/serviceaccounts', new ListInformer([account])],
    ['core/pods', new ListInformer([pod])],
  ]);
  const host = {
    naming,
    now: () => now,
    log: { warn: () => undefined },
    informer: (name: string) => informers.get(name) ?? new ListInformer(),
  } as unknown as Host<'pool'>;
  const [issuedAt, expiresAt] = [NOW / SECOND, (NOW + DAY) / SECOND];
  const token = await tokenIssuerOf(config, host).issue({ account, pod, audiences: ['api'], issuedAt, expiresAt });
  const authenticator = serviceAccountTokens(config, host);
  return (await authenticator.authenticate(received({ authorization: `Bearer ${token}` }))) as Identified;
}

describe('the identity of a token whose object is being deleted is remembered only until the token ends', () => {
  const soon = new Date(NOW + 30 * SECOND).toISOString();
  const left = (30 + LEEWAY) * SECOND;

  test.each([
    ['pod', object('ServiceAccount', 'robot'), object('Pod', 'web', soon)],
    ['service account', object('ServiceAccount', 'robot', soon), object('Pod', 'web')],
  ])('%s', async (_what, account, pod) => {
    expect(await authenticateAt(NOW, account, pod)).toMatchObject({ cacheFor: left });
    await expect(authenticateAt(NOW + left + 1, account, pod)).rejects.toThrow('has been invalidated');
  });

  test('but until its expiry without a deletion', async () => {
    const found = await authenticateAt(NOW, object('ServiceAccount', 'robot'), object('Pod', 'web'));
    expect(found.cacheFor).toBe(DAY + LEEWAY * SECOND);
  });
});
