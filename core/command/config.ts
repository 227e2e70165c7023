import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../api/point.js';
import { parseYamlDocument } from '../model/text/yamlDocument.js';
import { unreadableError } from '../files/unreadable.js';
import { YAML_ALIASES } from '../limits.js';
import { resolveModule } from '../plugin/load/resolve.js';
import { checkPluginUse, type PluginUse } from '../plugin/settings.js';
import { DEFAULTS } from '../server/settings.js';
import { checkEtcd } from '../server/etcd.js';
import type { Settings } from '../settings/settings.js';
import { type FlagRules, parseFlags } from './flags.js';
import { isLoopbackHost } from '../settings/address.js';
import { adviceFor, fileKeyOf } from '../settings/given.js';
import { configVersionOf } from './configVersion.js';
import { type Option, OPTIONS } from './options.js';
import { duration } from '../settings/values.js';

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Parses a plugin. Packages are looked for from the directory of the configuration file, then the working directory.
 */
function parsePlugin(value: unknown, path: string, directory: string): PluginUse {
  const given = isMap(value) && value['timeout'] !== undefined ? value['timeout'] : undefined;
  const timeout = given === undefined ? undefined : duration(given, `${path}.timeout`);
  const checked = checkPluginUse(timeout === undefined ? value : { ...(value as object), timeout }, path, given);
  return { ...checked, use: resolveModule(checked.use, [directory, process.cwd()], path) };
}

function parsePlugins(value: unknown, directory: string): readonly PluginUse[] {
  if (!Array.isArray(value)) throw new ConfigError('plugins', 'must be a list of { use, config }');
  return value.map((item, i) => parsePlugin(item, `plugins[${i}]`, directory));
}

/** The error for an unknown setting in a file. The name may be the one that programs use. */
function unknownSettingError(key: string, options: ReadonlyMap<string, Option>): ConfigError {
  const [own] = [...options].find(([, option]) => option.setting === key || fileKeyOf(option) === key) ?? [];
  const known = [...options.keys(), 'plugins'];
  const advice = own ? `did you mean ${own}?` : adviceFor(key, known, 'they are named like the flags, in camelCase');
  return new ConfigError(key, `unknown setting; ${advice}`);
}

/**
 * Parses a configuration file in `directory`. `note` gets the warning of a deprecated version. Throws ConfigError with
 * the path of a bad field.
 */
export function parseConfig(
  yaml: string,
  directory: string,
  note: (line: string) => void = () => undefined,
): Partial<Settings> {
  const document = parseYamlDocument(yaml);
  const [error] = document.errors;
  if (error?.code === 'MULTIPLE_DOCS')
    throw new ConfigError('--config', 'has several documents: it must be one mapping of settings');
  if (error) throw new ConfigError('--config', error.message.split('\n')[0] ?? 'is not YAML');
  const written: unknown = document.toJS({ maxAliasCount: YAML_ALIASES });
  if (written === null || written === undefined) return {};
  if (!isMap(written)) throw new ConfigError('--config', 'must be a YAML mapping of settings');
  const { version, content } = configVersionOf(written);
  if (version.warning !== undefined) note(version.warning);
  const options = new Map(Array.from(OPTIONS.values(), option => [version.keyOf(option), option]));
  const settings = new Map<string, unknown>();
  for (const [key, value] of Object.entries(content)) {
    const option = options.get(key);
    if (key === 'plugins') settings.set(key, parsePlugins(value, directory));
    else if (option) settings.set(option.setting, option.read(value, key));
    else throw unknownSettingError(key, options);
  }
  return Object.fromEntries(settings) as Partial<Settings>;
}

function readConfig(file: string, note: (line: string) => void): Partial<Settings> {
  let yaml: string;
  try {
    yaml = readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadableError('--config', file, error);
  }
  return parseConfig(yaml, dirname(resolve(file)), note);
}

function checkFileExists(flag: string, file: string | undefined): void {
  if (file === undefined) return;
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw new ConfigError(flag, `there is no file ${file}`);
  if (found.isDirectory()) throw new ConfigError(flag, `${file} is a directory: name a file`);
}

/** The settings that an authorization file replaces, with their flags. */
const MODE_SETTINGS = {
  authorizationMode: '--authorization-mode',
  authorizationWebhookConfigFile: '--authorization-webhook-config-file',
  authorizationWebhookVersion: '--authorization-webhook-version',
  authorizationWebhookCacheAuthorizedTtl: '--authorization-webhook-cache-authorized-ttl',
  authorizationWebhookCacheUnauthorizedTtl: '--authorization-webhook-cache-unauthorized-ttl',
} as const;

/** Throws ConfigError for settings that are given together with an authorization file, which replaces them. */
function checkAuthorizationStyle(given: Partial<Settings>): Partial<Settings> {
  const [, flag] = Object.entries(MODE_SETTINGS).find(([name]) => given[name as keyof Settings] !== undefined) ?? [];
  if (given.authorizationConfig !== undefined && flag !== undefined)
    throw new ConfigError('--authorization-config', `cannot be used with ${flag}: write what it says into the file`);
  return given;
}

/** Returns the settings. Throws ConfigError for settings that contradict each other and for missing files. */
function checkSettings(settings: Settings): Settings {
  const { tlsCertFile, authorizationMode } = settings;
  if (tlsCertFile !== undefined && settings.tlsSan.length > 0)
    throw new ConfigError(
      '--tls-san',
      'names are for the certificate of the server itself: omit it or --tls-cert-file',
    );
  if (isIP(settings.bindAddress) === 0 && settings.bindAddress !== 'localhost')
    throw new ConfigError(
      '--bind-address',
      `must be an IP address or localhost, not ${JSON.stringify(settings.bindAddress)}`,
    );
  if (settings.historyRetention <= 0)
    throw new ConfigError('--history', 'must be longer than 0: watches resume from the history');
  if (settings.httpPort !== undefined && !isLoopbackHost(settings.bindAddress))
    throw new ConfigError(
      '--http-port',
      `plain HTTP is for loopback addresses only: omit it, or use --bind-address=127.0.0.1`,
    );
  if (settings.httpPort !== undefined && settings.httpPort !== 0 && settings.httpPort === settings.port)
    throw new ConfigError('--http-port', 'is the same as --secure-port; choose another');
  if (new Set(authorizationMode).size !== authorizationMode.length)
    throw new ConfigError('--authorization-mode', 'names a mode twice');
  checkFileExists('--encryption-provider-config', settings.encryptionProviderConfig);
  checkFileExists('--client-ca-file', settings.clientCaFile);
  checkFileExists('--token-auth-file', settings.tokenAuthFile);
  return checkEtcd(settings);
}

/** The defaults of a program, which may depend on the given settings. */
type DefaultsOf = (given: Partial<Settings>) => Partial<Settings>;

/** The differences between the settings of a program and those of `capstan serve`. */
export interface SettingsRules {
  readonly flags?: FlagRules;
  readonly defaultsOf?: DefaultsOf;
}

/**
 * The settings of a server: defaults, overridden by the configuration file, overridden by flags. `note` gets a line for
 * each flag that has no effect. `rules` are those of the program.
 */
export function loadSettings(
  args: readonly string[],
  note: (line: string) => void = () => undefined,
  { flags: flagRules, defaultsOf = () => ({}) }: SettingsRules = {},
): Settings {
  const flags = parseFlags(args, flagRules);
  for (const line of flags.notes) note(line);
  const file = flags.config === undefined ? {} : readConfig(flags.config, note);
  const given = checkAuthorizationStyle({ ...file, ...flags.settings });
  return checkSettings({ ...DEFAULTS, ...defaultsOf(given), ...given });
}
