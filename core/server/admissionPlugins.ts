import { ConfigError } from '../api/point.js';
import { WRITE_MS } from '../limits.js';
import type { Settings } from '../settings/settings.js';
import type { PluginSpec } from '../threads/data.js';
import { admissionConfig } from './admissionConfig.js';

const at = (path: string): string => new URL(`../../plugins/admission/${path}`, import.meta.url).href;
const pool = (path: string): PluginSpec => ({ use: at(path), threads: ['pool'] });
/** A plugin whose calls have time limits of their own, within that of the request. */
const withOwnLimits = (path: string): PluginSpec => ({ ...pool(path), timeout: WRITE_MS });

/** An admission plugin, by the name that upstream's flags use. */
interface AdmissionPlugin {
  readonly name: string;
  readonly isOnByDefault: boolean;
  /** Empty: the plugin can be named but does nothing here. */
  readonly specs: readonly PluginSpec[];
}

const on = (name: string, ...specs: PluginSpec[]): AdmissionPlugin => ({ name, isOnByDefault: true, specs });
const off = (name: string, ...specs: PluginSpec[]): AdmissionPlugin => ({ name, isOnByDefault: false, specs });

/** All admission plugins that the flags can name, in the order in which they are asked. */
const PLUGINS: readonly AdmissionPlugin[] = [
  off('AlwaysAdmit'),
  off('NamespaceAutoProvision'),
  on('NamespaceLifecycle', pool('namespaceLifecycle.js')),
  off('NamespaceExists'),
  off('LimitPodHardAntiAffinityTopology'),
  on('LimitRanger', pool('limitRanger/index.js')),
  on('ServiceAccount', pool('serviceAccount.js'), pool('../authz/node/mirrorPods.js')),
  off('NodeRestriction', pool('../authz/node/restriction/index.js')),
  on('TaintNodesByCondition', pool('taintNewNodes.js')),
  off('AlwaysPullImages'),
  off('ImagePolicyWebhook'),
  on('PodSecurity'),
  off('PodNodeSelector'),
  on('Priority', pool('priority.js')),
  on('DefaultTolerationSeconds', pool('defaultTolerationSeconds.js')),
  off('PodTolerationRestriction'),
  off('EventRateLimit'),
  off('ExtendedResourceToleration'),
  on('DefaultStorageClass', pool('defaultClass.js#storageClass')),
  on('StorageObjectInUseProtection', pool('storageProtection.js')),
  off('OwnerReferencesPermissionEnforcement'),
  on('PersistentVolumeClaimResize', pool('claimResize.js')),
  on('RuntimeClass', pool('runtimeClass.js')),
  on('CertificateApproval', pool('certificatePermissions.js#approval')),
  on('CertificateSigning', pool('certificatePermissions.js#signing')),
  on('ClusterTrustBundleAttest', pool('certificatePermissions.js#attestation')),
  on('CertificateSubjectRestriction', pool('certificateSubject.js')),
  on('DefaultIngressClass', pool('defaultClass.js#ingressClass')),
  off('DenyServiceExternalIPs'),
  on('MutatingAdmissionPolicy', withOwnLimits('policies/mutating.js')),
  on('MutatingAdmissionWebhook', withOwnLimits('webhooks/mutating.js')),
  on('ValidatingAdmissionPolicy', withOwnLimits('policies/validating.js')),
  on('ValidatingAdmissionWebhook', withOwnLimits('webhooks/validating.js')),
  on('ResourceQuota'),
  off('AlwaysDeny'),
];

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

/** Warnings about plugins that the settings name and that this server does not have. */
export const admissionWarnings = ({ enableAdmissionPlugins, disableAdmissionPlugins }: Flags): readonly string[] =>
  [...enableAdmissionPlugins, ...disableAdmissionPlugins]
    .filter(name => !KNOWN.get(name)?.specs.length)
    .map(name => `The admission plugin ${name} is not part of this server: naming it has no effect.`);

/** The first plugin that is asked behind those of the configuration, and sees what they have changed. */
const FIRST_BEHIND = PLUGINS.findIndex(({ name }) => name === 'MutatingAdmissionPolicy');

/** The admission plugins of a server with these settings: those before and after the plugins of its configuration. */
export function admissionPlugins(settings: Settings): {
  readonly before: readonly PluginSpec[];
  readonly behind: readonly PluginSpec[];
} {
  const { enableAdmissionPlugins, disableAdmissionPlugins } = settings;
  const { services, kubeConfigFiles } = admissionConfig(settings);
  const configOf = (name: string): object => {
    const kubeConfigFile = kubeConfigFiles.get(name);
    return { services, ...(kubeConfigFile ? { kubeConfigFile } : {}) };
  };
  const specsOf = (plugins: readonly AdmissionPlugin[]): readonly PluginSpec[] =>
    plugins
      .filter(({ name, isOnByDefault }) =>
        isOnByDefault ? !disableAdmissionPlugins.includes(name) : enableAdmissionPlugins.includes(name),
      )
      .flatMap(({ name, specs }) =>
        name.endsWith('AdmissionWebhook') ? specs.map(spec => ({ ...spec, config: configOf(name) })) : specs,
      );
  return { before: specsOf(PLUGINS.slice(0, FIRST_BEHIND)), behind: specsOf(PLUGINS.slice(FIRST_BEHIND)) };
}
