import { pemBlocks, readCertificate } from '../../../core/services/pki/certificateNames.js';

/**
 * Whether the CA bundle of a conversion webhook, in base64, is absent or holds certificates: at least one, and each can
 * be read. Blocks of other labels, or with headers, are ignored, as upstream does.
 */
export function isBundleValid(bundle: string | null | undefined): boolean {
  if (!bundle) return true;
  const text = Buffer.from(bundle, 'base64').toString('latin1');
  const blocks = pemBlocks(text).filter(({ label, hasHeaders }) => label === 'CERTIFICATE' && !hasHeaders);
  try {
    for (const { bytes } of blocks) readCertificate(bytes);
  } catch {
    return false;
  }
  return blocks.length > 0;
}
