import { createHmac, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../../../core/model/refusal.js';

/** The content of a continue token: the position at which a list in pages continues. */
export interface ListPosition {
  /** Revision that all pages show; 0: each page shows the current state, for lists that need not be consistent. */
  readonly revision: number;
  /** Key of the last object sent, without the prefix of the collection that the path names. */
  readonly after: string;
}

const invalid = (why: string): Refusal =>
  new Refusal('BadRequest', `invalid continue token: continue key is not valid: ${why}`);

/**
 * Index of the first character that is invalid in unpadded base64url, as Go's decoder counts; undefined if there is
 * none.
 */
function corruptAt(token: string): number | undefined {
  const bad = token.search(/[^\w-]/);
  if (bad >= 0) return bad;
  return token.length % 4 === 1 ? token.length - 1 : undefined;
}

/**
 * Opaque, tamper-proof continue tokens (spec, "Paging (chunks)"): signed positions. The secret is the store's, so a
 * token survives a restart. The signature covers the prefix of the collection that the token is valid for: a resource,
 * in a namespace or in all of them. Selectors and limit may change between pages: upstream allows it.
 */
export class ContinueTokens {
  constructor(readonly secret: Uint8Array) {}

  encode({ revision, after }: ListPosition, scope: string): string {
    const body = Buffer.from(JSON.stringify([revision, after]));
    return Buffer.concat([this.#sign(body, scope), body]).toString('base64url');
  }

  /** Throws 400 for a token that this store did not make for this collection. */
  decode(token: string, scope: string): ListPosition {
    const corrupt = corruptAt(token);
    if (corrupt !== undefined) throw invalid(`illegal base64 data at input byte ${corrupt}`);
    const bytes = Buffer.from(token, 'base64url');
    const body = bytes.subarray(16);
    if (
      bytes.length < 17 ||
      bytes.toString('base64url') !== token ||
      !timingSafeEqual(this.#sign(body, scope), bytes.subarray(0, 16))
    )
      throw invalid('it was not made by this server for a list of this resource and namespace');
    const [revision, after] = JSON.parse(body.toString()) as [number, string];
    return { revision, after };
  }

  #sign(body: Uint8Array, scope: string): Buffer {
    return createHmac('sha256', this.secret).update(body).update(scope).digest().subarray(0, 16);
  }
}
