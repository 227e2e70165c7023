import type { ServiceCIDR } from '../../../../../kinds/networking/v1beta1.js';
import {
  type Controller,
  controller,
  type CurrentObjects,
  type Frozen,
  type Host,
  type Plugin,
  reconciler,
  timestamp,
} from '../../../../../core/api/index.js';
import { defaultCidrName, IP_ADDRESSES, isUsable, managedBy, networksOf, SERVICE_CIDRS } from '../addressObjects.js';
import { systemName } from '../../../shared/values/names.js';

const NAME = 'service-cidr-controller';
/** In neutral names. */
const FINALIZER = 'service-cidr-finalizer';
/**
 * Time before a deleted ServiceCIDR that is not in use is removed, in milliseconds: writes that have begun may still
 * use it.
 */
const GRACE_MS = 10_000;
const IN_USE =
  'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR';

/** Whether addresses of Services are in the networks of a ServiceCIDR, and of no other one that can be used. */
function isInUse(cidr: Frozen<ServiceCIDR>, { naming }: Host<'control'>, { list }: CurrentObjects): boolean {
  const own = networksOf(cidr);
  const others = list(SERVICE_CIDRS).filter(other => other.metadata.name !== cidr.metadata.name && isUsable(other));
  const otherNetworks = others.flatMap(networksOf);
  const [label, value] = managedBy(naming);
  return list(IP_ADDRESSES).some(({ metadata: { name = '', labels } }) => {
    if (labels?.[label] !== value || !own.some(network => network.includes(name))) return false;
    return !otherNetworks.some(network => network.includes(name));
  });
}

/**
 * Keeps a finalizer on each ServiceCIDR until no address needs its networks, and the condition Ready, which says
 * whether addresses may be allocated from them.
 */
function protect(host: Host<'control'>): Controller {
  const finalizer = `${host.naming.group('networking.orchestrator.io')}/${FINALIZER}`;
  return reconciler({
    name: NAME,
    for: SERVICE_CIDRS,
    watches: [
      // A ServiceCIDR that is being deleted can be removed once its last address is free, or another network contains
      // it.
      { resource: IP_ADDRESSES, keys: ({ type }, { list }) => (type === 'DELETED' ? deleted(list) : []) },
      { resource: SERVICE_CIDRS, keys: (_event, { list }) => deleted(list) },
    ],
    async reconcile(_key, { object: cidr, client, now, ...objects }) {
      if (!cidr) return undefined;
      const cidrs = client.resource(SERVICE_CIDRS);
      const setReady = async (status: 'True' | 'False', reason: string, message: string): Promise<void> => {
        const found = cidr.status?.conditions?.find(({ type }) => type === 'Ready');
        if (found?.status === status && (found.reason ?? '') === reason && found.message === message) return;
        const ready = { type: 'Ready', status, message, lastTransitionTime: timestamp(now()) };
        const conditions = [{ ...ready, ...(reason === '' ? {} : { reason }) }];
        const metadata = { name: cidr.metadata.name! };
        await cidrs.apply({ metadata, status: { conditions } }, { subresource: 'status', fieldManager: NAME });
      };
      const { deletionTimestamp, finalizers = [] } = cidr.metadata;
      if (!deletionTimestamp) {
        await cidrs.addFinalizer(cidr, finalizer);
        await setReady('True', '', `${systemName(host.naming)} Service CIDR is ready`);
        return undefined;
      }
      if (!finalizers.includes(finalizer)) return undefined;
      if (isInUse(cidr, host, objects)) {
        await setReady('False', 'Terminating', IN_USE);
        return undefined;
      }
      const left = Date.parse(deletionTimestamp) + GRACE_MS - now();
      if (left > 0) return { after: left };
      await cidrs.removeFinalizer(cidr, finalizer);
      return undefined;
    },
  })(host);
}

const deleted = (list: CurrentObjects['list']): { readonly name: string }[] =>
  list(SERVICE_CIDRS).flatMap(({ metadata: { name, deletionTimestamp } }) =>
    name !== undefined && deletionTimestamp !== undefined ? [{ name }] : [],
  );

/** Protection of ServiceCIDRs whose addresses are in use. */
export const serviceCidrs = {
  name: 'controllers/service-cidrs',
  parse: () => ({}),
  contribute: () => [controller.of(protect)],
} satisfies Plugin;

/** The networks of the configuration as an object. */
function defaultCidr(host: Host<'control'>, { cidrs }: DefaultCidrConfig): Controller {
  const { naming } = host;
  const metadata = { name: defaultCidrName(naming) };
  return reconciler({
    name: 'default-service-cidr',
    for: SERVICE_CIDRS,
    keys: [metadata],
    predicate: ({ type, name }) => type === 'DELETED' && name === metadata.name,
    async reconcile(_key, { object, client }) {
      if (!object) await client.resource(SERVICE_CIDRS).create({ metadata, spec: { cidrs } });
    },
  })(host);
}

/** The configuration, which the server generates. */
interface DefaultCidrConfig {
  readonly cidrs: readonly string[];
}

/** Maintains the ServiceCIDR with the networks of `--service-cluster-ip-range`. One that exists is not changed. */
export const defaultServiceCidr = {
  name: 'controllers/default-service-cidr',
  parse: config => config as DefaultCidrConfig,
  contribute: config => [controller.of(host => defaultCidr(host, config))],
} satisfies Plugin<DefaultCidrConfig>;
