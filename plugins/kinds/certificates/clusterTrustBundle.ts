import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { dns1123Subdomain } from '../../../core/model/names.js';
import type { ApiObject } from '../../../core/model/object.js';
import { specOf, stringAt } from '../../../core/model/record.js';
import { invalid, type Violation } from '../../../core/model/refusal.js';
import { column, NAME, stringCell } from '../shared/columns.js';
import { validateSigner } from '../shared/signerName.js';
import { validateImmutable } from '../shared/violations.js';

const COLUMNS: readonly Column[] = [NAME, column('SignerName', stringCell('spec.signerName', '<none>'))];

/** What is wrong with the name of a bundle: that of a signer's bundle begins with the signer. */
function nameComplaints(name: string, signer: string): readonly string[] {
  if (signer === '')
    return name.includes(':')
      ? ['ClusterTrustBundle without signer name must not have ":" in its name']
      : dns1123Subdomain(name);
  const prefix = `${signer.replaceAll('/', ':')}:`;
  return name.startsWith(prefix)
    ? dns1123Subdomain(name.slice(prefix.length))
    : [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
}

function validateBundle(bundle: ApiObject): Violation[] {
  const signer = stringAt(bundle, 'spec', 'signerName');
  const name = bundle.metadata.name ?? '';
  return [
    ...(name === '' ? [] : nameComplaints(name, signer).map(why => invalid('metadata.name', name, why))),
    ...(signer === '' ? [] : validateSigner('spec.signerName', signer)),
  ];
}

/** ClusterTrustBundle. Who writes those of a signer must be allowed to: see the plugin `attestation`. */
export const clusterTrustBundle = builtInKind('certificates.orchestrator.io/clustertrustbundles', () => ({
  // The name depends on the signer.
  checkName: () => [],
  validateCreate: validateBundle,
  validateUpdate: (bundle, old) => [
    ...validateBundle(bundle),
    ...validateImmutable(specOf(bundle), specOf(old), 'signerName', 'spec.signerName'),
  ],
  selectableFields: new Map([['spec.signerName', object => stringAt(object, 'spec', 'signerName')]]),
  columns: COLUMNS,
}));
