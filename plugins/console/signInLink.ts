import { timingSafeEqual } from 'node:crypto';
import { CONSOLE_LINK_MS } from '../../core/limits.js';
import { digest } from './sessions.js';

/** Addresses of this machine, as listeners give those of peers. */
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1)$/;

/**
 * The one-time link that the server prints: its secret signs the administrator in once, within some minutes of the
 * start, and for a browser on this machine. All connections ask the same object, in the main thread, so that of two
 * requests with the secret one is refused.
 */
export class SignInLink {
  #digest: string | undefined;
  readonly #until: number;

  /** `secretDigest`: the digest of the secret; undefined if no link was printed. */
  constructor(
    secretDigest: string | undefined,
    readonly now: () => number,
  ) {
    this.#digest = secretDigest;
    this.#until = now() + CONSOLE_LINK_MS;
  }

  /** Uses the link up. Returns whether the secret is right and it may be used. */
  use(secret: string, peer: string): boolean {
    if (this.#digest === undefined || !LOOPBACK.test(peer) || this.now() >= this.#until) return false;
    if (!timingSafeEqual(Buffer.from(this.#digest), Buffer.from(digest(secret)))) return false;
    this.#digest = undefined;
    return true;
  }
}
