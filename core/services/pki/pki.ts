import { mkdirSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Naming } from '../../naming.js';
import { kubeconfigText } from './kubeconfig.js';
import { type CertificateFiles, ensureCa, writeFileAtomic } from './kept.js';

/** The first address of the default service network, at which pods reach the server. */
const SERVICE_ADDRESS = '10.96.0.1';

/** Options of `ensurePki`. */
export interface PkiOptions {
  readonly dataDir: string;
  /** Additional DNS names and addresses: the bind address and `--tls-san`. Wildcard addresses are ignored. */
  readonly sans: readonly string[];
  readonly naming: Naming;
  readonly now: () => number;
}

/** Certificates and keys under `<data-dir>/pki`. */
export interface Pki {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** The same CA verifies client certificates. */
  readonly clientCaFile: string;
  readonly adminCertFile: string;
  readonly adminKeyFile: string;
  readonly caPem: string;
  /** The certificate with which the server passes requests on to others. It exists once `frontProxyCa` resolves. */
  readonly frontProxy: CertificateFiles;
  /** Resolves with the CA of that certificate, in PEM; the other servers must trust it. */
  readonly frontProxyCa: Promise<string>;
  /** Writes `<data-dir>/admin.kubeconfig` (0600) for that server URL and returns its path. */
  kubeconfigPath(server: string): string;
  /** The text of that kubeconfig. */
  kubeconfig(server: string): string;
}

/** The common name of the certificate with which the server passes requests on to others. */
export const FRONT_PROXY = 'front-proxy-client';

/** The paths of a certificate of the server in its data directory. */
export const certificateFiles = (
  dataDir: string,
  name: 'ca' | 'server' | 'admin' | 'front-proxy-ca' | 'front-proxy-client',
): CertificateFiles => ({
  cert: join(dataDir, 'pki', `${name}.crt`),
  key: join(dataDir, 'pki', `${name}.key`),
});

/** The names in the serving certificate: local names, service names and `added` (addresses without their zone). */
function serverNames(naming: Naming, added: readonly string[]): string[] {
  const service = naming.label('orchestrator.io').replace(/\.io$/, '');
  const services = ['', '.default', '.default.svc', '.default.svc.cluster.local'].map(suffix => service + suffix);
  const given = added
    .map(name => name.replace(/%.*/, ''))
    .filter(name => name !== '' && name !== '0.0.0.0' && name !== '::');
  return [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...services, SERVICE_ADDRESS, ...given])];
}

/**
 * Ensures a CA, a serving certificate and an administrator's client certificate under `<data-dir>/pki`, and a CA and a
 * client certificate for requests that are passed on to other servers. This CA is separate, because the holder of one
 * of its certificates may claim to be any user. A certificate is renewed if less than a third of its lifetime is left,
 * if it lacks a required name, or if the CA has changed. Keys have mode 0600. Only controllers wait for the
 * certificates of the front proxy, which are made while the store opens.
 */
export async function ensurePki(options: PkiOptions): Promise<Pki> {
  mkdirSync(join(options.dataDir, 'pki'), { recursive: true, mode: 0o700 });
  const caFiles = certificateFiles(options.dataDir, 'ca');
  const server = certificateFiles(options.dataDir, 'server');
  const admin = certificateFiles(options.dataDir, 'admin');
  const now = options.now();
  const ca = await ensureCa(caFiles, 'capstan-ca', now);
  await ca.ensure(server, {
    subject: { commonName: 'capstan' },
    use: 'server',
    sans: serverNames(options.naming, options.sans),
  });
  const administrator = options.naming.component('orchestrator-admin');
  const subject = { commonName: administrator, organization: 'system:masters' };
  await ca.ensure(admin, { subject, use: 'client', sans: [] });
  const frontProxy = certificateFiles(options.dataDir, 'front-proxy-client');
  const frontProxyCa = ensureFrontProxy(options.dataDir, frontProxy, now);
  // The error is reported where the promise is awaited.
  frontProxyCa.catch(() => undefined);
  const kubeconfig = (url: string): string =>
    kubeconfigText({
      server: url,
      user: administrator,
      caPem: ca.pem,
      certificatePem: readFileSync(admin.cert, 'utf8'),
      keyPem: readFileSync(admin.key, 'utf8'),
    });
  return {
    caFile: caFiles.cert,
    certFile: server.cert,
    keyFile: server.key,
    clientCaFile: caFiles.cert,
    adminCertFile: admin.cert,
    adminKeyFile: admin.key,
    caPem: ca.pem,
    frontProxy,
    frontProxyCa,
    kubeconfig,
    kubeconfigPath: url => {
      const path = join(options.dataDir, 'admin.kubeconfig');
      writeFileAtomic(path, kubeconfig(url), 0o600);
      return path;
    },
  };
}

async function ensureFrontProxy(dataDir: string, files: CertificateFiles, now: number): Promise<string> {
  const ca = await ensureCa(certificateFiles(dataDir, 'front-proxy-ca'), 'capstan-front-proxy-ca', now);
  await ca.ensure(files, { subject: { commonName: FRONT_PROXY }, use: 'client', sans: [] });
  return ca.pem;
}
