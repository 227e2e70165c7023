import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { ConfigError } from '../../api/point.js';
import { isAbsent, isRecord, type UnknownRecord } from '../../model/record.js';
import { groupSpellings } from '../../naming.js';
import type { StrictJson } from '../../schema/json/json.js';
import { decodeYamlStrict } from '../../schema/yaml/yaml.js';
import type { Settings } from '../../settings/settings.js';
import { webhookServices } from '../../settings/webhookServices.js';

const FLAG = '--admission-control-config-file';

/** The place of the configuration of a plugin, as errors name it. */
export const placeOf = (file: string, name: string): string => `${FLAG}: ${file}: the configuration of ${name}`;

/** The entry of a plugin in the file. */
interface PluginConfig {
  readonly config: UnknownRecord;
  readonly file: string;
}

/** The configuration of the admission plugins. */
interface AdmissionConfig {
  /** The entries, by upstream's name of the plugin. */
  readonly plugins: ReadonlyMap<string, PluginConfig>;
  /** The kubeconfig with the credentials for webhooks, by the name of the plugin. */
  readonly kubeConfigFiles: ReadonlyMap<string, string>;
  /** URLs of services. */
  readonly services: { readonly [service: string]: string };
}

/**
 * The configuration of the admission plugins, from the settings and the file that they name. `known` has the names of
 * all plugins. Throws ConfigError.
 */
export function admissionConfig(settings: Settings, known: ReadonlySet<string>): AdmissionConfig {
  const { admissionControlConfigFile: file } = settings;
  const services = webhookServices(settings);
  if (file === undefined) return { services, plugins: new Map(), kubeConfigFiles: new Map() };
  const plugins = configurationsIn(file, known);
  const kubeConfigFiles = [...plugins]
    .filter(([name]) => name.endsWith('AdmissionWebhook'))
    .map(([name, { config, file: own }]) => [name, kubeConfigOf(own, name, config)] as const);
  return { services, plugins, kubeConfigFiles: new Map(kubeConfigFiles) };
}

/** The versions of an AdmissionConfiguration, with neutral groups. */
const VERSIONS = ['apiserver.config.orchestrator.io/v1', 'apiserver.orchestrator.io/v1alpha1'];

/** Makes an error about a member of a file. */
type Refuse = (path: string, why: string) => ConfigError;

/** A version in both namings. */
function spellingsOf(apiVersion: string): readonly string[] {
  const [group = '', version = ''] = apiVersion.split('/');
  return groupSpellings(group).map(spelling => `${spelling}/${version}`);
}

/** Throws unless an object is of one of these versions, whose groups are neutral. */
function checkVersion({ apiVersion }: UnknownRecord, versions: readonly string[], refuse: Refuse): void {
  const accepted = versions.flatMap(spellingsOf);
  if (!accepted.includes(String(apiVersion))) throw refuse('apiVersion', `must be one of ${accepted.join(', ')}`);
}

/** The configurations in an AdmissionConfiguration, or in the files that it names, by plugin. Throws ConfigError. */
function configurationsIn(file: string, known: ReadonlySet<string>): Map<string, PluginConfig> {
  const document = readDocument(file);
  const refuse: Refuse = (path, why) => new ConfigError(FLAG, `${file}: ${path} ${why}`);
  if (document['kind'] !== 'AdmissionConfiguration') throw refuse('kind', 'must be AdmissionConfiguration');
  checkVersion(document, VERSIONS, refuse);
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

/** The kinds of the configuration of webhooks, with their versions. */
const WEBHOOK_KINDS: ReadonlyMap<unknown, string> = new Map([
  ['WebhookAdmissionConfiguration', 'apiserver.config.orchestrator.io/v1'],
  ['WebhookAdmission', 'apiserver.config.orchestrator.io/v1alpha1'],
]);

/** The path of the kubeconfig that the configuration of webhooks names. Throws ConfigError. */
function kubeConfigOf(file: string, name: string, config: UnknownRecord): string {
  const refuse: Refuse = (path, why) => new ConfigError(placeOf(file, name), `${path} ${why}`);
  const version = WEBHOOK_KINDS.get(config['kind']);
  if (version === undefined) throw refuse('kind', `must be one of ${[...WEBHOOK_KINDS.keys()].join(', ')}`);
  checkVersion(config, [version], refuse);
  refuseUnknown(config, ['apiVersion', 'kind', 'kubeConfigFile'], '', refuse);
  const path = config['kubeConfigFile'] ?? '';
  if (typeof path !== 'string' || !isAbsolute(path))
    throw refuse('kubeConfigFile', `must be an absolute file path, not ${JSON.stringify(path)}`);
  return path;
}

function readDocument(file: string): UnknownRecord {
  let decoded: StrictJson;
  try {
    decoded = decodeYamlStrict(readFileSync(file));
  } catch (error) {
    throw new ConfigError(FLAG, `cannot read ${file}: ${(error as Error).message}`);
  }
  const { value, duplicates } = decoded;
  if (duplicates.length > 0) throw new ConfigError(FLAG, `${file}: ${duplicates.join('; ')}: remove one of them`);
  if (isRecord(value)) return value;
  throw new ConfigError(FLAG, `${file} must hold an object`);
}
