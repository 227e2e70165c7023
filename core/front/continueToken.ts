import { createHmac, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../model/refusal.js';

/** What a continue token remembers: the revision of the whole listing (0: that of the next call, for lists that need not be consistent), the last key sent, and what it is good for: a collection, a namespace and selectors. */
export interface Position {
  readonly revision: number;
  readonly after: string;
  readonly scope: string;
}

const invalid = (): Refusal => new Refusal('BadRequest', 'continue key is not valid: illegal base64 data or unknown signature');

/** Opaque, tamper-proof continue tokens (spec, "Paging"): a signed position. The secret is the store's, so a token survives a restart. */
export class ContinueTokens {
  constructor(readonly secret: Uint8Array) {}

  encode(position: Position): string {
    const body = Buffer.from(JSON.stringify([position.revision, position.after, position.scope]));
    return Buffer.concat([this.#sign(body), body]).toString('base64url');
  }

  /** Throws 400 for a token that this store did not make, or that belongs to another collection, namespace or selector. */
  decode(token: string, scope: string): Position {
    const bytes = Buffer.from(token, 'base64url');
    const body = bytes.subarray(16);
    if (
      bytes.length < 17 ||
      bytes.toString('base64url') !== token.replace(/=+$/, '') ||
      !timingSafeEqual(this.#sign(body), bytes.subarray(0, 16))
    )
      throw invalid();
    const [revision, after, of] = JSON.parse(body.toString()) as [number, string, string];
    if (of !== scope) throw new Refusal('BadRequest', 'continue key is not valid: it belongs to another collection or selector');
    return { revision, after, scope };
  }

  #sign(body: Uint8Array): Buffer {
    return createHmac('sha256', this.secret).update(body).digest().subarray(0, 16);
  }
}
