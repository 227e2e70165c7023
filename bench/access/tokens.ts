/**
 * Prints the microseconds of verifying a bound token of a service account that was not seen before, as elapsed and
 * CPU time, and of finding a cached identity and its cached permission. Medians of rounds.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiObject, Informer, Received } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import { serviceAccountTokens } from '../../plugins/authn/serviceAccount/authenticator.js';
import { tokenIssuerOf } from '../../plugins/authn/serviceAccount/issuer.js';
import { AccessCache } from '../../workers/front/access/access.js';
import { STORED } from '../../plugins/authz/rbac/policy.js';
import { median } from '../lib/median.js';

const ROUNDS = 9;
const TOKENS = 200;
const LOOKUPS = 200_000;

const account: ApiObject = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'robot', namespace: 'shop', uid: 'u1', resourceVersion: '1' },
};
const informer = <T>(): Informer<T> => ({ get: () => account as T, list: () => [account as T], revision: 1 });
const nothing = (): void => undefined;
const host = {
  naming: namingOf('kubernetes'),
  now: Date.now,
  informer,
  log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
};
const requestWith = (token: string): Received => ({
  header: name => (name === 'authorization' ? `Bearer ${token}` : undefined),
  headers: () => [['authorization', `Bearer ${token}`]],
  remoteAddress: '',
  path: '/',
  warn: nothing,
});

interface Cost {
  readonly clock: number;
  readonly cpu: number;
}

async function verifying(type: 'rsa' | 'ec'): Promise<Cost> {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-bench-'));
  try {
    const signingKeyFile = join(directory, 'key.pem');
    const { privateKey } =
      type === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(signingKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const audiences = ['https://issuer.example.com'];
    const common = { issuers: audiences, audiences, keyFiles: [signingKeyFile], signingKeyFile };
    const config = { ...common, makesKey: false, extend: true, lookup: true, host: 'localhost' };
    const issuer = tokenIssuerOf(config, host);
    const authenticator = serviceAccountTokens(config, host);
    const now = Math.floor(Date.now() / 1000);
    const rounds: Cost[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const tokens: string[] = [];
      for (let i = 0; i < TOKENS; i++)
        tokens.push(await issuer.issue({ account, audiences, issuedAt: now, expiresAt: now + 3600 }));
      const [start, cpu] = [performance.now(), process.cpuUsage()];
      for (const token of tokens) await authenticator.authenticate(requestWith(token));
      const { user, system } = process.cpuUsage(cpu);
      rounds.push({ clock: ((performance.now() - start) * 1000) / TOKENS, cpu: (user + system) / TOKENS });
    }
    return { clock: median(rounds.map(({ clock }) => clock)), cpu: median(rounds.map(({ cpu }) => cpu)) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function cached(): number {
  const cache = new AccessCache({
    revision: () => 1,
    revisionOf: () => 1,
    resource: () => ({ revision: 1 }),
  });
  const user = { name: 'robot', uid: 'u1', groups: ['system:authenticated'], extra: new Map() };
  const objects = [{ key: 'core/serviceaccounts/shop/robot', revision: 1 }];
  const credentials = `\nauthorization\nBearer ${'x'.repeat(900)}`;
  const grant = {
    user,
    identityFor: 'forever',
    objects,
    allowedFor: 'forever',
    resources: Object.values(STORED),
    allowed: true,
  } as const;
  cache.learn(credentials, 'get\n/api/v1/pods', grant, cache.permissionOf(grant, 1, 0), 0);
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    let allowed = 0;
    const start = performance.now();
    for (let i = 0; i < LOOKUPS; i++) {
      const identity = cache.identity(credentials, i);
      if (identity && cache.permission(identity, 'get\n/api/v1/pods', i)) allowed++;
    }
    rounds.push(((performance.now() - start) * 1000) / LOOKUPS);
    if (allowed !== LOOKUPS) throw new Error('the permission was not found');
  }
  return median(rounds);
}

for (const type of ['rsa', 'ec'] as const) {
  const { clock, cpu } = await verifying(type);
  console.log(`${clock.toFixed(1)} µs, ${cpu.toFixed(1)} of CPU  verify a bound token first seen, ${type}`);
}
console.log(`${cached().toFixed(2)} µs  cached identity and permission`);
