import { ConfigError } from '../../api/point.js';
import { WRITE_MS } from '../../limits.js';
import type { Settings } from '../../settings/settings.js';
import type { PluginSpec } from '../../threads/data.js';
import { admissionConfig, placeOf } from './config.js';

const at = (path: string): string => new URL(`../../../plugins/admission/${path}`, import.meta.url).href;
const pool = (path: string): PluginSpec => ({ use: at(path), threads: ['pool'] });
/** A plugin whose calls have time limits of their own, within that of the request. */
const withOwnLimits = (path: string): PluginSpec => ({ ...pool(path), timeout: WRITE_MS });

/** An admission plugin, by the name that upstream's flags use. */
interface AdmissionPlugin {
  readonly name: string;
  readonly isOnByDefault: boolean;
  /** Empty: the plugin does nothing. */
  readonly specs: readonly PluginSpec[];
  /** Deprecated in upstream, and kept so that old command lines work. AlwaysAdmit does nothing in upstream either. */
  readonly isDeprecated?: true;
}

const on = (name: string, ...specs: PluginSpec[]): AdmissionPlugin => ({ name, isOnByDefault: true, specs });
const off = (name: string, ...specs: PluginSpec[]): AdmissionPlugin => ({ name, isOnByDefault: false, specs });

/** All admission plugins that the flags can name, in the order in which they are called. */
const PLUGINS: readonly AdmissionPlugin[] = [
  { ...off('AlwaysAdmit'), isDeprecated: true },
  off('NamespaceAutoProvision', { ...withOwnLimits('optional/namespaceAutoProvision.js'), threads: ['front', 'pool'] }),
  on('NamespaceLifecycle', pool('namespaceLifecycle.js')),
  off('NamespaceExists', pool('optional/namespaceExists.js')),
  off('LimitPodHardAntiAffinityTopology', pool('optional/hardAntiAffinity.js')),
  on('LimitRanger', pool('limitRanger/index.js')),
  on('ServiceAccount', pool('serviceAccount.js'), pool('mountableSecrets.js'), pool('../authz/node/mirrorPods.js')),
  off('NodeRestriction', pool('../authz/node/restriction/index.js')),
  on('TaintNodesByCondition', pool('taintNewNodes.js')),
  off('AlwaysPullImages', pool('optional/alwaysPullImages.js')),
  off('ImagePolicyWebhook', { ...withOwnLimits('optional/imagePolicy/index.js'), threads: ['front', 'pool'] }),
  on('PodSecurity', pool('podSecurity/index.js')),
  off('PodNodeSelector', pool('optional/podNodeSelector.js')),
  on('Priority', pool('priority.js')),
  on('DefaultTolerationSeconds', pool('defaultTolerationSeconds.js')),
  off('PodTolerationRestriction', pool('optional/podTolerationRestriction.js')),
  off('EventRateLimit', { ...pool('optional/eventRateLimit/index.js'), threads: ['front', 'pool'] }),
  off('ExtendedResourceToleration', pool('optional/extendedResourceToleration.js')),
  on('DefaultStorageClass', pool('defaultClass.js#storageClass')),
  on('StorageObjectInUseProtection', pool('storageProtection.js')),
  off('OwnerReferencesPermissionEnforcement', pool('optional/ownerPermissions.js')),
  on('PersistentVolumeClaimResize', pool('claimResize.js')),
  on('RuntimeClass', pool('runtimeClass.js')),
  on('CertificateApproval', pool('certificatePermissions.js#approval')),
  on('CertificateSigning', pool('certificatePermissions.js#signing')),
  on('ClusterTrustBundleAttest', pool('certificatePermissions.js#attestation')),
  on('CertificateSubjectRestriction', pool('certificateSubject.js')),
  on('DefaultIngressClass', pool('defaultClass.js#ingressClass')),
  off('DenyServiceExternalIPs', pool('optional/externalIps.js')),
  on('MutatingAdmissionPolicy', withOwnLimits('policies/mutating.js')),
  on('MutatingAdmissionWebhook', withOwnLimits('webhooks/mutating.js')),
  on('ValidatingAdmissionPolicy', withOwnLimits('policies/validating.js')),
  on('ValidatingAdmissionWebhook', withOwnLimits('webhooks/validating.js')),
  on('ResourceQuota', pool('resourceQuota/index.js')),
  { ...off('AlwaysDeny', pool('optional/alwaysDeny.js')), isDeprecated: true },
];

/** The plugins to turn on and off so that exactly those of these names are on. */
export function onlyPlugins(chosen: readonly string[]): {
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
} {
  const others = PLUGINS.filter(({ name, isOnByDefault }) => isOnByDefault && !chosen.includes(name));
  return { enabled: chosen, disabled: others.map(({ name }) => name) };
}

type Flags = Pick<Settings, 'enableAdmissionPlugins' | 'disableAdmissionPlugins'>;

const KNOWN = new Map(PLUGINS.map(plugin => [plugin.name, plugin]));

/** Throws ConfigError in upstream's words for unknown plugins and for those that are both enabled and disabled. */
export function checkAdmissionPlugins({ enableAdmissionPlugins, disableAdmissionPlugins }: Flags): void {
  const overlap = [...new Set(enableAdmissionPlugins)].filter(name => disableAdmissionPlugins.includes(name));
  const errors = [
    ...unknownIn('enable-admission-plugins', enableAdmissionPlugins),
    ...unknownIn('disable-admission-plugins', disableAdmissionPlugins),
    ...(overlap.length > 0
      ? [`[${overlap.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`]
      : []),
  ];
  if (errors.length === 0) return;
  const flag = errors[0]!.startsWith('disable') ? '--disable-admission-plugins' : '--enable-admission-plugins';
  throw new ConfigError(flag, errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`);
}

const unknownIn = (flag: string, names: readonly string[]): readonly string[] =>
  names.filter(name => !KNOWN.has(name)).map(name => `${flag} plugin ${JSON.stringify(name)} is unknown`);

/** Warnings about plugins that the settings name and that are deprecated. */
export const admissionWarnings = ({ enableAdmissionPlugins, disableAdmissionPlugins }: Flags): readonly string[] =>
  [...enableAdmissionPlugins, ...disableAdmissionPlugins]
    .map(name => KNOWN.get(name)!)
    .filter(({ isDeprecated }) => isDeprecated)
    .map(
      ({ name }) =>
        `${name} admission controller is deprecated. Please remove this controller from your configuration files and scripts.`,
    );

/** The first plugin that runs after those of the configuration and so sees their changes. */
const FIRST_BEHIND = PLUGINS.findIndex(({ name }) => name === 'MutatingAdmissionPolicy');

/** The admission plugins of a server with these settings: those before and after the plugins of its configuration. */
export function admissionPlugins(settings: Settings): {
  readonly before: readonly PluginSpec[];
  readonly behind: readonly PluginSpec[];
} {
  const { enableAdmissionPlugins, disableAdmissionPlugins } = settings;
  const { services, plugins, kubeConfigFiles } = admissionConfig(settings, new Set(KNOWN.keys()));
  const configOf = (name: string): object | undefined => {
    if (!name.endsWith('AdmissionWebhook')) return plugins.get(name)?.config;
    const kubeConfigFile = kubeConfigFiles.get(name);
    return { services, ...(kubeConfigFile ? { kubeConfigFile } : {}) };
  };
  const specsOf = (chosen: readonly AdmissionPlugin[]): readonly PluginSpec[] =>
    chosen
      .filter(({ name, isOnByDefault }) =>
        isOnByDefault ? !disableAdmissionPlugins.includes(name) : enableAdmissionPlugins.includes(name),
      )
      .flatMap(({ name, specs }) => {
        const config = configOf(name);
        const file = plugins.get(name)?.file;
        const place = file === undefined ? {} : { configPlace: placeOf(file, name) };
        return config ? specs.map(spec => ({ ...spec, config, ...place })) : specs;
      });
  return { before: specsOf(PLUGINS.slice(0, FIRST_BEHIND)), behind: specsOf(PLUGINS.slice(FIRST_BEHIND)) };
}
