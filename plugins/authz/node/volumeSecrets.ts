import { type ApiObject, type ResourceEvent, stringAt } from '../../../core/api/index.js';

/** Where persistent volumes refer to a secret that nodes need: the member of the spec, and the reference below it. */
const REFERENCES: readonly (readonly [source: string, reference: string])[] = [
  ['cephfs', 'secretRef'],
  ['cinder', 'secretRef'],
  ['csi', 'nodeExpandSecretRef'],
  ['csi', 'nodePublishSecretRef'],
  ['csi', 'nodeStageSecretRef'],
  ['flexVolume', 'secretRef'],
  ['iscsi', 'secretRef'],
  ['rbd', 'secretRef'],
  ['scaleIO', 'secretRef'],
  ['storageos', 'secretRef'],
];

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;

/** The claim that a persistent volume is bound to, as `namespace/name`; undefined if there is none. */
export function claimOf(volume: ApiObject | undefined): string | undefined {
  const name = stringAt(volume, 'spec', 'claimRef', 'name');
  return name === '' ? undefined : keyOf(stringAt(volume, 'spec', 'claimRef', 'namespace'), name);
}

/** The secrets of a volume, as `namespace/name`. A reference without a namespace is to that of the claim. */
function secretsOf({ spec }: ApiObject): ReadonlySet<string> {
  const home = stringAt(spec, 'claimRef', 'namespace');
  const found = new Set<string>();
  const file = stringAt(spec, 'azureFile', 'secretName');
  if (file !== '') found.add(keyOf(stringAt(spec, 'azureFile', 'secretNamespace') || home, file));
  for (const path of REFERENCES) {
    const name = stringAt(spec, ...path, 'name');
    if (name !== '') found.add(keyOf(stringAt(spec, ...path, 'namespace') || home, name));
  }
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
    const volume = event.object();
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
