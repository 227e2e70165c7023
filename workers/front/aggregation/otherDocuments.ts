import { AGGREGATED_WAIT_MS } from '../../../core/limits.js';
import { isDeepEqual } from '../../../core/model/record.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { clearTimeout, setTimeout } from '../../../core/runtime/timers.js';
import type { Aggregation } from './aggregation.js';
import type { AggregatedVersion } from './apiServices.js';

/** Time before a server is asked again: after an answer, and after a failure. */
const KEPT_MS = 60_000;
const RETRY_MS = 5000;

/** The last answer about a version. */
export interface Known<T> {
  /** The version as it was when its server was asked. */
  readonly version: AggregatedVersion;
  /** The last answer; undefined if there was none. */
  readonly value: T | undefined;
  /** Whether the server gave this answer when it was last asked. */
  readonly isCurrent: boolean;
}

/** Asks a server about its versions, which are available, and resolves with the answer for each, by name. */
export type Ask<T> = (versions: readonly AggregatedVersion[]) => Promise<ReadonlyMap<string, T>>;

/**
 * Documents of one sort, from other servers. Each server is asked when one of its versions has changed, after a minute,
 * and after some seconds if it has not answered. A server that does not answer does not delay the others.
 */
export class OtherDocuments<T> {
  #known: ReadonlyMap<string, Known<T>> = new Map();
  /** Changed versions that their servers have been asked about. */
  readonly #asked = new WeakSet<AggregatedVersion>();
  #askedAt = Number.NEGATIVE_INFINITY;
  /** The time when a changed version was last seen. */
  #changedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<unknown> | undefined;

  constructor(
    readonly aggregation: Pick<Aggregation, 'versions'>,
    readonly ask: Ask<T>,
  ) {}

  /** The last answers about all versions, by name: the same map until something has changed. */
  get known(): ReadonlyMap<string, Known<T>> {
    return this.#known;
  }

  /**
   * Asks servers, if that is due. If a version has changed less than AGGREGATED_WAIT_MS ago, resolves when they have
   * answered, and at the latest after this time; otherwise at once, so that a server that hangs delays nobody.
   */
  async refresh(): Promise<void> {
    const versions = [...this.aggregation.versions().values()];
    const isChanged = versions.some(version => !this.#asked.has(version));
    const now = monotonicTime();
    if (isChanged) this.#changedAt = now;
    if (isChanged || (!this.#asking && now - this.#askedAt > this.#keptMs)) this.#askAll(versions);
    const remaining = this.#changedAt + AGGREGATED_WAIT_MS - now;
    if (this.#asking && remaining > 0) await within(remaining, this.#asking);
  }

  get #keptMs(): number {
    const isMissing = ({ version, isCurrent }: Known<T>): boolean => version.isAvailable && !isCurrent;
    return [...this.#known.values()].some(isMissing) ? RETRY_MS : KEPT_MS;
  }

  #askAll(versions: readonly AggregatedVersion[]): void {
    const servers = new Map<string, AggregatedVersion[]>();
    const unavailable: AggregatedVersion[] = [];
    for (const version of versions) {
      this.#asked.add(version);
      const server = JSON.stringify([version.service, version.ca, version.skipsVerification]);
      if (version.isAvailable) servers.set(server, [...(servers.get(server) ?? []), version]);
      else unavailable.push(version);
    }
    this.#askedAt = monotonicTime();
    this.#take(unavailable, new Map());
    const asking = Promise.all([...servers.values()].map(async of => this.#take(of, await this.#said(of)))).finally(
      () => {
        if (this.#asking === asking) this.#asking = undefined;
      },
    );
    this.#asking = asking;
  }

  async #said(versions: readonly AggregatedVersion[]): Promise<ReadonlyMap<string, T>> {
    try {
      return await this.ask(versions);
    } catch {
      // Other servers may send anything: a document that cannot be read counts as missing.
      return new Map();
    }
  }

  /** Records the answers of a server about its versions. The map stays the same if nothing has changed. */
  #take(versions: readonly AggregatedVersion[], said: ReadonlyMap<string, T>): void {
    const current = this.aggregation.versions();
    const known = new Map([...this.#known].filter(([name]) => current.has(name)));
    let hasChanged = known.size < this.#known.size;
    for (const version of versions) {
      const { name } = version;
      if (!current.has(name)) continue;
      const before = known.get(name);
      const next = { version, value: said.get(name) ?? before?.value, isCurrent: said.has(name) };
      if (isDeepEqual(before, next)) continue;
      known.set(name, next);
      hasChanged = true;
    }
    if (hasChanged) this.#known = known;
  }
}

/** Waits for a promise that does not reject, but no longer than `ms` milliseconds. */
async function within(ms: number, asking: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>(resolve => (timer = setTimeout(resolve, ms)));
  await Promise.race([asking, passed]).finally(() => clearTimeout(timer));
}
