import { readFileSync, writeFileSync } from 'node:fs';
import { ConfigError } from '../../api/point.js';
import { readClientConfig } from '../../client/kubeconfig.js';
import type { ServerAddress } from '../../client/types.js';
import { areCertificates, isSendable, keyFault } from '../../files/kubeconfigReader.js';
import { unreadableError } from '../../files/unreadable.js';
import { type NamingName, namingOf } from '../../naming.js';
import { type KubeconfigAccess, kubeconfigText } from '../../services/pki/kubeconfig.js';
import { type ParsedArguments, parseArguments, refuseOperands } from '../arguments.js';
import { adminKubeconfigIn } from '../client/request.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';

const VERSION = 'client.authentication.orchestrator.io/v1';
const MODES = ['Never', 'IfAvailable', 'Always'];
/** The naming that plugins of kubectl use. */
const PLUGIN_NAMING: NamingName = 'kubernetes';
/** The flags that identify the client, of which one is needed. */
const KINDS = ['token-file', 'client-certificate', 'oidc-issuer-url', 'exec-command'] as const;
/** The only flags with which the administrator's kubeconfig is written. */
const OF_ADMINISTRATOR: readonly string[] = ['data-dir', 'output'];
/** The flags that need one of other flags. */
const NEEDS: readonly (readonly [flag: string, needed: readonly string[]])[] = [
  ['client-key', ['client-certificate']],
  ['client-certificate', ['client-key']],
  ['oidc-client-id', ['oidc-issuer-url']],
  ['oidc-issuer-url', ['oidc-client-id']],
  ['oidc-extra-scope', ['oidc-issuer-url']],
  ['exec-arg', ['exec-command', 'oidc-issuer-url']],
  ['exec-env', ['exec-command', 'oidc-issuer-url']],
  ['exec-interactive-mode', ['exec-command']],
  ['exec-provide-cluster-info', ['exec-command']],
  ['naming', ['exec-command']],
];

type Values = ParsedArguments['values'];

const textOf = (values: Values, name: string): string | undefined => {
  const value = values[name];
  if (value === '') throw new ConfigError(`--${name}`, 'needs a value');
  return typeof value === 'string' ? value : undefined;
};

const listOf = (values: Values, name: string): readonly string[] => {
  const value = values[name];
  return Array.isArray(value) ? (value as readonly string[]) : [];
};

function read(flag: string, file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw unreadableError(`--${flag}`, file, error);
  }
}

/** The member of `values` that must be a URL with one of these protocols. */
function urlOf(values: Values, name: string, protocols: RegExp): string | undefined {
  const given = textOf(values, name);
  if (given === undefined || (URL.canParse(given) && protocols.test(new URL(given).protocol))) return given;
  throw new ConfigError(`--${name}`, `must be a URL that begins with https://, not ${JSON.stringify(given)}`);
}

/** The server that the flags name. What they leave out comes from a kubeconfig, if one is needed or given. */
function serverOf(values: Values): Pick<KubeconfigAccess, 'server' | 'caPem' | 'serverName' | 'proxyUrl'> {
  const server = urlOf(values, 'server', /^https?:$/);
  const proxyUrl = urlOf(values, 'proxy-url', /^(https?|socks5):$/);
  const serverName = textOf(values, 'tls-server-name');
  const file = textOf(values, 'certificate-authority');
  const given = file === undefined ? undefined : read('certificate-authority', file);
  if (given !== undefined && !areCertificates(given))
    throw new ConfigError('--certificate-authority', 'must be certificates in PEM');
  const kubeconfig = textOf(values, 'kubeconfig');
  const known = server === undefined || kubeconfig !== undefined ? knownServer(values, kubeconfig) : undefined;
  const caPem = given ?? known?.ca;
  return {
    server: server ?? known!.url,
    ...(caPem === undefined ? {} : { caPem }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
  };
}

function knownServer(values: Values, kubeconfig: string | undefined): ServerAddress {
  try {
    return readClientConfig(kubeconfig ?? adminKubeconfigIn(values['data-dir'])).server;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError('--kubeconfig', `${error.message}, or name the server with --server`);
  }
}

function execOf(values: Values): object {
  const namingName = textOf(values, 'naming') ?? 'neutral';
  if (namingName !== 'neutral' && namingName !== 'kubernetes')
    throw new ConfigError('--naming', `must be neutral or kubernetes, not ${JSON.stringify(namingName)}`);
  const interactiveMode = textOf(values, 'exec-interactive-mode') ?? 'IfAvailable';
  if (!MODES.includes(interactiveMode))
    throw new ConfigError('--exec-interactive-mode', `must be ${MODES.join(', ')}, not ${interactiveMode}`);
  return execMember(namingName, values, {
    command: textOf(values, 'exec-command')!,
    args: listOf(values, 'exec-arg'),
    interactiveMode,
    provideClusterInfo: values['exec-provide-cluster-info'] === true,
  });
}

/** The plugin of kubectl that signs in at a provider in the browser. It knows only upstream's names. */
function oidcOf(values: Values): object {
  const scopes = listOf(values, 'oidc-extra-scope').map(scope => `--oidc-extra-scope=${scope}`);
  const issuer = urlOf(values, 'oidc-issuer-url', /^https:$/);
  const client = textOf(values, 'oidc-client-id');
  return execMember(PLUGIN_NAMING, values, {
    command: 'kubectl',
    args: [
      'oidc-login',
      'get-token',
      `--oidc-issuer-url=${issuer}`,
      `--oidc-client-id=${client}`,
      ...scopes,
      ...listOf(values, 'exec-arg'),
    ],
    interactiveMode: 'Never',
    installHint: 'Install the plugin oidc-login of kubectl: kubectl krew install oidc-login',
    provideClusterInfo: false,
  });
}

function execMember(naming: NamingName, values: Values, members: object): object {
  const env = listOf(values, 'exec-env').map(pair => {
    const at = pair.indexOf('=');
    if (at < 1) throw new ConfigError('--exec-env', `must be NAME=VALUE, not ${JSON.stringify(pair)}`);
    return { name: pair.slice(0, at), value: pair.slice(at + 1) };
  });
  return { apiVersion: namingOf(naming).apiVersion(VERSION), ...members, ...(env.length > 0 && { env }) };
}

/** The identity of the client. */
function userOf(values: Values): Pick<KubeconfigAccess, 'token' | 'certificatePem' | 'keyPem' | 'exec'> {
  if (values['exec-command'] !== undefined) return { exec: execOf(values) };
  if (values['oidc-issuer-url'] !== undefined) return { exec: oidcOf(values) };
  const tokenFile = textOf(values, 'token-file');
  if (tokenFile !== undefined) {
    const token = read('token-file', tokenFile).trim();
    if (!isSendable(token)) throw new ConfigError('--token-file', 'must have one token, of visible ASCII characters');
    return { token };
  }
  const certificate = read('client-certificate', textOf(values, 'client-certificate')!);
  const key = read('client-key', textOf(values, 'client-key')!);
  if (!areCertificates(certificate)) throw new ConfigError('--client-certificate', 'must be certificates in PEM');
  const fault = keyFault({ certificate, key }, '--client-certificate');
  if (fault) throw new ConfigError('--client-key', fault);
  return { certificatePem: certificate, keyPem: key };
}

function checkFlags(values: Values): void {
  const kinds = KINDS.filter(name => values[name] !== undefined).map(name => `--${name}`);
  if (kinds.length !== 1) {
    const all = KINDS.map(name => `--${name}`).join(', ');
    const given =
      kinds.length > 0 ? `, and not ${kinds.join(' and ')}` : "; without flags it writes the administrator's";
    throw new ConfigError('capstan kubeconfig', `needs one of ${all}${given}`);
  }
  for (const [name, needed] of NEEDS)
    if (values[name] !== undefined && needed.every(other => values[other] === undefined))
      throw new ConfigError(`--${name}`, `needs ${needed.map(other => `--${other}`).join(' or ')}`);
}

/** The kubeconfig that the server has written for its administrator. */
function administratorText(directory: unknown): string {
  const file = adminKubeconfigIn(directory);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      '--data-dir',
      `cannot read ${file}: ${code}; start a server with capstan serve, or name its data directory`,
    );
  }
}

/** The kubeconfig of the user that the flags name. */
function textOfUser(values: Values): string {
  checkFlags(values);
  return kubeconfigText({ ...serverOf(values), user: textOf(values, 'user') ?? 'user', ...userOf(values) });
}

/**
 * `capstan kubeconfig`: writes a kubeconfig for a token, a certificate, or a program that prints credentials; without
 * flags, the administrator's. Returns the exit code. Throws ConfigError, which names the flag.
 */
export async function kubeconfigCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('kubeconfig'));
  refuseOperands('kubeconfig', parsed);
  const { values } = parsed;
  const isOfAdministrator = Object.keys(values).every(name => OF_ADMINISTRATOR.includes(name));
  const text = isOfAdministrator ? administratorText(values['data-dir']) : textOfUser(values);
  const output = textOf(values, 'output');
  if (output === undefined) io.out(text.trimEnd());
  else write(output, text);
  return 0;
}

/** Writes a file that only its owner can read. An existing file is not replaced: it may have other contexts. */
function write(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'exists: remove it, or name another file' : `cannot be written: ${code}`;
    throw new ConfigError('--output', `${file} ${why}`);
  }
}
