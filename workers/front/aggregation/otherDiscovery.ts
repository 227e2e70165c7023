import { namingOf } from '../../../core/naming.js';
import { NO_OTHERS, type Others } from '../../../core/services/discovery/otherServers.js';
import { type Entry, receivedEntries, receivedList } from '../../../core/services/discovery/received.js';
import type { Aggregation } from './aggregation.js';
import type { AggregatedVersion } from './apiServices.js';
import { documentOf } from './documentOf.js';
import { type Known, OtherDocuments } from './otherDocuments.js';

const DISCOVERY = namingOf('kubernetes').group('apidiscovery.orchestrator.io');
const ACCEPT = [
  ...['v2', 'v2beta1'].map(version => `application/json;g=${DISCOVERY};v=${version};as=APIGroupDiscoveryList`),
  'application/json',
].join(',');

type Entries = readonly Entry[];

/** The versions of other servers for the discovery documents of this one. */
export class OtherDiscovery {
  readonly #documents: OtherDocuments<Entries>;
  #shown:
    | { readonly of: ReadonlyMap<string, AggregatedVersion>; readonly from: object; readonly others: Others }
    | undefined;

  constructor(readonly aggregation: Pick<Aggregation, 'versions' | 'priorities' | 'get'>) {
    this.#documents = new OtherDocuments(aggregation, versions => this.#ask(versions));
  }

  /**
   * The groups of other servers. With `resources`, their servers are asked for the resources too. The result is the
   * same object until something changes.
   */
  async current(resources: boolean): Promise<Others> {
    if (this.aggregation.versions().size === 0) return NO_OTHERS;
    if (resources) await this.#documents.refresh();
    const of = this.aggregation.versions();
    const { known } = this.#documents;
    if (this.#shown?.of !== of || this.#shown.from !== known)
      this.#shown = { of, from: known, others: this.#othersOf(of, known) };
    return this.#shown.others;
  }

  #othersOf(of: ReadonlyMap<string, AggregatedVersion>, known: ReadonlyMap<string, Known<Entries>>): Others {
    return {
      priorities: this.aggregation.priorities(),
      versions: Array.from(of.values(), ({ name, group, version, priorities }) => ({
        group,
        version,
        apiVersion: `${group}/${version}`,
        served: true,
        priorities,
        entries: known.get(name)?.value ?? [],
        isCurrent: known.get(name)?.isCurrent ?? false,
      })),
    };
  }

  /** Asks a server for its aggregated document or, if it has none, for the document of each version. */
  async #ask(versions: readonly AggregatedVersion[]): Promise<ReadonlyMap<string, Entries>> {
    const found = await documentOf(this.aggregation, versions[0]!, '/apis', ACCEPT);
    if (found?.type.includes('as=APIGroupDiscoveryList')) {
      const entries = receivedEntries(found.document);
      // A version without resources is not in the document.
      return new Map(versions.map(({ name }) => [name, entries.get(name) ?? []]));
    }
    const said = new Map<string, Entries>();
    await Promise.all(
      versions.map(async version => {
        const list = await documentOf(this.aggregation, version, `/apis/${version.group}/${version.version}`);
        if (list) said.set(version.name, receivedList(list.document));
      }),
    );
    return said;
  }
}
