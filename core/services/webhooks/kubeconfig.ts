import { KubeconfigReader } from '../../files/kubeconfigReader.js';
import { stringAt, type UnknownRecord } from '../../model/record.js';
import type { Credentials, Endpoint } from './connections.js';

/** A webhook that a kubeconfig file names. */
export interface WebhookFile {
  readonly endpoint: Endpoint;
  /** The files that this was read from: the kubeconfig, certificates, key, token. */
  readonly files: readonly string[];
}

/** The members that the kubeconfig of a webhook may have. */
export interface WebhookFileRules {
  /** Whether its server may be reached without TLS. */
  readonly allowsHttp: boolean;
}

/** Members of a user that the server does not support. */
const UNSUPPORTED = ['exec', 'auth-provider', 'as', 'as-groups', 'as-uid', 'as-user-extra'];

/** The credentials of a user of a kubeconfig. Throws ConfigError for a user with unsupported members. */
export function credentialsOf(reader: KubeconfigReader, user: UnknownRecord): Credentials {
  const unsupported = UNSUPPORTED.find(name => user[name] !== undefined);
  if (unsupported) reader.fail(`user.${unsupported}`, 'is not supported; use a client certificate or a token');
  const token = reader.token(user);
  const [username, password] = [stringAt(user, 'username'), stringAt(user, 'password')];
  return {
    ...reader.certificate(user),
    ...(token ? { token } : {}),
    ...(username ? { username, password } : {}),
  };
}

function urlOf(reader: KubeconfigReader, cluster: UnknownRecord, allowsHttp: boolean): string {
  const server = stringAt(cluster, 'server');
  if (!URL.canParse(server)) reader.fail('cluster.server', `must be a URL, not ${JSON.stringify(server)}`);
  const { protocol, search, hash, username } = new URL(server);
  if (protocol !== 'https:' && !(allowsHttp && protocol === 'http:'))
    reader.fail('cluster.server', `must begin with https://, not ${JSON.stringify(server)}`);
  if (search || hash || username) reader.fail('cluster.server', 'must have neither parameters, a fragment nor a user');
  return server;
}

/**
 * Reads the kubeconfig of a webhook: its current context names the webhook, and the credentials of the server for it,
 * which are sent over TLS only. Throws ConfigError, which names the file and the field.
 */
export function readWebhookFile(file: string, { allowsHttp }: WebhookFileRules): WebhookFile {
  const reader = new KubeconfigReader(file);
  const document = reader.document();
  const current = stringAt(document, 'current-context');
  if (!current) reader.fail('current-context', 'is missing: set it to the name of a context');
  const context = reader.named(document, 'contexts', 'context', current);
  const cluster = reader.named(document, 'clusters', 'cluster', stringAt(context, 'cluster'));
  const url = urlOf(reader, cluster, allowsHttp);
  const userName = stringAt(context, 'user');
  const user = userName ? reader.named(document, 'users', 'user', userName) : undefined;
  // Without TLS, others could read them. Upstream's clients do not send them then.
  const credentials = user && url.startsWith('https:') ? credentialsOf(reader, user) : {};
  if (cluster['proxy-url'] !== undefined) reader.fail('cluster.proxy-url', 'is not supported; omit it');
  const ca = reader.authority(cluster);
  const skipsVerification = cluster['insecure-skip-tls-verify'] === true;
  if (ca && skipsVerification)
    reader.fail('cluster.insecure-skip-tls-verify', 'cannot be used with certificate-authority: omit one of them');
  const serverName = stringAt(cluster, 'tls-server-name');
  return {
    endpoint: {
      url,
      ...(ca ? { ca } : {}),
      ...(serverName ? { serverName } : {}),
      ...(skipsVerification ? { skipsVerification } : {}),
      credentials,
    },
    files: reader.files,
  };
}
