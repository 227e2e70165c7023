import type { Exchange } from '../../../core/api/listener.js';
import { HEALTH_ACCESS_MS } from '../../../core/limits.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';

/** The health endpoints that load balancers and probes request without credentials. */
const PATHS = ['/livez', '/readyz', '/healthz'];

/**
 * Keeps the identity of senders without credentials, and their permission to use the health endpoints, in the cache:
 * their requests are then answered without the pool, so that they can be pipelined on every listener.
 */
export class HealthAccess {
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isAllowed = false;

  /** `authorize` has the pool authorize a request, remembers the result, and returns whether it is allowed. */
  constructor(readonly authorize: (exchange: Exchange) => Promise<unknown>) {}

  /** Asks for the permissions now. Resolves when they are known; never rejects. */
  async refresh(): Promise<void> {
    // Failures are ignored: they occur again, with an answer, in the request of a client.
    const results = await Promise.allSettled(PATHS.map(path => this.authorize(anonymousExchange(path))));
    this.#isAllowed = results.every(result => result.status === 'fulfilled' && result.value === true);
  }

  /** Whether senders without credentials were allowed to use the health endpoints at the last refresh. */
  get isAllowed(): boolean {
    return this.#isAllowed;
  }

  /**
   * Schedules a refresh after a change of objects that permissions depend on. One refresh covers all changes before it.
   */
  policyChanged(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.refresh();
    }, HEALTH_ACCESS_MS).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}

/** A GET without credentials whose answer is discarded. */
const anonymousExchange = (path: string): Exchange => ({
  method: 'GET',
  path,
  query: '',
  header: () => undefined,
  headers: () => [],
  remoteAddress: '',
  secure: true,
  body: async () => new Uint8Array(0),
  respond: () => undefined,
  stream: () => {
    throw new Error('the request has no answer');
  },
  onAbort: () => undefined,
  aborted: false,
});
