import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../../api/point.js';
import { isRecord, recordAt, recordsAt, stringAt, type UnknownRecord } from '../../model/record.js';
import { decodeYaml } from '../../schema/yaml/yaml.js';
import { certificatesIn } from '../../model/text/certificateBundle.js';
import type { Credentials, Endpoint } from './client.js';

/** A webhook that a kubeconfig file names. */
export interface WebhookFile {
  readonly endpoint: Endpoint;
  /** The files that this was read from: the kubeconfig, certificates, key, token. */
  readonly files: readonly string[];
}

/** What the kubeconfig of a webhook may say. */
export interface WebhookFileRules {
  /** Whether its server may be reached without TLS. */
  readonly allowsHttp: boolean;
}

/** Reads the parts of a kubeconfig, and notes the files that they are in. */
class Reader {
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
      throw new ConfigError(this.file, `cannot be read: ${(error as Error).message}`);
    }
    throw new ConfigError(this.file, 'must be a kubeconfig');
  }

  /** The member of the item of a list that has a name. */
  named(document: UnknownRecord, list: string, member: string, name: string): UnknownRecord {
    const found = recordsAt(document, list).find(one => stringAt(one, 'name') === name);
    const value = found && recordAt(found, member);
    return value ?? this.fail(list, `there is none with the name ${JSON.stringify(name)} and a ${member}`);
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
      return this.fail(path, `cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`);
    }
  }
}

function checkCertificates(reader: Reader, pem: string, path: string): void {
  const blocks = certificatesIn(pem);
  try {
    if (blocks.length > 0) return void blocks.map(block => new X509Certificate(block));
  } catch {
    // Named below.
  }
  reader.fail(path, 'must be certificates in PEM');
}

/** Members of a user that need what the server does not have. */
const UNSUPPORTED = ['exec', 'auth-provider', 'as', 'as-groups', 'as-uid', 'as-user-extra'];

function credentialsOf(reader: Reader, user: UnknownRecord): Credentials {
  const unsupported = UNSUPPORTED.find(name => user[name] !== undefined);
  if (unsupported) reader.fail(`user.${unsupported}`, 'is not supported; use a client certificate or a token');
  const certificate = reader.data(user, 'client-certificate', 'user');
  const key = reader.data(user, 'client-key', 'user');
  if (Boolean(certificate) !== Boolean(key)) reader.fail('user', 'needs both client-certificate and client-key');
  if (certificate) checkCertificates(reader, certificate, 'user.client-certificate');
  if (key) checkKey(reader, key, certificate);
  const tokenFile = stringAt(user, 'tokenFile');
  const token = stringAt(user, 'token') || (tokenFile && reader.text(tokenFile, 'user.tokenFile').trim());
  // Other characters cannot be sent in a header.
  if (token && !/^[!-~]+$/.test(token)) reader.fail('user.token', 'must have visible ASCII characters only');
  const [username, password] = [stringAt(user, 'username'), stringAt(user, 'password')];
  return {
    ...(certificate ? { certificate, key } : {}),
    ...(token ? { token } : {}),
    ...(username ? { username, password } : {}),
  };
}

function checkKey(reader: Reader, pem: string, certificate: string): void {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The error of the library may repeat parts of the key.
    reader.fail('user.client-key', 'must be a private key in PEM that is not encrypted');
  }
  // Files that are replaced one after the other do not belong together for a moment.
  if (!new X509Certificate(certificate).checkPrivateKey(key))
    reader.fail('user.client-key', 'does not belong to client-certificate');
}

function urlOf(reader: Reader, cluster: UnknownRecord, allowsHttp: boolean): string {
  const server = stringAt(cluster, 'server');
  if (!URL.canParse(server)) reader.fail('cluster.server', `must be a URL, not ${JSON.stringify(server)}`);
  const { protocol, search, hash, username } = new URL(server);
  if (protocol !== 'https:' && !(allowsHttp && protocol === 'http:'))
    reader.fail('cluster.server', `must begin with https://, not ${JSON.stringify(server)}`);
  if (search || hash || username) reader.fail('cluster.server', 'must have neither parameters, a fragment nor a user');
  return server;
}

/**
 * Reads the kubeconfig of a webhook: its current context is the webhook, and how the server identifies itself to it.
 * Throws ConfigError, which names the file and the field.
 */
export function readWebhookFile(file: string, { allowsHttp }: WebhookFileRules): WebhookFile {
  const reader = new Reader(file);
  const document = reader.document();
  const current = stringAt(document, 'current-context');
  if (!current) reader.fail('current-context', 'is missing');
  const context = reader.named(document, 'contexts', 'context', current);
  const cluster = reader.named(document, 'clusters', 'cluster', stringAt(context, 'cluster'));
  const userName = stringAt(context, 'user');
  const credentials = userName ? credentialsOf(reader, reader.named(document, 'users', 'user', userName)) : {};
  if (cluster['proxy-url'] !== undefined) reader.fail('cluster.proxy-url', 'is not supported; omit it');
  const ca = reader.data(cluster, 'certificate-authority', 'cluster');
  if (ca) checkCertificates(reader, ca, 'cluster.certificate-authority');
  const skipsVerification = cluster['insecure-skip-tls-verify'] === true;
  if (ca && skipsVerification)
    reader.fail('cluster.insecure-skip-tls-verify', 'cannot be used with certificate-authority: omit one of them');
  const serverName = stringAt(cluster, 'tls-server-name');
  return {
    endpoint: {
      url: urlOf(reader, cluster, allowsHttp),
      ...(ca ? { ca } : {}),
      ...(serverName ? { serverName } : {}),
      ...(skipsVerification ? { skipsVerification } : {}),
      credentials,
    },
    files: reader.files,
  };
}
