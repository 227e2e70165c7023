import { readFile } from 'node:fs/promises';
import { monotonicTime } from '../../runtime/clock.js';
import type { CredentialFiles } from './serviceAddress.js';

/** A certificate and its key, in PEM. */
export interface ProxyCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** How long files are not read again, in milliseconds: renewed certificates are used after this time. */
const KEPT_MS = 30_000;

/** The certificate with which this server identifies itself to others, from its files. */
export class ProxyCredentials {
  #read: { readonly at: number; readonly certificate: Promise<ProxyCertificate> } | undefined;

  /** Without files, there is no certificate. */
  constructor(readonly files: CredentialFiles | undefined) {}

  /** The certificate. Rejects if its files cannot be read. */
  async current(): Promise<ProxyCertificate | undefined> {
    if (!this.files) return undefined;
    const now = monotonicTime();
    if (!this.#read || now - this.#read.at > KEPT_MS) this.#read = { at: now, certificate: readPair(this.files) };
    return await this.#read.certificate;
  }
}

async function readPair({ cert, key }: CredentialFiles): Promise<ProxyCertificate> {
  const [certificate, privateKey] = await Promise.all([readFile(cert, 'utf8'), readFile(key, 'utf8')]);
  return { certificate, key: privateKey };
}
