import { isAbsolute, resolve, dirname } from 'node:path';
import { KubeconfigReader } from '../files/kubeconfigReader.js';
import { isAbsent, recordAt, recordsAt, stringAt, type UnknownRecord, valueAt } from '../model/record.js';
import { type NamingName, namingOf } from '../naming.js';
import type { ClientConfig, ClientCredentials, ExecPlugin, InteractiveMode, ServerAddress } from './types.js';

const GROUP = 'client.authentication.orchestrator.io';
const NAMES: readonly NamingName[] = ['neutral', 'kubernetes'];
const MODES: readonly string[] = ['Never', 'IfAvailable', 'Always'] satisfies InteractiveMode[];

/** The versions of ExecCredential, in both namings. */
export const EXEC_VERSIONS: readonly string[] = NAMES.flatMap(name =>
  ['v1', 'v1beta1'].map(version => namingOf(name).apiVersion(`${GROUP}/${version}`)),
);

/** The naming in which a plugin with this version of ExecCredential is called. */
export const namingOfVersion = (apiVersion: string): NamingName =>
  apiVersion.startsWith(`${GROUP}/`) ? 'neutral' : 'kubernetes';

/** Such texts cannot be passed to a program. The error of Node.js would repeat the text, which may be a secret. */
const NULL = 'must not have the character U+0000';

/** Members of a user that this client does not support. If it ignored them, it would act as another user. */
const UNSUPPORTED = ['auth-provider', 'username', 'password', 'as', 'as-uid', 'as-groups', 'as-user-extra'];

function serverOf(reader: KubeconfigReader, cluster: UnknownRecord): ServerAddress {
  const url = stringAt(cluster, 'server');
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    reader.fail('cluster.server', `must be a URL that begins with https://, not ${JSON.stringify(url)}`);
  const ca = reader.authority(cluster);
  const serverName = stringAt(cluster, 'tls-server-name');
  const proxy = proxyOf(reader, stringAt(cluster, 'proxy-url'));
  if (proxy && url.startsWith('http:')) reader.fail('cluster.proxy-url', 'needs a server that begins with https://');
  const skipsVerification = valueAt(cluster, 'insecure-skip-tls-verify') === true;
  if (ca && skipsVerification)
    reader.fail('cluster.insecure-skip-tls-verify', 'cannot be used with certificate-authority: omit one of them');
  return { url, skipsVerification, ...(ca && { ca }), ...(serverName && { serverName }), ...(proxy && { proxy }) };
}

function proxyOf(reader: KubeconfigReader, given: string): URL | undefined {
  if (given === '') return undefined;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    return reader.fail('cluster.proxy-url', 'must be the URL of a proxy that begins with http:// or https://');
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return reader.fail('cluster.proxy-url', 'must have %25 for each % in its user and password');
  }
  return url;
}

/** The `spec.cluster` of a plugin (spec, "ExecCredential"): the cluster of the context, in upstream's members. */
function clusterInfo(cluster: UnknownRecord, server: ServerAddress, extension: string): object {
  const found = recordsAt(cluster, 'extensions').find(one => stringAt(one, 'name') === extension);
  const config = found && valueAt(found, 'extension');
  return {
    server: server.url,
    ...(server.serverName && { 'tls-server-name': server.serverName }),
    ...(server.skipsVerification && { 'insecure-skip-tls-verify': true }),
    ...(server.ca && { 'certificate-authority-data': Buffer.from(server.ca).toString('base64') }),
    ...(server.proxy && { 'proxy-url': stringAt(cluster, 'proxy-url') }),
    ...(isAbsent(config) ? {} : { config }),
  };
}

/** The mode is required since v1. In earlier versions, a plugin could always ask if there was a terminal. */
function modeOf(reader: KubeconfigReader, exec: UnknownRecord, apiVersion: string): InteractiveMode {
  const given = stringAt(exec, 'interactiveMode');
  if (given === '' && apiVersion.endsWith('/v1beta1')) return 'IfAvailable';
  if (MODES.includes(given)) return given as InteractiveMode;
  return reader.fail('user.exec.interactiveMode', `must be ${MODES.join(', ')}, not ${JSON.stringify(given)}`);
}

function environmentOf(reader: KubeconfigReader, exec: UnknownRecord): ReadonlyMap<string, string> {
  return new Map(
    recordsAt(exec, 'env').map((one, i) => {
      const name = stringAt(one, 'name');
      if (name === '' || /[=\0]/.test(name)) reader.fail(`user.exec.env[${i}].name`, 'must be the name of a variable');
      const value = stringAt(one, 'value');
      if (value.includes('\0')) reader.fail(`user.exec.env[${i}].value`, NULL);
      return [name, value] as const;
    }),
  );
}

function argumentsOf(reader: KubeconfigReader, exec: UnknownRecord): readonly string[] {
  const args = valueAt(exec, 'args') ?? [];
  if (!Array.isArray(args) || !args.every(one => typeof one === 'string'))
    return reader.fail('user.exec.args', 'must be a list of strings');
  const at = args.findIndex(one => one.includes('\0'));
  if (at >= 0) reader.fail(`user.exec.args[${at}]`, NULL);
  return args;
}

function execOf(
  reader: KubeconfigReader,
  exec: UnknownRecord,
  cluster: UnknownRecord,
  server: ServerAddress,
): ExecPlugin {
  const apiVersion = stringAt(exec, 'apiVersion');
  if (!EXEC_VERSIONS.includes(apiVersion))
    reader.fail('user.exec.apiVersion', `must be ${EXEC_VERSIONS.join(' or ')}, not ${JSON.stringify(apiVersion)}`);
  const command = stringAt(exec, 'command');
  if (command === '') reader.fail('user.exec.command', 'is missing: set it to the program that prints the credential');
  if (command.includes('\0')) reader.fail('user.exec.command', NULL);
  const extension = `${namingOf(namingOfVersion(apiVersion)).group(GROUP)}/exec`;
  const isPath = command.includes('/') && !isAbsolute(command);
  return {
    apiVersion,
    command: isPath ? resolve(dirname(reader.file), command) : command,
    args: argumentsOf(reader, exec),
    env: environmentOf(reader, exec),
    interactiveMode: modeOf(reader, exec, apiVersion),
    installHint: stringAt(exec, 'installHint'),
    ...(valueAt(exec, 'provideClusterInfo') === true && { cluster: clusterInfo(cluster, server, extension) }),
  };
}

/** The credentials in a kubeconfig itself, or in files that it names and that may be replaced. */
function credentialsOf(reader: KubeconfigReader, user: UnknownRecord): ClientCredentials {
  const token = reader.token(user);
  return { ...reader.certificate(user), ...(token && { token }) };
}

/**
 * Reads a context of a kubeconfig, by default the current one. Throws ConfigError, which names the file and the field.
 */
export function readClientConfig(file: string, contextName?: string): ClientConfig {
  const reader = new KubeconfigReader(file);
  const document = reader.document();
  const name = contextName ?? stringAt(document, 'current-context');
  if (!name) reader.fail('current-context', 'is missing: set it to the name of a context');
  const context = reader.named(document, 'contexts', 'context', name);
  const cluster = reader.named(document, 'clusters', 'cluster', stringAt(context, 'cluster'));
  const server = serverOf(reader, cluster);
  const userName = stringAt(context, 'user');
  const user = userName ? reader.named(document, 'users', 'user', userName) : {};
  const unsupported = UNSUPPORTED.find(member => user[member] !== undefined);
  if (unsupported) reader.fail(`user.${unsupported}`, 'is not supported; use exec, a token or a client certificate');
  const exec = recordAt(user, 'exec');
  const own = credentialsOf(reader, user);
  if (!exec) {
    const mayChange = ['tokenFile', 'client-certificate', 'client-key'].some(member => stringAt(user, member) !== '');
    return { server, user: { read: () => credentialsOf(new KubeconfigReader(file), user), mayChange } };
  }
  if (own.token || own.certificate) reader.fail('user.exec', 'cannot be used with a token or a certificate: omit one');
  return { server, user: { exec: execOf(reader, exec, cluster, server) } };
}
