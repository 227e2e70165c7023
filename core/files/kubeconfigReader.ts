import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../api/point.js';
import { isRecord, recordAt, recordsAt, stringAt, type UnknownRecord } from '../model/record.js';
import { certificatesIn } from '../model/text/certificateBundle.js';
import { decodeYaml } from '../schema/yaml/yaml.js';
import { READABLE } from './unreadable.js';

/** A certificate and its private key in PEM. */
export interface CertificateAndKey {
  readonly certificate: string;
  readonly key: string;
}

/** Reads the parts of a kubeconfig, and records the files in which they are. Each method throws ConfigError. */
export class KubeconfigReader {
  /** The kubeconfig, and those of the files that it names that were read. */
  readonly files: string[];

  constructor(readonly file: string) {
    this.files = [file];
  }

  fail(field: string, why: string): never {
    throw new ConfigError(this.file, `${field}: ${why}`);
  }

  document(): UnknownRecord {
    try {
      const document: unknown = decodeYaml(readFileSync(this.file));
      if (isRecord(document)) return document;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const isUnreadable = typeof code === 'string';
      throw new ConfigError(
        this.file,
        isUnreadable ? `cannot be read: ${code}; ${READABLE}` : `is not YAML: ${message}`,
      );
    }
    throw new ConfigError(this.file, 'must be a kubeconfig: an object in YAML or JSON');
  }

  /** The member `member` of the item with the given name in a list. */
  named(document: UnknownRecord, list: string, member: string, name: string): UnknownRecord {
    const found = recordsAt(document, list).find(one => stringAt(one, 'name') === name);
    const value = found && recordAt(found, member);
    return (
      value ??
      this.fail(
        list,
        `there is none with the name ${JSON.stringify(name)} and a ${member}: add it, or correct the name`,
      )
    );
  }

  /** A text that is given as base64 in `member-data`, or in the file that `member` names; '' for neither. */
  data(from: UnknownRecord, member: string, path: string): string {
    const data = stringAt(from, `${member}-data`);
    if (data) return Buffer.from(data, 'base64').toString('utf8');
    const file = stringAt(from, member);
    return file ? this.text(file, `${path}.${member}`) : '';
  }

  /** The text of a file that is named relative to the kubeconfig. */
  text(name: string, path: string): string {
    const file = resolve(dirname(this.file), name);
    this.files.push(file);
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      return this.fail(path, `cannot read ${file}: ${(error as NodeJS.ErrnoException).code}; ${READABLE}`);
    }
  }

  /** The CA certificates of a cluster in PEM; '' if it has none. */
  authority(cluster: UnknownRecord): string {
    const pem = this.data(cluster, 'certificate-authority', 'cluster');
    if (pem) this.#checkCertificates(pem, 'cluster.certificate-authority');
    return pem;
  }

  /** The client certificate of a user with its key; undefined if it has neither. */
  certificate(user: UnknownRecord): CertificateAndKey | undefined {
    const certificate = this.data(user, 'client-certificate', 'user');
    const key = this.data(user, 'client-key', 'user');
    if (Boolean(certificate) !== Boolean(key)) this.fail('user', 'needs both client-certificate and client-key');
    if (!certificate) return undefined;
    this.#checkCertificates(certificate, 'user.client-certificate');
    const fault = keyFault({ certificate, key });
    if (fault) this.fail('user.client-key', fault);
    return { certificate, key };
  }

  /** The bearer token of a user, which may be in a file; '' if it has none. */
  token(user: UnknownRecord): string {
    const file = stringAt(user, 'tokenFile');
    const token = stringAt(user, 'token') || (file && this.text(file, 'user.tokenFile').trim());
    if (token && !isSendable(token)) this.fail('user.token', 'must have visible ASCII characters only');
    return token;
  }

  #checkCertificates(pem: string, path: string): void {
    if (!areCertificates(pem)) this.fail(path, 'must be certificates in PEM');
  }
}

/** Whether a token can be sent in a header: no other characters can. */
export const isSendable = (token: string): boolean => /^[!-~]+$/.test(token);

/** Whether a text contains certificates in PEM, all of which are valid. */
export function areCertificates(pem: string): boolean {
  const blocks = certificatesIn(pem);
  try {
    for (const block of blocks) new X509Certificate(block);
    return blocks.length > 0;
  } catch {
    return false;
  }
}

/**
 * The reason why a key cannot be used with its certificate, which must be valid; undefined if it can. The text contains
 * no part of the key. `certificateName`: how the user names the certificate.
 */
export function keyFault(
  { certificate, key }: CertificateAndKey,
  certificateName = 'client-certificate',
): string | undefined {
  let found: KeyObject;
  try {
    found = createPrivateKey(key);
  } catch {
    // The error of the library may repeat parts of the key.
    return 'must be a private key in PEM that is not encrypted';
  }
  // If the files are replaced one after another, they do not match for a moment.
  return new X509Certificate(certificate).checkPrivateKey(found) ? undefined : `does not belong to ${certificateName}`;
}
