import type { InternalRequest } from '../../core/api/host.js';
import type { ApiObject } from '../../core/model/object.js';
import { Refusal } from '../../core/model/refusal.js';
import type { Naming } from '../../core/naming.js';

/** After so long without a sign of life of the leader others take over. */
const LEASE_MS = 10_000;
/** A leader that could not renew for so long stops: before anybody else may begin. */
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

/** What an election needs of its thread. */
export interface ElectionParts {
  /** Of the process, and of no other. */
  readonly identity: string;
  readonly naming: Naming;
  /** Makes a request as the leader election. */
  readonly request: (request: InternalRequest) => Promise<ApiObject>;
  /** The lease as this process sees it now. */
  readonly lease: (namespace: string, name: string) => ApiObject | undefined;
  /** The time of day, for people who look at the lease. */
  readonly now: () => number;
  readonly log: (message: string) => void;
  /** Called when leadership was lost. */
  readonly lost: () => void;
}

/**
 * Elects the one process whose controllers run, by a Lease (coordination group, system namespace): the holder renews
 * it; when it has not for the lease's duration, by the clock of who looks, another takes it. Writes of the Lease are
 * conditional on its version, so of several one wins.
 */
export class Election {
  readonly #namespace: string;
  readonly #apiVersion: string;
  #leading = false;
  #closed = false;
  /** The lease's version last seen, and when it was first seen. */
  #seen: { readonly version: string; readonly at: number } | undefined;
  #renewed = 0;
  #won: () => void = () => undefined;
  #decide: (leading: boolean) => void = () => undefined;
  /** Resolves once it is known whether this process leads or another does. */
  readonly decided = new Promise<boolean>(resolve => {
    this.#decide = resolve;
  });
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> | undefined;
  #again = false;

  constructor(readonly parts: ElectionParts) {
    this.#namespace = parts.naming.component('orchestrator-system');
    this.#apiVersion = parts.naming.apiVersion('coordination.orchestrator.io/v1');
  }

  get leading(): boolean {
    return this.#leading;
  }

  /** Resolves once this process leads. */
  lead(): Promise<void> {
    return new Promise(resolve => {
      this.#won = resolve;
      this.#next();
    });
  }

  /**
   * Called when a lease has changed, given as `namespace/name`. A candidate tries at once, so that a leader that hands
   * over is followed without a pause.
   */
  changed(lease: string): void {
    if (this.#leading || this.#closed || lease !== `${this.#namespace}/${NAME}`) return;
    this.#next();
  }

  /** Hands over, also what was won in the last moment. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#turn;
    this.#leading = false;
    const lease = this.#lease();
    if (lease?.spec?.holderIdentity !== this.parts.identity) return;
    await this.#write(lease, {
      ...lease.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: this.#time(),
    }).catch(() => undefined);
  }

  /** One turn at a time; a change during one makes another. */
  #next(): void {
    if (this.#turn) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#again = false;
    this.#turn = Promise.resolve()
      .then(() => this.#attempt())
      .finally(() => {
        this.#turn = undefined;
        if (this.#closed) return;
        if (this.#again && !this.#leading) return this.#next();
        this.#timer = setTimeout(() => this.#next(), RETRY_MS);
      });
  }

  async #attempt(): Promise<void> {
    const began = performance.now();
    try {
      const held = await this.#hold();
      this.#decide(held);
      if (held) {
        this.#renewed = began;
        if (!this.#leading && !this.#closed) {
          this.#leading = true;
          this.#renewTimer();
          this.parts.log(`${this.parts.identity} leads`);
          this.#won();
        }
      } else if (this.#leading) this.#lose();
    } catch (error) {
      this.parts.log(`the lease could not be written: ${(error as Error).message}`);
    }
  }

  /** Watches over the renewals: one that hangs must not keep a leader in office. */
  #renewTimer(): void {
    const left = this.#renewed + RENEW_MS - performance.now();
    if (!this.#leading || this.#closed) return;
    if (left <= 0) this.#lose();
    else setTimeout(() => this.#renewTimer(), Math.ceil(left));
  }

  #lose(): void {
    this.#leading = false;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.parts.log(`${this.parts.identity} no longer leads`);
    this.parts.lost();
  }

  #lease(): Lease | undefined {
    return this.parts.lease(this.#namespace, NAME) as Lease | undefined;
  }

  /** Takes or renews the lease if it may be; tells whether it is ours now. */
  async #hold(): Promise<boolean> {
    const lease = this.#lease();
    const time = this.#time();
    const mine = { holderIdentity: this.parts.identity, leaseDurationSeconds: LEASE_MS / 1000, renewTime: time };
    if (!lease) return await this.#create({ ...mine, acquireTime: time, leaseTransitions: 0 });
    const { spec = {} } = lease;
    if (spec.holderIdentity === this.parts.identity) return await this.#write(lease, { ...spec, ...mine });
    if (!this.#expired(lease)) return false;
    return await this.#write(lease, { ...mine, acquireTime: time, leaseTransitions: (spec.leaseTransitions ?? 0) + 1 });
  }

  /**
   * Whether nobody holds the lease, or its holder has given no sign of life for its duration, seen from here: clocks of
   * others are not trusted.
   */
  #expired({ metadata, spec = {} }: Lease): boolean {
    if (!spec.holderIdentity) return true;
    const version = metadata.resourceVersion ?? '';
    const now = performance.now();
    if (this.#seen?.version !== version) this.#seen = { version, at: now };
    return now - this.#seen.at >= (spec.leaseDurationSeconds ?? 0) * 1000;
  }

  #time(): string {
    return new Date(this.parts.now()).toISOString().replace(/Z$/, '000Z');
  }

  get #path(): string {
    return `/apis/${this.#apiVersion}/namespaces/${this.#namespace}/leases`;
  }

  /** The system namespace may not be there yet: who creates it is not elected yet. */
  async #create(spec: LeaseSpec): Promise<boolean> {
    const metadata = { name: NAME, namespace: this.#namespace };
    const body = { apiVersion: this.#apiVersion, kind: 'Lease', metadata, spec };
    const create = () => this.parts.request({ method: 'POST', path: this.#path, body });
    try {
      return await won(
        create().catch(async error => {
          if (!(error instanceof Refusal) || error.code !== 404) throw error;
          const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.#namespace } };
          await won(this.parts.request({ method: 'POST', path: '/api/v1/namespaces', body: namespace }));
          return await create();
        }),
      );
    } finally {
      this.#seen = undefined;
    }
  }

  #write(lease: Lease, spec: LeaseSpec): Promise<boolean> {
    const body = { ...lease, apiVersion: this.#apiVersion, kind: 'Lease', spec };
    return won(this.parts.request({ method: 'PUT', path: `${this.#path}/${NAME}`, body }));
  }
}

/** False where another was faster. */
async function won(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 409) return false;
    throw error;
  }
}
