import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Lease } from '../../../../../kinds/coordination/v1.js';
import { type Controller, type Frozen, type Host, type Naming, reconciler } from '../../../../../core/api/index.js';

/** Storage name of Leases. */
export const LEASES = 'coordination.orchestrator.io/leases';
/** A server that does not renew its Lease for an hour is gone. It renews it every 10 seconds. */
const LEASE_SECONDS = 3600;
const RENEW_MS = 10_000;

const NAMESPACES = 'core/namespaces';
/** After this time, the namespace is looked for again. */
const WITHOUT_NAMESPACE_MS = 200;

const identityLabel = (naming: Naming): string => naming.label('apiserver.orchestrator.io/identity');
const serverName = (naming: Naming): string => naming.component('orchestrator-apiserver');

/** The namespace of the Leases of servers. */
export const leaseNamespace = (naming: Naming): string => naming.component('orchestrator-system');

/** Whether a Lease is that of a server. */
export const isIdentity = (lease: Frozen<Lease> | undefined, naming: Naming): boolean =>
  lease?.metadata.labels?.[identityLabel(naming)] === serverName(naming);

/** Bytes in base 32 (RFC 4648), in lower case and without padding. */
function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, byte => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map(group => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

/** A text after its length in two bytes. */
function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** The id of the server of a machine: the same at each start, and the same as that of upstream's server. */
export function serverId(naming: Naming, host = hostname()): string {
  const hash = createHash('sha256').update(Buffer.concat([host, serverName(naming)].map(lengthPrefixed)));
  return `apiserver-${base32(hash.digest().subarray(0, 16))}`;
}

const hasExpired = ({ spec }: Frozen<Lease>, now: number): boolean =>
  Date.parse(spec.renewTime ?? '') + (spec.leaseDurationSeconds ?? 0) * 1000 < now;

/**
 * Keeps the Lease of this server, and removes those of servers that are gone. As in upstream, its holder is a run of
 * the server, whatever threads it starts.
 */
export function identityLease(host: Host<'control'>, runId: string): Controller {
  const { naming } = host;
  const id = serverId(naming);
  const holderIdentity = `${id}_${runId}`;
  const namespace = leaseNamespace(naming);
  const labels = {
    [identityLabel(naming)]: serverName(naming),
    [naming.label('orchestrator.io/hostname')]: hostname(),
  };
  return reconciler({
    name: 'apiserver-identity',
    keys: [{ namespace, name: id }],
    async reconcile(_key, { client, get, list, now }) {
      // Another server may be about to make it.
      if (!get(NAMESPACES, { name: namespace })) return { after: WITHOUT_NAMESPACE_MS };
      const leases = client.resource(LEASES);
      // Upstream's times have microseconds here.
      const renewTime = new Date(now()).toISOString().replace('Z', '000Z');
      const spec = { holderIdentity, leaseDurationSeconds: LEASE_SECONDS, renewTime };
      const found = get(LEASES, { namespace, name: id });
      if (found) await leases.replace({ ...found, metadata: { ...found.metadata, labels }, spec });
      else await leases.create({ metadata: { namespace, name: id, labels }, spec });
      for (const one of list(LEASES, namespace)) {
        if (!isIdentity(one, naming) || !hasExpired(one, now())) continue;
        const { uid, resourceVersion } = one.metadata;
        await leases.delete(one.metadata, { preconditions: { uid, resourceVersion } });
      }
      return { after: RENEW_MS };
    },
  })(host);
}
