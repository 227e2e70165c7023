import type { Naming } from '../../naming.js';

/**
 * Group versions with types registered in upstream's release 1.32, served or not, in neutral names. In its documents,
 * DeleteOptions and WatchEvent belong to all of them. Groups with `!` are absent from documents of custom kinds.
 */
const REGISTERED = `
- v1
!admission.orchestrator.io v1 v1beta1
admissionregistration.orchestrator.io v1 v1alpha1 v1beta1
!apiextensions.orchestrator.io v1 v1beta1
!apiregistration.orchestrator.io v1 v1beta1
apps v1 v1beta1 v1beta2
authentication.orchestrator.io v1 v1alpha1 v1beta1
authorization.orchestrator.io v1 v1beta1
autoscaling v1 v2 v2beta1 v2beta2
batch v1 v1beta1
certificates.orchestrator.io v1 v1alpha1 v1beta1
coordination.orchestrator.io v1 v1alpha2 v1beta1
discovery.orchestrator.io v1 v1beta1
events.orchestrator.io v1 v1beta1
extensions v1beta1
flowcontrol.orchestrator.io v1 v1beta1 v1beta2 v1beta3
!imagepolicy.orchestrator.io v1alpha1
internal.apiserver.orchestrator.io v1alpha1
networking.orchestrator.io v1 v1alpha1 v1beta1
node.orchestrator.io v1 v1alpha1 v1beta1
policy v1 v1beta1
rbac.authorization.orchestrator.io v1 v1alpha1 v1beta1
resource.orchestrator.io v1alpha3 v1beta1
scheduling.orchestrator.io v1 v1alpha1 v1beta1
storage.orchestrator.io v1 v1alpha1 v1beta1
storagemigration.orchestrator.io v1alpha1
`;

/** The registered group versions of a document. `custom`: a document of custom kinds. */
export function registeredVersions(naming: Naming, custom: boolean): { group: string; version: string }[] {
  return REGISTERED.trim()
    .split('\n')
    .filter(line => !custom || !line.startsWith('!'))
    .flatMap(line => {
      const [name = '', ...versions] = line.replace('!', '').split(' ');
      return versions.map(version => ({ group: name === '-' ? '' : naming.group(name), version }));
    });
}
