import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../api/point.js';
import { makeDirectories } from '../../files/directories.js';
import { RELEASE } from '../../release.js';
import { onlyPlugins } from '../../server/admission/plugins.js';
import type { Settings } from '../../settings/settings.js';
import { names } from '../../settings/values.js';
import type { SettingsRules } from '../config.js';
import { type FlagRules, parseFlags } from '../flags.js';
import { type Io, serve } from '../serve.js';
import { upstreamHelp } from './help.js';

/**
 * The program with the name of the upstream server, for tools that start that server themselves. It has upstream's
 * flags, and upstream's defaults where they differ from those of `capstan serve`.
 */

const FLAGS: FlagRules = { own: ['cert-dir', 'admission-control'], lastWins: true, emptyIsNone: true };

/** Upstream's defaults of flags, where they differ from `capstan serve`. */
const DEFAULTS = {
  naming: 'kubernetes',
  bindAddress: '0.0.0.0',
  controllers: [],
  authorizationMode: ['AlwaysAllow'],
} satisfies Partial<Settings>;

/** The directory in which upstream stores the certificate that it creates. */
const CERT_DIR = '/var/run/kubernetes';

/** The serving certificate in a directory of certificates, under the names that upstream gives it. */
const servingPair = (directory: string): readonly [certificate: string, key: string] => [
  join(directory, 'apiserver.crt'),
  join(directory, 'apiserver.key'),
];

const dataDirOf = (certDir: string): string => join(certDir, 'capstan');

/** Throws ConfigError if settings are missing without which upstream does not start, or if it would refuse them. */
function checkGiven({ etcdServers, storage, port }: Partial<Settings>): void {
  if (etcdServers === undefined && storage === undefined)
    throw new ConfigError('--etcd-servers', 'must be specified; --storage-backend=rocksdb needs no etcd');
  if (port === 0)
    throw new ConfigError('--secure-port', '0 must be between 1 and 65535, inclusive. It cannot be turned off with 0');
}

/** The settings of upstream without flags. */
function defaultsOf(certDir: string, given: Partial<Settings>): Partial<Settings> {
  checkGiven(given);
  const [certificate, key] = servingPair(certDir);
  const isThere = given.tlsCertFile === undefined && existsSync(certificate) && existsSync(key);
  const { authorizationMode, ...others } = DEFAULTS;
  return {
    ...others,
    dataDir: dataDirOf(certDir),
    ...(given.authorizationConfig === undefined ? { authorizationMode } : {}),
    ...(given.etcdServers === undefined ? {} : { storage: 'etcd' }),
    ...(isThere ? { tlsCertFile: certificate, tlsPrivateKeyFile: key } : {}),
  };
}

/**
 * Writes the certificate that the server has created, with its CA, to the place where clients of upstream look for it.
 */
function publishCertificate(certDir: string, { dataDir, tlsCertFile }: Settings): void {
  if (tlsCertFile !== undefined) return;
  const [certificate, key] = servingPair(certDir);
  const pki = join(dataDir, 'pki');
  try {
    writeFileSync(certificate, ['server.crt', 'ca.crt'].map(name => readFileSync(join(pki, name), 'utf8')).join(''));
    copyFileSync(join(pki, 'server.key'), key);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new ConfigError('--cert-dir', `cannot write the serving certificate into ${certDir} (${code})`);
  }
}

/** Upstream's warning about the only deprecated flag of its release 1.32. */
const ADMISSION_WARNING =
  'Flag --admission-control has been deprecated, Use --enable-admission-plugins or --disable-admission-plugins instead. ' +
  'Will be removed in a future version.';

/** `--admission-control` of old releases: exactly these plugins are on. */
function admissionFlags(lists: readonly string[]): string[] {
  if (lists.length === 0) return [];
  const { enabled, disabled } = onlyPlugins(lists.flatMap(list => names(list, '--admission-control')));
  return [`--enable-admission-plugins=${enabled.join(',')}`, `--disable-admission-plugins=${disabled.join(',')}`];
}

/** A command line of upstream, translated for `serve`, which has other defaults. */
interface Program {
  readonly args: readonly string[];
  readonly certDir: string;
  readonly rules: SettingsRules;
  /** Warnings about deprecated flags; none with `--no-deprecation` of Node.js. */
  readonly warnings: readonly string[];
}

/** Reads a command line of upstream. Throws ConfigError for bad flags. */
export function programOf(args: readonly string[]): Program {
  const { own } = parseFlags(args, FLAGS);
  const certDir = own.get('cert-dir')?.at(-1) ?? CERT_DIR;
  return {
    args: [...args, ...admissionFlags(own.get('admission-control') ?? [])],
    certDir,
    rules: { flags: FLAGS, defaultsOf: given => defaultsOf(certDir, given) },
    warnings: own.has('admission-control') && !process.noDeprecation ? [ADMISSION_WARNING] : [],
  };
}

/** Runs the server with the name and flags of upstream's. Returns the exit code. Throws ConfigError for bad flags. */
export async function kubeApiserver(args: readonly string[], io: Io): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    io.out(upstreamHelp({ ...DEFAULTS, dataDir: dataDirOf(CERT_DIR) }).trimEnd());
    return 0;
  }
  if (args.some(argument => /^--version(?:=|$)/.test(argument))) {
    io.out(`Kubernetes v${RELEASE.major}.${RELEASE.minor}.${RELEASE.patch}`);
    return 0;
  }
  const { args: flags, certDir, rules, warnings } = programOf(args);
  for (const warning of warnings) io.err(warning);
  makeDirectories(certDir, '--cert-dir');
  return await serve(flags, io, { ...rules, started: settings => publishCertificate(certDir, settings) });
}
