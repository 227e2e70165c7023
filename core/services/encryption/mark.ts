/**
 * The beginning of every encrypted value; provider and name of the key follow, and a colon. No plain value begins like
 * this.
 */
export const MARK = Buffer.from('enc:');

/** Whether a stored value is encrypted. */
export function isEncrypted(value: Uint8Array): boolean {
  for (let i = 0; i < MARK.length; i++) if (value[i] !== MARK[i]) return false;
  return true;
}
