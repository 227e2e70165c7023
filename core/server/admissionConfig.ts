import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../api/point.js';
import { isAbsent, isRecord, stringAt, type UnknownRecord } from '../model/record.js';
import { groupSpellings } from '../naming.js';
import { decodeYaml } from '../schema/yaml/yaml.js';
import type { Settings } from '../settings/settings.js';

const FLAG = '--admission-control-config-file';

/** Where the configuration of a plugin is, as errors name it. */
export const placeOf = (file: string, name: string): string => `${FLAG}: ${file}: the configuration of ${name}`;

/** The entry of a file about a plugin. */
interface PluginConfig {
  readonly config: UnknownRecord;
  readonly file: string;
}

/** The configuration of the admission plugins. */
interface AdmissionConfig {
  /** By upstream's name of the plugin. */
  readonly plugins: ReadonlyMap<string, PluginConfig>;
  /** The kubeconfig with the credentials for webhooks, by the name of the plugin. */
  readonly kubeConfigFiles: ReadonlyMap<string, string>;
  /** URLs of services. */
  readonly services: { readonly [service: string]: string };
}

/** The URLs of services of webhooks. */
export const webhookServices = ({ webhookResolve }: Settings): AdmissionConfig['services'] =>
  Object.fromEntries(
    webhookResolve.map(pair => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at < 0 ? pair.length : at), at < 0 ? '' : pair.slice(at + 1)];
    }),
  );

/**
 * The configuration of the admission plugins, from the settings and their file. `known` has the names of all plugins.
 * Throws ConfigError.
 */
export function admissionConfig(settings: Settings, known: ReadonlySet<string>): AdmissionConfig {
  const { admissionControlConfigFile: file } = settings;
  const services = webhookServices(settings);
  if (file === undefined) return { services, plugins: new Map(), kubeConfigFiles: new Map() };
  const plugins = configurationsIn(file, known);
  const kubeConfigFiles = [...plugins]
    .filter(([name]) => name.endsWith('AdmissionWebhook'))
    .map(([name, { config, file: own }]) => [name, kubeConfigOf(own, name, config)] as const)
    .filter(([, path]) => path !== '');
  return { services, plugins, kubeConfigFiles: new Map(kubeConfigFiles) };
}

const VERSIONS = ['v1', 'v1alpha1'];

/** Makes an error about a member of a file. */
type Refuse = (path: string, why: string) => ConfigError;

/** Throws for an object that is not of a version of upstream's configuration of servers. */
function checkVersion({ apiVersion }: UnknownRecord, refuse: Refuse): void {
  const accepted = groupSpellings('apiserver.config.orchestrator.io').flatMap(group =>
    VERSIONS.map(version => `${group}/${version}`),
  );
  if (!accepted.includes(String(apiVersion))) throw refuse('apiVersion', `must be one of ${accepted.join(', ')}`);
}

/** The configurations in an AdmissionConfiguration, or in the files that it names, by plugin. Throws ConfigError. */
function configurationsIn(file: string, known: ReadonlySet<string>): Map<string, PluginConfig> {
  const document = readDocument(file);
  const refuse: Refuse = (path, why) => new ConfigError(FLAG, `${file}: ${path} ${why}`);
  if (document['kind'] !== 'AdmissionConfiguration') throw refuse('kind', 'must be AdmissionConfiguration');
  checkVersion(document, refuse);
  refuseUnknown(document, ['apiVersion', 'kind', 'plugins'], '', refuse);
  const plugins = document['plugins'] ?? [];
  if (!Array.isArray(plugins)) throw refuse('plugins', 'must be a list');
  const found = new Map<string, PluginConfig>();
  for (const [i, plugin] of plugins.entries()) {
    const at = `plugins[${i}]`;
    if (!isRecord(plugin)) throw refuse(at, 'must be an object');
    refuseUnknown(plugin, ['name', 'path', 'configuration'], `${at}.`, refuse);
    const { name, path = '', configuration } = plugin;
    if (typeof name !== 'string' || !known.has(name))
      throw refuse(`${at}.name`, `is ${JSON.stringify(name)}, which is no admission plugin`);
    if (found.has(name)) throw refuse(`${at}.name`, `is ${JSON.stringify(name)} a second time: remove one of them`);
    if (typeof path !== 'string') throw refuse(`${at}.path`, 'must be a string');
    if (!isAbsent(configuration) && !isRecord(configuration)) throw refuse(`${at}.configuration`, 'must be an object');
    if (path !== '' && configuration) throw refuse(at, 'must have either path or configuration');
    const ownFile = resolve(dirname(file), path);
    if (configuration) found.set(name, { config: configuration, file });
    else if (path !== '') found.set(name, { config: readDocument(ownFile), file: ownFile });
  }
  return found;
}

/** Throws for members that are not in `known`. `prefix` is the path of the object. */
function refuseUnknown(object: UnknownRecord, known: readonly string[], prefix: string, refuse: Refuse): void {
  const unknown = Object.keys(object).find(key => !known.includes(key));
  if (unknown !== undefined) throw refuse(prefix + unknown, `is an unknown field: use one of ${known.join(', ')}`);
}

const WEBHOOK_KINDS: readonly unknown[] = ['WebhookAdmissionConfiguration', 'WebhookAdmission'];

/**
 * The path of the kubeconfig that the configuration of webhooks names, relative to its file; '' if it names none.
 * Throws ConfigError.
 */
function kubeConfigOf(file: string, name: string, config: UnknownRecord): string {
  const refuse: Refuse = (path, why) => new ConfigError(placeOf(file, name), `${path} ${why}`);
  const { kind, apiVersion } = config;
  if (kind !== undefined && !WEBHOOK_KINDS.includes(kind))
    throw refuse('kind', `must be one of ${WEBHOOK_KINDS.join(', ')}`);
  if (apiVersion !== undefined) checkVersion(config, refuse);
  refuseUnknown(config, ['apiVersion', 'kind', 'kubeConfigFile', 'kubeConfig'], '', refuse);
  const path = stringAt(config, 'kubeConfigFile') || stringAt(config, 'kubeConfig');
  return path && resolve(dirname(file), path);
}

function readDocument(file: string): UnknownRecord {
  try {
    const document: unknown = decodeYaml(readFileSync(file));
    if (isRecord(document)) return document;
  } catch (error) {
    throw new ConfigError(FLAG, `cannot read ${file}: ${(error as Error).message}`);
  }
  throw new ConfigError(FLAG, `${file} must hold an object`);
}
