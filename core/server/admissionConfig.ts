import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../api/point.js';
import { isRecord, recordAt, recordsAt, stringAt, type UnknownRecord } from '../model/record.js';
import { decodeYaml } from '../schema/yaml/yaml.js';
import type { Settings } from '../settings/settings.js';

const FLAG = '--admission-control-config-file';

/** The configuration of the admission plugins. */
interface AdmissionConfig {
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

/** The configuration of the admission plugins, from the settings and their file. Throws ConfigError. */
export function admissionConfig(settings: Settings): AdmissionConfig {
  const { admissionControlConfigFile: file } = settings;
  const services = webhookServices(settings);
  return { services, kubeConfigFiles: new Map(file === undefined ? [] : kubeConfigsIn(file)) };
}

/** The kubeconfig files that an AdmissionConfiguration names, by plugin. */
function kubeConfigsIn(file: string): [string, string][] {
  const document = readDocument(file);
  if (stringAt(document, 'kind') !== 'AdmissionConfiguration')
    throw new ConfigError(FLAG, `${file} must hold an AdmissionConfiguration`);
  return recordsAt(document, 'plugins').flatMap(plugin => {
    const path = stringAt(plugin, 'path');
    const configuration =
      recordAt(plugin, 'configuration') ?? (path ? readDocument(resolve(dirname(file), path)) : undefined);
    const kubeConfig = stringAt(configuration, 'kubeConfigFile') || stringAt(configuration, 'kubeConfig');
    return kubeConfig ? [[stringAt(plugin, 'name'), resolve(dirname(file), kubeConfig)] as [string, string]] : [];
  });
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
