import { readFile } from 'node:fs/promises';
import type { CertificatePair } from '../../files/certificateFiles.js';
import { areCertificates, keyFault } from '../../files/kubeconfigReader.js';
import { monotonicTime } from '../../runtime/clock.js';

/** A certificate and its key, in PEM. */
export interface ProxyCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** How long files are not read again, in milliseconds: renewed certificates are used after this time. */
const KEPT_MS = 30_000;

/**
 * The certificate with which this server identifies itself to others, from its files. If these are replaced one after
 * the other, or are half written, the previous certificate stays in use.
 */
export class ProxyCredentials {
  #last: ProxyCertificate | undefined;
  #read: { readonly at: number; readonly certificate: Promise<ProxyCertificate> } | undefined;

  /** Without files, there is no certificate. */
  constructor(readonly files: CertificatePair | undefined) {}

  /** The certificate. Rejects if its files cannot be used, and could not be before. */
  async current(): Promise<ProxyCertificate | undefined> {
    if (!this.files) return undefined;
    const now = monotonicTime();
    if (!this.#read || now - this.#read.at > KEPT_MS) this.#read = { at: now, certificate: this.#renewed(this.files) };
    return await this.#read.certificate;
  }

  async #renewed(files: CertificatePair): Promise<ProxyCertificate> {
    try {
      return (this.#last = await readPair(files));
    } catch (error) {
      if (this.#last) return this.#last;
      // The files may be written now.
      this.#read = undefined;
      throw error;
    }
  }
}

async function readPair({ cert, key }: CertificatePair): Promise<ProxyCertificate> {
  const [certificate, privateKey] = await Promise.all([readFile(cert, 'utf8'), readFile(key, 'utf8')]);
  if (!areCertificates(certificate)) throw new Error(`${cert} must have certificates in PEM`);
  const fault = keyFault({ certificate, key: privateKey }, `the certificate in ${cert}`);
  if (fault !== undefined) throw new Error(`${key} ${fault}`);
  return { certificate, key: privateKey };
}
