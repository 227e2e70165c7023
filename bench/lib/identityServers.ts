import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { exportJWK, SignJWT } from 'jose';
import { issue, type IssuedCertificate } from '../../core/services/pki/certificate.js';

const HOUR = 3_600_000;

/** A CA of the bench, and a certificate for `localhost` that it has issued. */
interface Certificates {
  readonly ca: IssuedCertificate;
  readonly own: IssuedCertificate;
}

async function makeCertificates(): Promise<Certificates> {
  const period = { notBefore: Date.now() - HOUR, notAfter: Date.now() + 24 * HOUR };
  const ca = await issue({ subject: { commonName: 'bench-ca' }, ...period, use: 'ca' });
  const names = { subject: { commonName: 'localhost' }, use: 'server', sans: ['localhost'] } as const;
  return { ca, own: await issue({ ...names, ...period }, ca) };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

function close(server: Server): void {
  server.closeAllConnections();
  server.close();
}

/** An identity provider. */
export interface BenchProvider {
  /** The flags of a server that accepts its tokens. */
  readonly flags: readonly string[];
  /** A token of a user, signed with RS256. */
  token(user: string): Promise<string>;
  /** The key that verifies tokens. */
  readonly publicKey: ReturnType<typeof generateKeyPairSync>['publicKey'];
  close(): void;
}

/** Starts a provider, whose users are in the group `bench-many`. Its CA is written to the folder. */
export async function startProvider(folder: string): Promise<BenchProvider> {
  const { ca, own } = await makeCertificates();
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }];
  let url = '';
  const server = createServer({ cert: own.certificate, key: own.key }, (request, response) => {
    const isKeys = request.url === '/keys';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(isKeys ? { keys } : { issuer: url, jwks_uri: `${url}/keys` }));
  });
  url = await listen(server);
  const caFile = join(folder, 'provider-ca.crt');
  writeFileSync(caFile, ca.certificate);
  const flags = ['--oidc-username-claim=email', '--oidc-groups-claim=groups', `--oidc-ca-file=${caFile}`];
  return {
    flags: [`--oidc-issuer-url=${url}`, '--oidc-client-id=bench', ...flags],
    publicKey,
    token: async user =>
      await new SignJWT({ email: user, groups: ['bench-many'] })
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .setIssuer(url)
        .setSubject(user)
        .setAudience('bench')
        .setExpirationTime('1h')
        .sign(privateKey),
    close: () => close(server),
  };
}

/** A service that decides about requests. */
export interface BenchWebhook {
  /** The flags of a server that calls it after RBAC. */
  readonly flags: readonly string[];
  /** The number of calls for each user. */
  readonly calls: ReadonlyMap<string, number>;
  close(): void;
}

/** Starts a service that allows everything, after `delayMs`. Its kubeconfig is written to the folder. */
export async function startWebhook(folder: string, delayMs: number): Promise<BenchWebhook> {
  const { ca, own } = await makeCertificates();
  const calls = new Map<string, number>();
  const server = createServer({ cert: own.certificate, key: own.key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { apiVersion, kind, spec } = JSON.parse(Buffer.concat(chunks).toString()) as {
        apiVersion: string;
        kind: string;
        spec: { user: string };
      };
      calls.set(spec.user, (calls.get(spec.user) ?? 0) + 1);
      const answer = JSON.stringify({ apiVersion, kind, status: { allowed: true } });
      setTimeout(() => response.setHeader('content-type', 'application/json').end(answer), delayMs);
    });
  });
  const url = await listen(server);
  const file = join(folder, 'permissions.yaml');
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca.certificate).toString('base64') };
  writeFileSync(
    file,
    JSON.stringify({
      'current-context': 'here',
      contexts: [{ name: 'here', context: { cluster: 'here' } }],
      clusters: [{ name: 'here', cluster }],
    }),
  );
  return {
    flags: ['--authorization-mode=RBAC,Webhook', `--authorization-webhook-config-file=${file}`],
    calls,
    close: () => close(server),
  };
}
