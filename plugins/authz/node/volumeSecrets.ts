import type { Frozen, ResourceEvent } from '../../../core/api/index.js';
import type { PersistentVolume, PersistentVolumeSpec, SecretReference } from '../../../kinds/v1.js';

/** The references of a volume to secrets that nodes need. */
const referencesOf = (spec: Frozen<PersistentVolumeSpec>): readonly (Frozen<SecretReference> | null | undefined)[] => [
  spec.cephfs?.secretRef,
  spec.cinder?.secretRef,
  spec.csi?.nodeExpandSecretRef,
  spec.csi?.nodePublishSecretRef,
  spec.csi?.nodeStageSecretRef,
  spec.flexVolume?.secretRef,
  spec.iscsi?.secretRef,
  spec.rbd?.secretRef,
  spec.scaleIO?.secretRef,
  spec.storageos?.secretRef,
];

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

/** The claim that a persistent volume is bound to, as `namespace/name`; undefined if there is none. */
export function claimOf(volume: Frozen<PersistentVolume> | undefined): string | undefined {
  const { name, namespace = '' } = volume?.spec.claimRef ?? {};
  return name ? keyOf(namespace, name) : undefined;
}

/** The secrets of a volume, as `namespace/name`. A reference without a namespace is to that of the claim. */
function secretsOf({ spec }: Frozen<PersistentVolume>): ReadonlySet<string> {
  const home = spec.claimRef?.namespace ?? '';
  const { secretName, secretNamespace } = spec.azureFile ?? {};
  const found = new Set<string>();
  if (secretName) found.add(keyOf(secretNamespace || home, secretName));
  for (const reference of referencesOf(spec))
    if (reference?.name) found.add(keyOf(reference.namespace || home, reference.name));
  return found;
}

/** The secrets that bound persistent volumes need, from events. Volumes without secrets are not decoded. */
export class VolumeSecrets {
  /** Volumes by secret, each with its claim. */
  readonly #claims = new Map<string, Map<string, string>>();
  readonly #secrets = new Map<string, ReadonlySet<string>>();

  /** Takes a change of a persistent volume. */
  take(event: ResourceEvent): void {
    this.#remove(event.name);
    const hasSecret = event.mentions ? event.mentions('ecretRef"') || event.mentions('"secretName"') : true;
    if (event.type === 'DELETED' || !hasSecret) return;
    const volume = event.object() as Frozen<PersistentVolume>;
    const claim = claimOf(volume);
    if (claim === undefined) return;
    const secrets = secretsOf(volume);
    this.#secrets.set(event.name, secrets);
    for (const secret of secrets) {
      const claims = this.#claims.get(secret);
      if (claims) claims.set(event.name, claim);
      else this.#claims.set(secret, new Map([[event.name, claim]]));
    }
  }

  /** The claims, as `namespace/name`, whose volumes need the secret. */
  claimsFor(namespace: string, secret: string): ReadonlySet<string> | undefined {
    const claims = this.#claims.get(keyOf(namespace, secret));
    return claims && new Set(claims.values());
  }

  #remove(volume: string): void {
    for (const secret of this.#secrets.get(volume) ?? []) {
      const claims = this.#claims.get(secret);
      claims?.delete(volume);
      if (claims?.size === 0) this.#claims.delete(secret);
    }
    this.#secrets.delete(volume);
  }
}
