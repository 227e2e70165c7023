import { randomInt } from 'node:crypto';
import type { Informer } from '../../core/api/host.js';
import type { ApiObject } from '../../core/model/object.js';
import type { Naming } from '../../core/naming.js';
import { list, type Rec, spec, text } from '../resources/record.js';
import { forbidsPod, mutatorPlugin, POD_CREATES } from './pod-draft.js';

const DEFAULT = 'default';
/** The default account appears a moment after its namespace: so often and so long a create waits for it, as in release 1.32. */
const ATTEMPTS = 10;
const PAUSE_MS = 100;
/** Consonants and digits that make no words. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

const suffix = (): string => Array.from({ length: 5 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

async function findAccount(accounts: Informer, namespace: string, name: string): Promise<ApiObject | undefined> {
  for (let left = name === DEFAULT ? ATTEMPTS : 1; left > 0; left--) {
    const found = accounts.get(namespace, name);
    if (found || left === 1) return found;
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
  }
  return undefined;
}

/**
 * The volume with the token, the authority of this server, and the namespace. The last source is none of release 1.32's own: it is what the distribution
 * injects whose build is the reference, and clients that compare pods see it there. Nothing here makes that ConfigMap.
 */
const tokenVolume = (name: string, naming: Naming): Rec => ({
  name,
  projected: {
    defaultMode: 420,
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
      {
        configMap: { name: naming.component('orchestrator-root-ca.crt'), items: [{ key: 'ca.crt', path: 'ca.crt' }] },
      },
      {
        downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] },
      },
      {
        configMap: { name: 'openshift-service-ca.crt', items: [{ key: 'service-ca.crt', path: 'service-ca.crt' }] },
      },
    ],
  },
});

/** Mounts the token into every container that has nothing at that path yet. */
function mountToken(pod: Rec, naming: Naming): void {
  const path = `/var/run/secrets/${naming.label('orchestrator.io/serviceaccount')}`;
  const prefix = naming.component('orchestrator-api-access-');
  const volumes = list(pod, 'volumes');
  const present = volumes.map(volume => text(volume, 'name')).find(name => name.startsWith(prefix));
  const name = present ?? `${prefix}${suffix()}`;
  let used = false;
  for (const container of [...list(pod, 'initContainers'), ...list(pod, 'containers')]) {
    const mounts = list(container, 'volumeMounts');
    if (mounts.some(mount => mount.mountPath === path)) continue;
    container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: path }];
    used = true;
  }
  if (used && present === undefined) pod.volumes = [...volumes, tokenVolume(name, naming)];
}

/** Pods run as a service account of their namespace; it brings its pull secrets and its token. */
export default mutatorPlugin('service-account', host => {
  const accounts = host.informer('core/serviceaccounts');
  const mirror = host.naming.label('orchestrator.io/config.mirror');
  return {
    on: POD_CREATES,
    mutate: async (change, draft) => {
      if (draft.metadata.annotations?.[mirror] !== undefined) return;
      const pod = spec(draft);
      const name = text(pod, 'serviceAccountName') || DEFAULT;
      const { namespace } = change.target;
      pod.serviceAccountName = name;
      pod.serviceAccount = name;
      const account = await findAccount(accounts, namespace, name);
      if (!account) {
        const why = `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`;
        throw forbidsPod(draft.metadata.name, why);
      }
      const mount = pod.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
      if (mount !== false) mountToken(pod, host.naming);
      const secrets = list(account, 'imagePullSecrets');
      if (list(pod, 'imagePullSecrets').length === 0 && secrets.length > 0) pod.imagePullSecrets = structuredClone(secrets);
    },
  };
});
