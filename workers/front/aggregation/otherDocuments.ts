import { monotonicTime } from '../../../core/runtime/clock.js';
import type { Aggregation } from './aggregation.js';
import type { AggregatedVersion } from './apiServices.js';

/** How long the documents of other servers are not asked for again. */
const KEPT_MS = 60_000;

/** What is known of a version. */
export interface Known<T> {
  /** The version as it was when its server was asked. */
  readonly version: AggregatedVersion;
  /** What the server has said last; undefined if it never has. */
  readonly value: T | undefined;
  /** Whether it has said so when it was last asked. */
  readonly isCurrent: boolean;
}

/** Asks a server about its versions, which are available, and resolves with what it has said of each, by name. */
export type Ask<T> = (versions: readonly AggregatedVersion[]) => Promise<ReadonlyMap<string, T>>;

/**
 * Documents of one sort of other servers. Each server is asked at most once a minute, and when a version has changed.
 */
export class OtherDocuments<T> {
  #known: ReadonlyMap<string, Known<T>> = new Map();
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;

  constructor(
    readonly aggregation: Pick<Aggregation, 'versions'>,
    readonly ask: Ask<T>,
  ) {}

  /** What is known of all versions, by name: the same map until the servers have been asked again. */
  get known(): ReadonlyMap<string, Known<T>> {
    return this.#known;
  }

  /**
   * Has servers asked if that is due. The first call after a version has changed resolves when they have answered, or
   * have not in time; others resolve at once.
   */
  async refresh(): Promise<void> {
    const versions = [...this.aggregation.versions().values()];
    const isChanged =
      versions.length !== this.#known.size ||
      versions.some(version => this.#known.get(version.name)?.version !== version);
    if (!isChanged && (versions.length === 0 || monotonicTime() - this.#askedAt < KEPT_MS)) return;
    const asked = (this.#asking ??= this.#askAll(versions).finally(() => (this.#asking = undefined)));
    if (isChanged) await asked;
  }

  async #askAll(versions: readonly AggregatedVersion[]): Promise<void> {
    const servers = new Map<string, AggregatedVersion[]>();
    for (const version of versions) {
      if (!version.isAvailable) continue;
      const server = JSON.stringify([version.service, version.ca, version.skipsVerification]);
      servers.set(server, [...(servers.get(server) ?? []), version]);
    }
    const answers = await Promise.all([...servers.values()].map(of => this.ask(of)));
    const said = new Map(answers.flatMap(answer => [...answer]));
    const before = this.#known;
    this.#askedAt = monotonicTime();
    this.#known = new Map(
      versions.map(version => {
        const { name } = version;
        const value = said.get(name) ?? before.get(name)?.value;
        return [name, { version, value, isCurrent: said.has(name) }];
      }),
    );
  }
}
