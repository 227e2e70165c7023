import * as client from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from './support.js';

/** Fields that 1.32 does not have. The client knows them because it was generated from a later release. */
const LATER: ReadonlySet<string> = new Set([
  'apps.v1.DeploymentStatus.terminatingReplicas',
  'apps.v1.ReplicaSetStatus.terminatingReplicas',
  'autoscaling.v2.HPAScalingRules.tolerance',
  'core.v1.Container.restartPolicyRules',
  'core.v1.ContainerStatus.stopSignal',
  'core.v1.EnvVarSource.fileKeyRef',
  'core.v1.EphemeralContainer.restartPolicyRules',
  'core.v1.Lifecycle.stopSignal',
  'core.v1.NodeSystemInfo.swap',
  'core.v1.PodCondition.observedGeneration',
  'core.v1.PodSpec.hostnameOverride',
  'core.v1.PodStatus.extendedResourceClaimStatus',
  'core.v1.PodStatus.observedGeneration',
  'core.v1.VolumeProjection.podCertificate',
  'discovery.v1.EndpointHints.forNodes',
  'storage.v1.CSIDriverSpec.nodeAllocatableUpdatePeriodSeconds',
  'storage.v1.VolumeError.errorCode',
  'pkg.version.Info.emulationMajor',
  'pkg.version.Info.emulationMinor',
  'pkg.version.Info.minCompatibilityMajor',
  'pkg.version.Info.minCompatibilityMinor',
]);
/** Types whose JSON is not an object with fields. */
const WITHOUT_FIELDS =
  /\.(JSON|JSONSchemaPropsOr\w+|CustomResourceSubresourceStatus|Quantity|FieldsV1|MicroTime|Patch|Time|RawExtension|IntOrString)$/;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The fields of the client's class for a definition; undefined if it has none. */
function fieldsOf(definition: string): readonly string[] | undefined {
  const [group = '', version = '', kind = ''] = definition.split('.').slice(-3);
  const classes = client as unknown as {
    [name: string]: { getAttributeTypeMap?: () => { baseName: string }[] } | undefined;
  };
  const found = [capital(version) + kind, capital(group) + capital(version) + kind].find(
    name => classes[name]?.getAttributeTypeMap,
  );
  return found === undefined ? undefined : classes[found]!.getAttributeTypeMap!().map(({ baseName }) => baseName);
}

let api: Api;
beforeAll(async () => {
  api = await Api.shared();
});
afterAll(() => api.close());

test('every published type of upstream has exactly the fields of the official client [R106x]', async () => {
  const document = (await api.get('/openapi/v2')).body as unknown as {
    definitions: { [name: string]: { properties?: object } };
  };
  const differences: string[] = [];
  let compared = 0;
  for (const [name, { properties = {} }] of Object.entries(document.definitions)) {
    // Tests that share the server define other types meanwhile.
    if (!name.startsWith('io.k8s.')) continue;
    const theirs = fieldsOf(name);
    if (theirs === undefined) {
      if (!WITHOUT_FIELDS.test(name)) differences.push(`${name}: no class`);
      continue;
    }
    compared++;
    const short = name.split('.').slice(-3).join('.');
    const ours = new Set(Object.keys(properties));
    for (const field of theirs) {
      if (ours.has(field) === LATER.has(`${short}.${field}`)) differences.push(`${short}.${field} of the client`);
      ours.delete(field);
    }
    for (const field of ours) differences.push(`${short}.${field} of the server`);
  }
  expect(differences).toEqual([]);
  expect(compared).toBeGreaterThan(450);
});
