import { ConfigError } from '../api/point.js';
import { namingOf } from '../naming.js';
import type { Settings } from '../settings/settings.js';

/**
 * Names of upstream's controllers of release 1.32, in neutral names. All of them can be named in `--controllers`, so
 * that a command line for upstream is accepted; those that this server does not have are ignored.
 */
const KNOWN: readonly string[] = [
  'bootstrap-signer-controller',
  'certificatesigningrequest-approving-controller',
  'certificatesigningrequest-cleaner-controller',
  'certificatesigningrequest-signing-controller',
  'cloud-node-lifecycle-controller',
  'clusterrole-aggregation-controller',
  'cronjob-controller',
  'daemonset-controller',
  'deployment-controller',
  'disruption-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'ephemeral-volume-controller',
  'garbage-collector-controller',
  'horizontal-pod-autoscaler-controller',
  'job-controller',
  'orchestrator-apiserver-serving-clustertrustbundle-publisher-controller',
  'legacy-serviceaccount-token-cleaner-controller',
  'namespace-controller',
  'node-ipam-controller',
  'node-lifecycle-controller',
  'node-route-controller',
  'persistentvolume-attach-detach-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-expander-controller',
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
  'pod-garbage-collector-controller',
  'replicaset-controller',
  'replicationcontroller-controller',
  'resourceclaim-controller',
  'resourcequota-controller',
  'root-ca-certificate-publisher-controller',
  'selinux-warning-controller',
  'service-ca-certificate-publisher-controller',
  'service-cidr-controller',
  'service-lb-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'statefulset-controller',
  'storage-version-migrator-controller',
  'storageversion-garbage-collector-controller',
  'taint-eviction-controller',
  'token-cleaner-controller',
  'ttl-after-finished-controller',
  'ttl-controller',
  'validatingadmissionpolicy-status-controller',
  'volumeattributesclass-protection-controller',
];

/** Controllers that `*` does not include. */
const OFF_BY_DEFAULT: ReadonlySet<string> = new Set([
  'bootstrap-signer-controller',
  'selinux-warning-controller',
  'token-cleaner-controller',
]);

/** Upstream's former names, as words `former=current` without the suffix `-controller` of the current name. */
const FORMER_NAMES =
  'attachdetach=persistentvolume-attach-detach bootstrapsigner=bootstrap-signer ' +
  'cloud-node-lifecycle=cloud-node-lifecycle clusterrole-aggregation=clusterrole-aggregation cronjob=cronjob ' +
  'csrapproving=certificatesigningrequest-approving csrcleaner=certificatesigningrequest-cleaner ' +
  'csrsigning=certificatesigningrequest-signing daemonset=daemonset deployment=deployment disruption=disruption ' +
  'endpoint=endpoints endpointslice=endpointslice endpointslicemirroring=endpointslice-mirroring ' +
  'ephemeral-volume=ephemeral-volume garbagecollector=garbage-collector ' +
  'horizontalpodautoscaling=horizontal-pod-autoscaler job=job ' +
  'legacy-service-account-token-cleaner=legacy-serviceaccount-token-cleaner namespace=namespace nodeipam=node-ipam ' +
  'nodelifecycle=node-lifecycle persistentvolume-binder=persistentvolume-binder ' +
  'persistentvolume-expander=persistentvolume-expander podgc=pod-garbage-collector ' +
  'pv-protection=persistentvolume-protection pvc-protection=persistentvolumeclaim-protection replicaset=replicaset ' +
  'replicationcontroller=replicationcontroller resource-claim-controller=resourceclaim resourcequota=resourcequota ' +
  'root-ca-cert-publisher=root-ca-certificate-publisher route=node-route service=service-lb ' +
  'serviceaccount=serviceaccount serviceaccount-token=serviceaccount-token statefulset=statefulset ' +
  'storage-version-gc=storageversion-garbage-collector tokencleaner=token-cleaner ttl=ttl ' +
  'ttl-after-finished=ttl-after-finished';

const CURRENT_NAMES: ReadonlyMap<string, string> = new Map(
  FORMER_NAMES.split(' ').map(pair => {
    const [former = '', current = ''] = pair.split('=');
    return [former, `${current}-controller`];
  }),
);

/** The controllers that a server runs without `--controllers`. */
const ALL = ['*'];
/**
 * A server that accepts bootstrap tokens must also remove expired ones and sign with them. The usual installation tools
 * configure it like this.
 */
const ALL_AND_BOOTSTRAP = [...ALL, 'bootstrap-signer-controller', 'token-cleaner-controller'];

/** `name` or `-name` with the current name of the controller. */
function currentName(item: string): string {
  const [sign, name] = item.startsWith('-') ? ['-', item.slice(1)] : ['', item];
  return sign + (CURRENT_NAMES.get(name) ?? name);
}

/** Throws ConfigError if `--controllers` names a controller that is not known, in upstream's words. */
export function checkControllers(settings: Settings): Settings {
  const { component } = namingOf(settings.naming);
  const known = new Set(KNOWN.map(component));
  const unknown = (settings.controllers ?? ALL)
    .map(item => item.replace(/^-/, ''))
    .filter(name => name !== '*' && !known.has(currentName(name)));
  if (unknown.length === 0) return settings;
  const words = unknown.map(name => `${JSON.stringify(name)} is not in the list of known controllers`);
  throw new ConfigError('--controllers', words.length === 1 ? words[0]! : `[${words.join(', ')}]`);
}

/**
 * Whether a controller runs: the first item of `--controllers` with its name decides; without one, it runs if there is
 * `*` and it is on by default.
 */
export function isControllerEnabled(
  name: string,
  { controllers, enableBootstrapTokenAuth }: Pick<Settings, 'controllers' | 'enableBootstrapTokenAuth'>,
): boolean {
  const items = (controllers ?? (enableBootstrapTokenAuth ? ALL_AND_BOOTSTRAP : ALL)).map(currentName);
  const named = items.find(item => item === name || item === `-${name}`);
  if (named !== undefined) return named === name;
  return items.includes('*') && !OFF_BY_DEFAULT.has(name);
}
