import type { Service } from '../../../../../kinds/v1.js';
import type { IPAddress } from '../../../../../kinds/networking/v1beta1.js';
import {
  type Controller,
  controller,
  type Frozen,
  type Host,
  type KeyOf,
  type Plugin,
  reconciler,
  type ResourceEvent,
} from '../../../../../core/api/index.js';
import { IP_ADDRESSES, ipAddressesOf, managedBy } from '../addressObjects.js';
import { familyOf } from '../../../shared/addressRange.js';

/** How long an IPAddress may exist without a Service that has it, in milliseconds. */
const GRACE_MS = 60_000;

/** The names of the IPAddresses that a Service must have. */
const namesOf = (service: Frozen<Service>, { naming }: Host<'control'>): string[] =>
  ipAddressesOf(service as Service, naming).map(({ object }) => object.metadata.name!);

/** The Service that has each address, from the events of Services. */
class Holders {
  readonly #services = new Map<string, { readonly namespace: string; readonly name: string }>();

  constructor(readonly host: Host<'control'>) {}

  /** Takes an event. Returns the addresses of the Service before and after it. */
  take({ type, namespace, name, object, old }: ResourceEvent<Service>): KeyOf[] {
    const before = old ? namesOf(old(), this.host) : type === 'DELETED' ? namesOf(object(), this.host) : [];
    const after = type === 'DELETED' ? [] : namesOf(object(), this.host);
    for (const address of before) {
      const holder = this.#services.get(address);
      if (holder?.namespace === namespace && holder.name === name) this.#services.delete(address);
    }
    for (const address of after) this.#services.set(address, { namespace, name });
    return [...new Set([...before, ...after])].map(address => ({ name: address }));
  }

  of(address: string): { readonly namespace: string; readonly name: string } | undefined {
    return this.#services.get(address);
  }
}

/** Whether an IPAddress says that it belongs to this Service. */
function belongsTo(
  { spec }: Frozen<IPAddress>,
  holder: { readonly namespace: string; readonly name: string },
): boolean {
  const { group = '', resource, namespace, name } = spec.parentRef ?? {};
  return group === '' && resource === 'services' && namespace === holder.namespace && name === holder.name;
}

/**
 * Makes IPAddresses agree with the addresses of Services. Missing ones are created: for Services that were made without
 * the gate, or whose IPAddress was deleted. IPAddresses that their Service no longer has are deleted.
 */
function repair(host: Host<'control'>): Controller {
  const holders = new Holders(host);
  const [label, value] = managedBy(host.naming);
  return reconciler({
    name: 'ipallocator-repair-controller',
    for: IP_ADDRESSES,
    watches: [{ resource: 'core/services', keys: event => holders.take(event) }],
    async reconcile({ name }, { object: address, client, event, get, now }) {
      const addresses = client.resource(IP_ADDRESSES);
      const holder = holders.of(name);
      if (!address) {
        const service = holder && get('core/services', holder);
        const missing = service && ipAddressesOf(service as Service, host.naming).find(isNamed(name));
        if (!missing) return undefined;
        await addresses.create(missing.object);
        const message = `Cluster IP [${familyOf(name)}]: ${name} is not allocated; repairing`;
        event(service, { type: 'Warning', reason: 'ClusterIPNotAllocated', message });
        return undefined;
      }
      const { labels, creationTimestamp, uid, resourceVersion } = address.metadata;
      if (labels?.[label] !== value || (holder && belongsTo(address, holder))) return undefined;
      const left = Date.parse(creationTimestamp!) + GRACE_MS - now();
      if (left > 0) return { after: left };
      if (await addresses.delete(address.metadata, { preconditions: { uid, resourceVersion } })) {
        const { namespace = '', name: parent = '' } = address.spec.parentRef ?? {};
        const message = `IPAddress: ${name} for Service ${namespace}/${parent} appears to have leaked: cleaning up`;
        event(address, { type: 'Warning', reason: 'IPAddressNotAllocated', message });
      }
      return undefined;
    },
  })(host);
}

const isNamed =
  (name: string) =>
  ({ object }: { readonly object: { readonly metadata: { readonly name?: string } } }): boolean =>
    object.metadata.name === name;

/** Repair of the IPAddresses of Services. */
export const addressRepair = {
  name: 'controllers/address-repair',
  parse: () => ({}),
  contribute: () => [controller.of(repair)],
} satisfies Plugin;
