import type { ClusterTrustBundle } from '../../../kinds/certificates/v1alpha1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { dns1123Subdomain } from '../../../core/model/names.js';
import { invalid, tooLong, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { Malformed, type PemBlock, pemBlocks, readCertificate } from '../../../core/services/pki/certificateNames.js';
import { column, NAME } from '../shared/columns.js';
import { checkWholeSegmentName } from '../shared/values/names.js';
import { validateImmutable } from '../shared/violations.js';
import { validateSigner } from '../shared/signerName.js';

const COLUMNS: readonly Column<ClusterTrustBundle>[] = [
  NAME,
  column('SignerName', object => object.spec.signerName || '<none>'),
];

/** The largest number of characters of a bundle, which is upstream's limit. */
const MOST_CHARACTERS = 1024 * 1024;
const FIELD = 'spec.trustBundle';
const HIDDEN = new Verbatim('"<value omitted>"');

const signerOf = (object: ClusterTrustBundle): string => object.spec.signerName ?? '';

/** Returns why a name is not one of a bundle of this signer; '' stands for none. */
function nameComplaints(name: string, signer: string): readonly string[] {
  const prefix = `${signer.replaceAll('/', ':')}:`;
  if (signer === '')
    return name.includes(':')
      ? ['ClusterTrustBundle without signer name must not have ":" in its name']
      : dns1123Subdomain(name);
  if (!name.startsWith(prefix))
    return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
  return dns1123Subdomain(name.slice(prefix.length));
}

/** Returns why a block is not the certificate of a CA; undefined if it is one. */
function anchorComplaint({ label, hasHeaders, bytes }: PemBlock): string | undefined {
  if (label !== 'CERTIFICATE') return `has bad block type: ${label}`;
  if (hasHeaders) return 'has PEM block headers';
  try {
    return readCertificate(bytes).ca ? undefined : 'does not have the CA bit set';
  } catch (thrown) {
    if (thrown instanceof Malformed) return 'does not parse as X.509';
    throw thrown;
  }
}

/** Complaints about identical blocks, which are named by their numbers. */
function duplicateComplaints(blocks: readonly PemBlock[]): readonly string[] {
  const indices = new Map<string, number[]>();
  blocks.forEach(({ bytes }, index) => {
    const contents = bytes.toString('base64');
    indices.set(contents, [...(indices.get(contents) ?? []), index]);
  });
  return [...indices.values()]
    .filter(({ length }) => length > 1)
    .map(same => `duplicate trust anchor (indices [${same.join(' ')}])`);
}

/** Violations of trust anchors: certificates of CAs in PEM, each once. Other text is permitted. */
function validateBundle(object: ClusterTrustBundle): Violation[] {
  const text = object.spec.trustBundle;
  if (text.length > MOST_CHARACTERS) return [tooLong(FIELD, MOST_CHARACTERS)];
  const blocks = pemBlocks(text);
  if (blocks.length === 0) return [invalid(FIELD, HIDDEN, 'at least one trust anchor must be provided')];
  const broken = blocks.flatMap((block, index) => {
    const complaint = anchorComplaint(block);
    return complaint === undefined ? [] : [`entry ${index} ${complaint}`];
  });
  const complaints = broken.length > 0 ? broken : duplicateComplaints(blocks);
  return complaints.map(complaint => invalid(FIELD, HIDDEN, complaint));
}

function validateNames(object: ClusterTrustBundle): Violation[] {
  const [name, signer] = [object.metadata.name ?? '', signerOf(object)];
  return [
    ...nameComplaints(name, signer).map(complaint => invalid('metadata.name', name, complaint)),
    ...(signer === '' ? [] : validateSigner('spec.signerName', signer)),
  ];
}

/** ClusterTrustBundle. The name of a bundle of a signer begins with the signer, with a colon for the slash. */
export const clusterTrustBundle = builtInKind<ClusterTrustBundle>(
  'certificates.orchestrator.io/clustertrustbundles',
  () => ({
    checkName: checkWholeSegmentName,
    validateCreate: object => [...validateNames(object), ...validateBundle(object)],
    validateUpdate: (object, old) => [
      ...validateNames(object),
      ...(object.spec.trustBundle === old.spec.trustBundle ? [] : validateBundle(object)),
      ...validateImmutable(object.spec, old.spec, 'signerName', 'spec.signerName'),
    ],
    selectableFields: new Map([['spec.signerName', signerOf]]),
    columns: COLUMNS,
  }),
);
