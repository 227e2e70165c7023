import type { Frozen } from '../../../core/api/index.js';
import type {
  Container,
  EphemeralContainer,
  Pod,
  PodResourceClaim,
  PodResourceClaimStatus,
  Volume,
} from '../../../kinds/v1.js';

/** Names of the objects of its namespace that a pod uses, so that its node may read them. */
export interface PodReferences {
  readonly serviceAccount: string;
  readonly secrets: readonly string[];
  readonly configMaps: readonly string[];
  readonly claims: readonly string[];
  readonly resourceClaims: readonly string[];
}

const NONE: PodReferences = { serviceAccount: '', secrets: [], configMaps: [], claims: [], resourceClaims: [] };

/** The names of the secrets in which a volume has credentials or content. */
const secretsIn = (volume: Frozen<Volume>): readonly (string | undefined)[] => [
  volume.azureFile?.secretName,
  volume.cephfs?.secretRef?.name,
  volume.cinder?.secretRef?.name,
  volume.csi?.nodePublishSecretRef?.name,
  volume.flexVolume?.secretRef?.name,
  volume.iscsi?.secretRef?.name,
  volume.rbd?.secretRef?.name,
  volume.scaleIO?.secretRef?.name,
  volume.secret?.secretName,
  volume.storageos?.secretRef?.name,
];

/** A set of names, without absent and empty ones. */
class Names {
  readonly #names = new Set<string>();

  add(name: string | undefined): void {
    if (name !== undefined && name !== '') this.#names.add(name);
  }

  list(): readonly string[] {
    return [...this.#names];
  }
}

/** Gathers the names of a pod. */
class Gathered {
  readonly secrets = new Names();
  readonly configMaps = new Names();
  readonly claims = new Names();
  readonly resourceClaims = new Names();

  addContainer({ envFrom, env }: Frozen<Container | EphemeralContainer>): void {
    for (const { secretRef, configMapRef } of envFrom ?? []) {
      this.secrets.add(secretRef?.name);
      this.configMaps.add(configMapRef?.name);
    }
    for (const { valueFrom } of env ?? []) {
      this.secrets.add(valueFrom?.secretKeyRef?.name);
      this.configMaps.add(valueFrom?.configMapKeyRef?.name);
    }
  }

  addVolume(volume: Frozen<Volume>, pod: string): void {
    for (const name of secretsIn(volume)) this.secrets.add(name);
    this.configMaps.add(volume.configMap?.name);
    for (const { secret, configMap } of volume.projected?.sources ?? []) {
      this.secrets.add(secret?.name);
      this.configMaps.add(configMap?.name);
    }
    this.claims.add(volume.persistentVolumeClaim?.claimName);
    if (volume.ephemeral) this.claims.add(`${pod}-${volume.name}`);
  }

  addResourceClaim(claim: Frozen<PodResourceClaim>, statuses: readonly Frozen<PodResourceClaimStatus>[]): void {
    this.resourceClaims.add(claim.resourceClaimName);
    if (!claim.resourceClaimTemplateName) return;
    this.resourceClaims.add(statuses.find(({ name }) => name === claim.name)?.resourceClaimName);
  }
}

/**
 * Returns the objects that a pod uses. `mirrorAnnotation` marks pods that a node has made itself: they give it no
 * access to anything, because a node could otherwise make pods that refer to objects it wants to read.
 */
export function podReferences(pod: Frozen<Pod>, mirrorAnnotation: string): PodReferences {
  if (Object.hasOwn(pod.metadata.annotations ?? {}, mirrorAnnotation)) return NONE;
  const { spec, status, metadata } = pod;
  const gathered = new Gathered();
  for (const { name } of spec.imagePullSecrets ?? []) gathered.secrets.add(name);
  for (const containers of [spec.initContainers, spec.containers, spec.ephemeralContainers])
    for (const container of containers ?? []) gathered.addContainer(container);
  for (const volume of spec.volumes ?? []) gathered.addVolume(volume, metadata.name ?? '');
  for (const claim of spec.resourceClaims ?? []) gathered.addResourceClaim(claim, status?.resourceClaimStatuses ?? []);
  return {
    serviceAccount: spec.serviceAccountName ?? '',
    secrets: gathered.secrets.list(),
    configMaps: gathered.configMaps.list(),
    claims: gathered.claims.list(),
    resourceClaims: gathered.resourceClaims.list(),
  };
}
