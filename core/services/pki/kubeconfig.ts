/** Address and credentials for a kubeconfig: a token, a certificate and its key, or a program that prints them. */
export interface KubeconfigAccess {
  readonly server: string;
  readonly user: string;
  readonly caPem?: string;
  readonly certificatePem?: string;
  readonly keyPem?: string;
  readonly token?: string;
  /** The member `exec` of the user. */
  readonly exec?: object;
  /** The name in the server's certificate, if it is not the host. */
  readonly serverName?: string;
  /** The proxy through which the server is reached. */
  readonly proxyUrl?: string;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A kubeconfig with one cluster, one user and one context. It is JSON, which is a subset of YAML. */
export function kubeconfigText(access: KubeconfigAccess): string {
  const cluster = {
    server: access.server,
    ...(access.caPem === undefined ? {} : { 'certificate-authority-data': base64(access.caPem) }),
    ...(access.serverName === undefined ? {} : { 'tls-server-name': access.serverName }),
    ...(access.proxyUrl === undefined ? {} : { 'proxy-url': access.proxyUrl }),
  };
  const user = {
    ...(access.certificatePem === undefined ? {} : { 'client-certificate-data': base64(access.certificatePem) }),
    ...(access.keyPem === undefined ? {} : { 'client-key-data': base64(access.keyPem) }),
    ...(access.token === undefined ? {} : { token: access.token }),
    ...(access.exec === undefined ? {} : { exec: access.exec }),
  };
  const name = 'capstan';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster }],
    users: [{ name: access.user, user }],
    contexts: [{ name, context: { cluster: name, user: access.user } }],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
