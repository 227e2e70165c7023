import { createHash } from 'node:crypto';
import { CONSOLE_SESSIONS } from '../../core/limits.js';
import { randomBytes } from '../../core/runtime/random.js';
import { FairMap } from './fairMap.js';

/** The beginning of the names of session cookies. The port follows, because all ports of a host share its cookies. */
export const SESSION_COOKIE = '__Host-console-';

interface Session {
  readonly token: string;
  readonly ends: number;
  used: number;
}

/** The key of a secret in a table, so that the time of a look-up reveals nothing about the secrets. */
export const digest = (secret: string): string => createHash('sha256').update(secret).digest('base64');

/** The cookies of a header whose names begin with a text, as pairs of name and value (RFC 6265, 5.4). */
export const cookiesOf = (header: string | undefined, prefix: string): [name: string, value: string][] =>
  (header ?? '')
    .split(';')
    .map(part => part.trim())
    .filter(part => part.startsWith(prefix) && part.includes('='))
    .map(part => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]);

/**
 * The sessions of the console, in memory: each stands for a bearer token, which is verified with every request. A
 * session ends after a time without requests, after a longer time in any case, and when there are too many: then the
 * least recently used session of the user who has most ends.
 */
export class Sessions {
  readonly #sessions = new FairMap<Session>(CONSOLE_SESSIONS.most);

  constructor(readonly now: () => number) {}

  /** Begins a session of the user of a token. Returns its secret. */
  begin(token: string, user: string): string {
    const secret = randomBytes(32).toString('base64url');
    const time = this.now();
    const session = { token, ends: time + CONSOLE_SESSIONS.lastMs, used: time };
    this.#sessions.add(digest(secret), user, session, one => this.#isOver(one));
    return secret;
  }

  /** The token that a session stands for; undefined if it has ended, or never existed. */
  tokenOf(secret: string): string | undefined {
    const key = digest(secret);
    const session = this.#sessions.get(key);
    if (!session) return undefined;
    if (this.#isOver(session)) {
      this.#sessions.delete(key);
      return undefined;
    }
    session.used = this.now();
    this.#sessions.touch(key);
    return session.token;
  }

  end(secret: string): void {
    this.#sessions.delete(digest(secret));
  }

  #isOver({ ends, used }: Session): boolean {
    const time = this.now();
    return time >= ends || time - used >= CONSOLE_SESSIONS.idleMs;
  }
}
