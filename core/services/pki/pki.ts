import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Naming } from '../../naming.js';
import type { CertificateRequest, IssuedCertificate, Subject } from './certificate.js';
import { kubeconfigText } from './kubeconfig.js';

const DAY = 24 * 60 * 60 * 1000;
/** Lifetimes of certificates. They are renewed when less than a third is left. */
const CA_LIFETIME = 3650 * DAY;
const LEAF_LIFETIME = 365 * DAY;
/** Backdating of `notBefore`, for clients whose clock is behind. */
const CLOCK_SKEW = 60 * 60 * 1000;
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
  /** Writes `<data-dir>/admin.kubeconfig` (0600) for that server URL and returns its path. */
  kubeconfigPath(server: string): string;
  /** The text of that kubeconfig. */
  kubeconfig(server: string): string;
}

/** Writes a file atomically. It never has other permissions than `mode`. */
function writeFileAtomic(file: string, text: string, mode: number): void {
  const temporary = `${file}.${process.pid}.new`;
  writeFileSync(temporary, text, { mode });
  chmodSync(temporary, mode);
  renameSync(temporary, file);
}

/** The paths of a certificate and its key, both in PEM. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** Where a certificate of the server is in its data directory. */
export const certificateFiles = (dataDir: string, name: 'ca' | 'server' | 'admin'): CertificateFiles => ({
  cert: join(dataDir, 'pki', `${name}.crt`),
  key: join(dataDir, 'pki', `${name}.key`),
});

interface ValidCertificate {
  readonly certificate: X509Certificate;
  readonly pem: string;
}

/** Loads a certificate. Returns undefined if it is missing, needs renewal or does not match its key. */
function loadIfValid(files: CertificateFiles, lifetime: number, now: number): ValidCertificate | undefined {
  if (!existsSync(files.cert) || !existsSync(files.key)) return undefined;
  try {
    const pem = readFileSync(files.cert, 'utf8');
    const certificate = new X509Certificate(pem);
    const renewAt = Date.parse(certificate.validTo) - lifetime / 3;
    const matches = certificate.checkPrivateKey(createPrivateKey(readFileSync(files.key, 'utf8')));
    return matches && now < renewAt && now >= Date.parse(certificate.validFrom) ? { certificate, pem } : undefined;
  } catch {
    return undefined;
  }
}

function save(files: CertificateFiles, issued: IssuedCertificate): void {
  writeFileAtomic(files.key, issued.key, 0o600);
  writeFileAtomic(files.cert, issued.certificate, 0o644);
}

/** The names in the serving certificate: local names, service names and `added` (addresses without their zone). */
function serverNames(naming: Naming, added: readonly string[]): string[] {
  const service = naming.label('orchestrator.io').replace(/\.io$/, '');
  const services = ['', '.default', '.default.svc', '.default.svc.cluster.local'].map(suffix => service + suffix);
  const given = added
    .map(name => name.replace(/%.*/, ''))
    .filter(name => name !== '' && name !== '0.0.0.0' && name !== '::');
  return [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...services, SERVICE_ADDRESS, ...given])];
}

const coversNames = (certificate: X509Certificate, names: readonly string[]): boolean =>
  names.every(name => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined);

/** Issues a certificate. The library is loaded only here, because most starts find valid certificates. */
async function issue(request: CertificateRequest, issuer?: IssuedCertificate): Promise<IssuedCertificate> {
  return (await import('./certificate.js')).issue(request, issuer);
}

/** Loads the CA certificate, or creates it. */
async function ensureCa(files: CertificateFiles, now: number): Promise<ValidCertificate> {
  const existing = loadIfValid(files, CA_LIFETIME, now);
  if (existing) return existing;
  const issued = await issue({
    subject: { commonName: 'capstan-ca' },
    notBefore: now - CLOCK_SKEW,
    notAfter: now + CA_LIFETIME,
    use: 'ca',
  });
  save(files, issued);
  return { certificate: new X509Certificate(issued.certificate), pem: issued.certificate };
}

/**
 * Ensures a CA, a serving certificate and an administrator's client certificate under `<data-dir>/pki`. A certificate
 * is renewed if less than a third of its lifetime is left, if it lacks a required name, or if the CA has changed. Keys
 * have mode 0600.
 */
export async function ensurePki(options: PkiOptions): Promise<Pki> {
  mkdirSync(join(options.dataDir, 'pki'), { recursive: true, mode: 0o700 });
  const caFiles = certificateFiles(options.dataDir, 'ca');
  const server = certificateFiles(options.dataDir, 'server');
  const admin = certificateFiles(options.dataDir, 'admin');
  const now = options.now();
  const ca = await ensureCa(caFiles, now);
  let known: IssuedCertificate | undefined;
  // One object, so that its keys are read once.
  const issuer = (): IssuedCertificate => (known ??= { certificate: ca.pem, key: readFileSync(caFiles.key, 'utf8') });
  const isSignedByCa = (found: ValidCertificate): boolean => found.certificate.verify(ca.certificate.publicKey);
  const ensure = async (
    files: CertificateFiles,
    subject: Subject,
    use: 'server' | 'client',
    sans: readonly string[],
  ): Promise<void> => {
    const found = loadIfValid(files, LEAF_LIFETIME, now);
    if (
      found &&
      isSignedByCa(found) &&
      found.certificate.subject.includes(`CN=${subject.commonName}`) &&
      coversNames(found.certificate, sans)
    )
      return;
    const request = { subject, notBefore: now - CLOCK_SKEW, notAfter: now + LEAF_LIFETIME, use, sans };
    save(files, await issue(request, issuer()));
  };
  await ensure(server, { commonName: 'capstan' }, 'server', serverNames(options.naming, options.sans));
  const administrator = options.naming.component('orchestrator-admin');
  await ensure(admin, { commonName: administrator, organization: 'system:masters' }, 'client', []);
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
    kubeconfig,
    kubeconfigPath: url => {
      const path = join(options.dataDir, 'admin.kubeconfig');
      writeFileAtomic(path, kubeconfig(url), 0o600);
      return path;
    },
  };
}
