import { type ApiObject, recordAt, recordsAt, stringAt, type UnknownRecord } from '../../../core/api/index.js';

/** Names of the objects of its namespace that a pod uses, so that its node may read them. */
export interface PodReferences {
  readonly serviceAccount: string;
  readonly secrets: readonly string[];
  readonly configMaps: readonly string[];
  readonly claims: readonly string[];
  readonly resourceClaims: readonly string[];
}

const NONE: PodReferences = { serviceAccount: '', secrets: [], configMaps: [], claims: [], resourceClaims: [] };

/** Where the sources of volumes have the name of a secret: the member, and the path below it. */
const SECRET_PATHS: readonly (readonly string[])[] = [
  ['azureFile', 'secretName'],
  ['cephfs', 'secretRef', 'name'],
  ['cinder', 'secretRef', 'name'],
  ['csi', 'nodePublishSecretRef', 'name'],
  ['flexVolume', 'secretRef', 'name'],
  ['iscsi', 'secretRef', 'name'],
  ['rbd', 'secretRef', 'name'],
  ['scaleIO', 'secretRef', 'name'],
  ['secret', 'secretName'],
  ['storageos', 'secretRef', 'name'],
];

class Names {
  readonly secrets = new Set<string>();
  readonly configMaps = new Set<string>();
  readonly claims = new Set<string>();
  readonly resourceClaims = new Set<string>();

  addContainer(container: UnknownRecord): void {
    for (const source of recordsAt(container, 'envFrom')) {
      this.secrets.add(stringAt(source, 'secretRef', 'name'));
      this.configMaps.add(stringAt(source, 'configMapRef', 'name'));
    }
    for (const variable of recordsAt(container, 'env')) {
      this.secrets.add(stringAt(variable, 'valueFrom', 'secretKeyRef', 'name'));
      this.configMaps.add(stringAt(variable, 'valueFrom', 'configMapKeyRef', 'name'));
    }
  }

  addVolume(volume: UnknownRecord, pod: string): void {
    for (const path of SECRET_PATHS) this.secrets.add(stringAt(volume, ...path));
    this.configMaps.add(stringAt(volume, 'configMap', 'name'));
    for (const source of recordsAt(volume, 'projected', 'sources')) {
      this.secrets.add(stringAt(source, 'secret', 'name'));
      this.configMaps.add(stringAt(source, 'configMap', 'name'));
    }
    this.claims.add(stringAt(volume, 'persistentVolumeClaim', 'claimName'));
    if (recordAt(volume, 'ephemeral')) this.claims.add(`${pod}-${stringAt(volume, 'name')}`);
  }

  addResourceClaim(claim: UnknownRecord, statuses: readonly UnknownRecord[]): void {
    this.resourceClaims.add(stringAt(claim, 'resourceClaimName'));
    if (stringAt(claim, 'resourceClaimTemplateName') === '') return;
    const made = statuses.find(status => status['name'] === claim['name']);
    this.resourceClaims.add(stringAt(made, 'resourceClaimName'));
  }
}

const list = (names: Set<string>): readonly string[] => {
  names.delete('');
  return [...names];
};

/**
 * Returns the objects that a pod uses. `mirrorAnnotation` marks pods that a node has made itself: they give it no
 * access to anything, because a node could otherwise make pods that refer to what it wants to read.
 */
export function podReferences(pod: ApiObject, mirrorAnnotation: string): PodReferences {
  if (Object.hasOwn(pod.metadata.annotations ?? {}, mirrorAnnotation)) return NONE;
  const { spec, status, metadata } = pod;
  const names = new Names();
  for (const reference of recordsAt(spec, 'imagePullSecrets')) names.secrets.add(stringAt(reference, 'name'));
  for (const member of ['initContainers', 'containers', 'ephemeralContainers'])
    for (const container of recordsAt(spec, member)) names.addContainer(container);
  for (const volume of recordsAt(spec, 'volumes')) names.addVolume(volume, metadata.name ?? '');
  const statuses = recordsAt(status, 'resourceClaimStatuses');
  for (const claim of recordsAt(spec, 'resourceClaims')) names.addResourceClaim(claim, statuses);
  return {
    serviceAccount: stringAt(spec, 'serviceAccountName'),
    secrets: list(names.secrets),
    configMaps: list(names.configMaps),
    claims: list(names.claims),
    resourceClaims: list(names.resourceClaims),
  };
}
