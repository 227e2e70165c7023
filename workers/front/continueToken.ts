import { createHmac, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../../core/model/refusal.js';

/**
 * What a continue token remembers: the revision of the whole listing (0: that of the next call, for lists that need not
 * be consistent), and the last key sent, without the prefix of its collection.
 */
export interface Position {
  readonly revision: number;
  readonly after: string;
}

const invalid = (why: string): Refusal =>
  new Refusal('BadRequest', `invalid continue token: continue key is not valid: ${why}`);

/** Where the text stops being unpadded base64url, as Go's decoder counts it; undefined where it does not. */
function corruptAt(token: string): number | undefined {
  const bad = token.search(/[^\w-]/);
  if (bad >= 0) return bad;
  return token.length % 4 === 1 ? token.length : undefined;
}

/**
 * Opaque, tamper-proof continue tokens (spec, "Paging"): a signed position. The secret is the store's, so a token
 * survives a restart. The signature is over what the token is good for as well, its `scope`: a collection, a namespace
 * and selectors.
 */
export class ContinueTokens {
  constructor(readonly secret: Uint8Array) {}

  encode({ revision, after }: Position, scope: string): string {
    const body = Buffer.from(JSON.stringify([revision, after]));
    return Buffer.concat([this.#sign(body, scope), body]).toString('base64url');
  }

  /** Throws 400 for a token that this store did not make, or not for this scope. */
  decode(token: string, scope: string): Position {
    const corrupt = corruptAt(token);
    if (corrupt !== undefined) throw invalid(`illegal base64 data at input byte ${corrupt}`);
    const bytes = Buffer.from(token, 'base64url');
    const body = bytes.subarray(16);
    if (
      bytes.length < 17 ||
      bytes.toString('base64url') !== token ||
      !timingSafeEqual(this.#sign(body, scope), bytes.subarray(0, 16))
    )
      throw invalid(
        'it was not made by this server for a list of this resource, namespace, labelSelector and fieldSelector',
      );
    const [revision, after] = JSON.parse(body.toString()) as [number, string];
    return { revision, after };
  }

  #sign(body: Uint8Array, scope: string): Buffer {
    return createHmac('sha256', this.secret).update(body).update(scope).digest().subarray(0, 16);
  }
}
