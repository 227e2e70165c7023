import type { JsonObject } from '../../../core/model/object.js';
import { readJson } from '../../../core/model/text/jsonText.js';
import { namingOf } from '../../../core/naming.js';
import { AGGREGATED_DISCOVERY_MS, WEBHOOK_RESPONSE_BYTES } from '../../../core/limits.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { NO_OTHERS, type Others } from '../../../core/services/discovery/others.js';
import { type Entry, receivedEntries, receivedList } from '../../../core/services/discovery/received.js';
import type { Aggregation } from './aggregation.js';
import type { AggregatedVersion } from './apiServices.js';

/** How long the documents of other servers are not asked for again. */
const KEPT_MS = 60_000;

const DISCOVERY = namingOf('kubernetes').group('apidiscovery.orchestrator.io');
const ACCEPT = [
  ...['v2', 'v2beta1'].map(version => `application/json;g=${DISCOVERY};v=${version};as=APIGroupDiscoveryList`),
  'application/json',
].join(',');

/** What is known of a version. */
interface Known {
  /** The version as it was when it was asked for. */
  readonly version: AggregatedVersion;
  readonly at: number;
  readonly entries: readonly Entry[];
  readonly isCurrent: boolean;
}

/** The discovery documents of other servers, for those of this one. */
export class OtherDiscovery {
  readonly #known = new Map<string, Known>();
  #refreshing: Promise<void> | undefined;
  #others: { readonly of: ReadonlyMap<string, AggregatedVersion>; readonly others: Others } | undefined;

  constructor(readonly aggregation: Pick<Aggregation, 'versions' | 'priorities' | 'get'>) {}

  /**
   * What other servers answer. With `resources`, the first call after a change waits until servers have said, within
   * AGGREGATED_DISCOVERY_MS, what they have; later ones return what is known, and it is asked for again now and then.
   */
  async current(resources: boolean): Promise<Others> {
    const versions = [...this.aggregation.versions().values()];
    if (versions.length === 0) return NO_OTHERS;
    if (resources) {
      const isOld = ({ name }: AggregatedVersion): boolean =>
        monotonicTime() - (this.#known.get(name)?.at ?? Number.NEGATIVE_INFINITY) > KEPT_MS;
      const isChanged = (version: AggregatedVersion): boolean => this.#known.get(version.name)?.version !== version;
      if (versions.some(isChanged) || versions.some(isOld)) {
        const refreshed = (this.#refreshing ??= this.#refresh(versions).finally(() => (this.#refreshing = undefined)));
        if (versions.some(isChanged)) await refreshed;
      }
    }
    return this.#show();
  }

  /** The same object until something has changed. */
  #show(): Others {
    const of = this.aggregation.versions();
    if (this.#others?.of !== of)
      this.#others = {
        of,
        others: {
          priorities: this.aggregation.priorities(),
          versions: Array.from(of.values(), ({ name, group, version, priorities }) => ({
            group,
            version,
            apiVersion: `${group}/${version}`,
            served: true,
            priorities,
            entries: this.#known.get(name)?.entries ?? [],
            isCurrent: this.#known.get(name)?.isCurrent ?? false,
          })),
        },
      };
    return this.#others.others;
  }

  async #refresh(versions: readonly AggregatedVersion[]): Promise<void> {
    const servers = new Map<string, AggregatedVersion[]>();
    for (const version of versions) {
      const server = JSON.stringify([version.service, version.ca, version.skipsVerification]);
      servers.set(server, [...(servers.get(server) ?? []), version]);
    }
    await Promise.all([...servers.values()].map(of => this.#ask(of)));
    const names = new Set(versions.map(({ name }) => name));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
    this.#others = undefined;
  }

  /** Asks a server for its versions. */
  async #ask(versions: readonly AggregatedVersion[]): Promise<void> {
    const available = versions.filter(({ isAvailable }) => isAvailable);
    const aggregated = available.length > 0 ? await this.#aggregated(available[0]!) : undefined;
    await Promise.all(
      versions.map(async version => {
        const entries = version.isAvailable
          ? (aggregated && (aggregated.get(version.name) ?? [])) ?? (await this.#list(version))
          : undefined;
        this.#known.set(version.name, {
          version,
          at: monotonicTime(),
          entries: entries ?? this.#known.get(version.name)?.entries ?? [],
          isCurrent: entries !== undefined,
        });
      }),
    );
  }

  /** The aggregated document of a server; undefined if it has none. */
  async #aggregated(version: AggregatedVersion): Promise<ReadonlyMap<string, readonly Entry[]> | undefined> {
    const found = await this.#document(version, '/apis', ACCEPT);
    return found?.type.includes('as=APIGroupDiscoveryList') ? receivedEntries(found.document) : undefined;
  }

  /** The entries of the document of a version; undefined if there is no such document. */
  async #list(version: AggregatedVersion): Promise<readonly Entry[] | undefined> {
    const found = await this.#document(version, `/apis/${version.group}/${version.version}`, 'application/json');
    return found && receivedList(found.document);
  }

  async #document(
    version: AggregatedVersion,
    path: string,
    accept: string,
  ): Promise<{ readonly type: string; readonly document: JsonObject } | undefined> {
    try {
      const { status, headers, body } = await this.aggregation.get(version, path, {
        headers: { accept },
        timeoutMs: AGGREGATED_DISCOVERY_MS,
        maxBytes: WEBHOOK_RESPONSE_BYTES,
      });
      if (status !== 200) return undefined;
      const document = readJson(body);
      if (typeof document !== 'object' || document === null || Array.isArray(document)) return undefined;
      return { type: headers['content-type'] ?? '', document };
    } catch {
      // It is shown as stale.
      return undefined;
    }
  }
}
