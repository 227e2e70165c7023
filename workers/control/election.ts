import type { InternalRequest } from '../../core/api/host.js';
import type { ApiObject } from '../../core/model/object.js';
import { Refusal } from '../../core/model/refusal.js';
import type { Naming } from '../../core/naming.js';
import { monotonicTime } from '../../core/runtime/clock.js';
import { clearTimeout, setTimeout } from '../../core/runtime/timers.js';

/** Duration of the lease: a candidate takes over if the leader has not renewed it for this time. */
const LEASE_MS = 10_000;
/** A leader that has not renewed the lease for this time stops, before another process can take over. */
const RENEW_MS = 7000;
/** Time between renewals, and between attempts to take over. */
const RETRY_MS = 2000;
const NAME = 'capstan-controllers';
/** Storage name of leases. */
export const LEASES = 'coordination.orchestrator.io/leases';

interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}
type Lease = ApiObject & { spec?: LeaseSpec };

/** The dependencies of an election. */
export interface ElectionParts {
  /** Unique name of this process. */
  readonly identity: string;
  readonly naming: Naming;
  /** Makes a request with the identity of the leader election. */
  readonly request: (request: InternalRequest) => Promise<ApiObject>;
  /** The lease, as received by this process. */
  readonly lease: (namespace: string, name: string) => ApiObject | undefined;
  /** Milliseconds since the epoch, for the times in the lease. */
  readonly now: () => number;
  readonly log: (message: string) => void;
  /** Called when this process no longer leads. */
  readonly onLost: () => void;
}

/**
 * Elects the process whose controllers run, with a Lease of the coordination group in the system namespace. The holder
 * renews it. Another process takes it over if it was not renewed for its duration, measured with its own clock. Writes
 * of the Lease are conditional on its version, so only one of several candidates succeeds.
 */
export class Election {
  readonly #namespace: string;
  readonly #apiVersion: string;
  #leading = false;
  #closed = false;
  /** The resourceVersion of the lease when it was last read, and the time when this version was first seen. */
  #seen: { readonly version: string; readonly at: number } | undefined;
  #renewed = 0;
  /** Resolves `lead`; undefined until this process is a candidate. */
  #won: (() => void) | undefined;
  #decide: (leading: boolean) => void = () => undefined;
  /** Resolves with true if this process leads and with false if another one does, once this is known. */
  readonly decided = new Promise<boolean>(resolve => {
    this.#decide = resolve;
  });
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #again = false;

  constructor(readonly parts: ElectionParts) {
    this.#namespace = parts.naming.component('orchestrator-system');
    this.#apiVersion = parts.naming.apiVersion('coordination.orchestrator.io/v1');
  }

  get leading(): boolean {
    return this.#leading;
  }

  /** Becomes a candidate. Resolves when this process leads. */
  lead(): Promise<void> {
    return new Promise(resolve => {
      this.#won = resolve;
      this.#attemptNext();
    });
  }

  /**
   * Call it when a lease has changed, with `namespace/name`. A candidate tries immediately, so that there is no pause
   * after a leader has resigned.
   */
  onLeaseChange(lease: string): void {
    // Before `lead` is called, no attempt is made: the controllers do not wait for the leadership yet.
    if (!this.#won || this.#leading || this.#closed || lease !== `${this.#namespace}/${NAME}`) return;
    this.#attemptNext();
  }

  /** Releases the lease, including one that was acquired during this call. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
    this.#leading = false;
    // Another process may hold the lease by now, or it cannot be read. Then it expires after its duration.
    await this.#release().catch(() => undefined);
  }

  async #release(): Promise<void> {
    const lease = this.#lease();
    if (lease?.spec?.holderIdentity !== this.parts.identity) return;
    await this.#write(lease, {
      ...lease.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: this.#time(),
    });
  }

  /** Attempts to acquire or renew the lease. If the lease changes during an attempt, another attempt follows. */
  #attemptNext(): void {
    if (this.#running) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#again = false;
    this.#running = Promise.resolve()
      .then(() => this.#attempt())
      .finally(() => {
        this.#running = undefined;
        if (this.#closed) return;
        if (this.#again && !this.#leading) return this.#attemptNext();
        this.#timer = setTimeout(() => this.#attemptNext(), RETRY_MS);
      });
  }

  async #attempt(): Promise<void> {
    const began = monotonicTime();
    try {
      const held = await this.#acquireOrRenew();
      this.#decide(held);
      if (held) {
        this.#renewed = began;
        if (!this.#leading && !this.#closed) {
          this.#leading = true;
          this.#renewTimer();
          this.parts.log(`${this.parts.identity} leads`);
          this.#won?.();
        }
      } else if (this.#leading) this.#stopLeading();
    } catch (error) {
      this.parts.log(`writing the lease ${this.#namespace}/${NAME} failed: ${(error as Error).message}`);
    }
  }

  /** Ends the leadership RENEW_MS after the last renewal, even if a renewal is still in progress. */
  #renewTimer(): void {
    const left = this.#renewed + RENEW_MS - monotonicTime();
    if (!this.#leading || this.#closed) return;
    if (left <= 0) this.#stopLeading();
    else setTimeout(() => this.#renewTimer(), Math.ceil(left));
  }

  #stopLeading(): void {
    this.#leading = false;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.parts.log(`${this.parts.identity} no longer leads`);
    this.parts.onLost();
  }

  #lease(): Lease | undefined {
    return this.parts.lease(this.#namespace, NAME) as Lease | undefined;
  }

  /** Acquires or renews the lease if possible. Resolves with true if this process holds it. */
  async #acquireOrRenew(): Promise<boolean> {
    const lease = this.#lease();
    const time = this.#time();
    const mine = { holderIdentity: this.parts.identity, leaseDurationSeconds: LEASE_MS / 1000, renewTime: time };
    if (!lease) return await this.#create({ ...mine, acquireTime: time, leaseTransitions: 0 });
    const { spec = {} } = lease;
    if (spec.holderIdentity === this.parts.identity) return await this.#write(lease, { ...spec, ...mine });
    if (!this.#isExpired(lease)) return false;
    return await this.#write(lease, { ...mine, acquireTime: time, leaseTransitions: (spec.leaseTransitions ?? 0) + 1 });
  }

  /**
   * Whether the lease has no holder, or has not changed for its duration by the clock of this process. Clocks of other
   * processes are not used.
   */
  #isExpired({ metadata, spec = {} }: Lease): boolean {
    if (!spec.holderIdentity) return true;
    const version = metadata.resourceVersion ?? '';
    const now = monotonicTime();
    if (this.#seen?.version !== version) this.#seen = { version, at: now };
    return now - this.#seen.at >= (spec.leaseDurationSeconds ?? 0) * 1000;
  }

  #time(): string {
    return new Date(this.parts.now()).toISOString().replace(/Z$/, '000Z');
  }

  get #path(): string {
    return `/apis/${this.#apiVersion}/namespaces/${this.#namespace}/leases`;
  }

  /**
   * Creates the lease, and its namespace if it does not exist: the controllers, which create the namespace, start only
   * after the election.
   */
  async #create(spec: LeaseSpec): Promise<boolean> {
    const metadata = { name: NAME, namespace: this.#namespace };
    const body = { apiVersion: this.#apiVersion, kind: 'Lease', metadata, spec };
    const create = () => this.parts.request({ method: 'POST', path: this.#path, body });
    try {
      return await isCommitted(
        create().catch(async error => {
          if (!(error instanceof Refusal) || error.code !== 404) throw error;
          const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.#namespace } };
          await isCommitted(this.parts.request({ method: 'POST', path: '/api/v1/namespaces', body: namespace }));
          return await create();
        }),
      );
    } finally {
      this.#seen = undefined;
    }
  }

  #write(lease: Lease, spec: LeaseSpec): Promise<boolean> {
    const body = { ...lease, apiVersion: this.#apiVersion, kind: 'Lease', spec };
    return isCommitted(this.parts.request({ method: 'PUT', path: `${this.#path}/${NAME}`, body }));
  }
}

/** Resolves with true if a write was committed, and with false if it conflicted with another one. */
async function isCommitted(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 409) return false;
    throw error;
  }
}
