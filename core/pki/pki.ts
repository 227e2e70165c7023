import { createPrivateKey, X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Naming } from '../naming.js';
import type { CertificateRequest, Issued, Subject } from './certificate.js';
import { kubeconfigText } from './kubeconfig.js';

const DAY = 24 * 60 * 60 * 1000;
/** Lives of certificates made here; they are renewed when a third of the life is left. */
const CA_LIFE = 3650 * DAY;
const LEAF_LIFE = 365 * DAY;
/** Backdating of `notBefore`, for clients whose clock is behind. */
const SKEW = 60 * 60 * 1000;
/** First address of the default service network: where pods would reach the server. */
const SERVICE_ADDRESS = '10.96.0.1';

/** What the server wants to be called, and where its files are. */
export interface PkiOptions {
  readonly dataDir: string;
  /** Further DNS names and addresses: the bind address and `--tls-san`. Wildcard addresses are left out. */
  readonly sans: readonly string[];
  readonly naming: Naming;
  readonly now: () => number;
}

/** Files under `<data-dir>/pki` that the server and its administrator use. */
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

/** Writes a file whole or not at all; `mode` holds from the first byte on. */
function writeWhole(file: string, text: string, mode: number): void {
  const temporary = `${file}.${process.pid}.new`;
  writeFileSync(temporary, text, { mode });
  chmodSync(temporary, mode);
  renameSync(temporary, file);
}

interface Files {
  readonly cert: string;
  readonly key: string;
}

interface Usable {
  readonly certificate: X509Certificate;
  readonly pem: string;
}

/** The certificate in these files if it needs no renewal and its key belongs to it. */
function usable(files: Files, life: number, now: number): Usable | undefined {
  if (!existsSync(files.cert) || !existsSync(files.key)) return undefined;
  try {
    const pem = readFileSync(files.cert, 'utf8');
    const certificate = new X509Certificate(pem);
    const renewAt = Date.parse(certificate.validTo) - life / 3;
    const matches = certificate.checkPrivateKey(createPrivateKey(readFileSync(files.key, 'utf8')));
    return matches && now < renewAt && now >= Date.parse(certificate.validFrom) ? { certificate, pem } : undefined;
  } catch {
    return undefined;
  }
}

function save(files: Files, made: Issued): void {
  writeWhole(files.key, made.key, 0o600);
  writeWhole(files.cert, made.certificate, 0o644);
}

/**
 * The names a server answers to: everything local, its service names, and what the operator adds; an address without
 * its zone.
 */
export function serverNames(naming: Naming, added: readonly string[]): string[] {
  const service = naming.label('orchestrator.io').replace(/\.io$/, '');
  const services = ['', '.default', '.default.svc', '.default.svc.cluster.local'].map(suffix => service + suffix);
  const given = added
    .map(name => name.replace(/%.*/, ''))
    .filter(name => name !== '' && name !== '0.0.0.0' && name !== '::');
  return [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...services, SERVICE_ADDRESS, ...given])];
}

const covers = (certificate: X509Certificate, names: readonly string[]): boolean =>
  names.every(name => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined);

/**
 * Signs a certificate. The library for that is loaded only here: a start that finds all its certificates does without
 * it.
 */
async function issue(request: CertificateRequest, issuer?: Issued): Promise<Issued> {
  return (await import('./certificate.js')).issue(request, issuer);
}

/** The certificate of the CA, made if it is not there. */
async function authority(files: Files, now: number): Promise<Usable> {
  const present = usable(files, CA_LIFE, now);
  if (present) return present;
  const made = await issue({
    subject: { commonName: 'capstan-ca' },
    notBefore: now - SKEW,
    notAfter: now + CA_LIFE,
    use: 'ca',
  });
  save(files, made);
  return { certificate: new X509Certificate(made.certificate), pem: made.certificate };
}

/**
 * Makes, once, a CA, a serving certificate and an administrator's client certificate under `<data-dir>/pki`, and renews
 * each when a third of its life is left, when its names no longer cover what is asked for, or when the CA changed.
 * Private files have mode 0600.
 */
export async function ensurePki(options: PkiOptions): Promise<Pki> {
  const directory = join(options.dataDir, 'pki');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const filesOf = (name: string): Files => ({
    cert: join(directory, `${name}.crt`),
    key: join(directory, `${name}.key`),
  });
  const [caFiles, server, admin] = [filesOf('ca'), filesOf('server'), filesOf('admin')];
  const now = options.now();
  const ca = await authority(caFiles, now);
  const bySameCa = (found: Usable): boolean => found.certificate.verify(ca.certificate.publicKey);
  const ensure = async (
    files: Files,
    subject: Subject,
    use: 'server' | 'client',
    sans: readonly string[],
  ): Promise<void> => {
    const found = usable(files, LEAF_LIFE, now);
    if (
      found &&
      bySameCa(found) &&
      found.certificate.subject.includes(`CN=${subject.commonName}`) &&
      covers(found.certificate, sans)
    )
      return;
    const request = { subject, notBefore: now - SKEW, notAfter: now + LEAF_LIFE, use, sans };
    save(files, await issue(request, { certificate: ca.pem, key: readFileSync(caFiles.key, 'utf8') }));
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
      writeWhole(path, kubeconfig(url), 0o600);
      return path;
    },
  };
}
