import type { Informer } from '../../core/api/host.js';
import type { Pod, PodSpec, ServiceAccount, Volume } from '../../kinds/v1.js';
import { pathSegment, randomName } from '../../core/model/names.js';
import type { Naming } from '../../core/naming.js';

import { podForbiddenError, mutatorPlugin, POD_CREATES } from './podDraft.js';

const DEFAULT = 'default';

/**
 * The volume with the token, the CA certificate of this server, and the namespace. Its last source is not part of
 * upstream's release 1.32: a distribution of upstream injects it, and clients that compare pods expect it. This server
 * does not create that ConfigMap.
 */
const tokenVolume = (name: string, naming: Naming): Volume => ({
  name,
  projected: {
    defaultMode: 420,
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
      {
        configMap: { name: naming.component('orchestrator-root-ca.crt'), items: [{ key: 'ca.crt', path: 'ca.crt' }] },
      },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
      {
        configMap: { name: 'openshift-service-ca.crt', items: [{ key: 'service-ca.crt', path: 'service-ca.crt' }] },
      },
    ],
  },
});

/** Mounts the token into every container that has no mount at that path. */
function mountToken(pod: PodSpec, naming: Naming): void {
  const path = `/var/run/secrets/${naming.label('orchestrator.io/serviceaccount')}`;
  const prefix = naming.component('orchestrator-api-access-');
  const volumes = pod.volumes ?? [];
  const present = volumes.map(volume => volume.name).find(name => name.startsWith(prefix));
  const name = present ?? randomName(prefix);
  let used = false;
  for (const container of [...(pod.initContainers ?? []), ...(pod.containers ?? [])]) {
    const mounts = container.volumeMounts ?? [];
    if (mounts.some(mount => mount.mountPath === path)) continue;
    container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: path }];
    used = true;
  }
  if (used && present === undefined) pod.volumes = [...volumes, tokenVolume(name, naming)];
}

/** Sets the service account of pods, and adds its pull secrets and a volume with its token. */
export default mutatorPlugin('service-account', host => {
  const accounts = host.informer('core/serviceaccounts') as Informer<ServiceAccount>;
  const mirror = host.naming.label('orchestrator.io/config.mirror');
  return {
    on: POD_CREATES,
    mutate: (change, draft) => {
      if (draft.metadata.annotations?.[mirror] !== undefined) return;
      const pod = (draft as Pod).spec;
      const name = pod.serviceAccountName || DEFAULT;
      const { namespace } = change.target;
      pod.serviceAccountName = name;
      pod.serviceAccount = name;
      // A controller creates the default account shortly after its namespace. Until then, the values of the account
      // that it will create are used.
      const account: Partial<ServiceAccount> | undefined =
        accounts.get(namespace, name) ?? (name === DEFAULT ? {} : undefined);
      if (!account) {
        const malformed = pathSegment(name);
        const what =
          malformed.length > 0
            ? `invalid resource name ${JSON.stringify(name)}: [${malformed.join(' ')}]`
            : `serviceaccount ${JSON.stringify(name)} not found`;
        throw podForbiddenError(draft.metadata, `error looking up service account ${namespace}/${name}: ${what}`);
      }
      const mount = pod.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
      if (mount !== false) mountToken(pod, host.naming);
      const secrets = account.imagePullSecrets ?? [];
      if ((pod.imagePullSecrets ?? []).length === 0 && secrets.length > 0)
        pod.imagePullSecrets = structuredClone(secrets);
    },
  };
});
