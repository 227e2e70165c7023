import {
  NO_DESCRIPTIONS,
  type OtherDescriptions,
  type OtherPart,
  partOf,
} from '../../../core/services/openapi/otherServers.js';
import type { Aggregation } from './aggregation.js';
import type { AggregatedVersion } from './apiServices.js';
import { documentOf } from './documentOf.js';
import { type Known, OtherDocuments } from './otherDocuments.js';

/** The OpenAPI documents of other servers for those of this one. */
export class OtherOpenApi {
  readonly #urls: OtherDocuments<string>;
  readonly #parts: OtherDocuments<OtherPart>;
  #shown: { readonly urls: object; readonly parts: object; readonly descriptions: OtherDescriptions } | undefined;

  constructor(readonly aggregation: Pick<Aggregation, 'versions' | 'get'>) {
    this.#urls = new OtherDocuments(aggregation, versions => this.#askUrls(versions));
    this.#parts = new OtherDocuments(aggregation, versions => this.#askParts(versions));
  }

  /**
   * The documents that other servers have last sent. Servers are asked for those that the document at `path` needs. The
   * result is the same object until something changes.
   */
  async current(path: string): Promise<OtherDescriptions> {
    if (this.aggregation.versions().size === 0) return NO_DESCRIPTIONS;
    if (path === '/openapi/v3') await this.#urls.refresh();
    if (path === '/openapi/v2') await this.#parts.refresh();
    const [urls, parts] = [this.#urls.known, this.#parts.known];
    if (this.#shown?.urls !== urls || this.#shown.parts !== parts)
      this.#shown = { urls, parts, descriptions: { urls: valuesOf(urls, pathOf), parts: valuesOf(parts, pathOf) } };
    return this.#shown.descriptions;
  }

  /** Gets the URLs in the index of a server, only for its own versions, so that it cannot describe those of others. */
  async #askUrls(versions: readonly AggregatedVersion[]): Promise<ReadonlyMap<string, string>> {
    const found = await documentOf(this.aggregation, versions[0]!, '/openapi/v3');
    const paths = (found?.document['paths'] ?? {}) as Readonly<Record<string, unknown>>;
    const urls = new Map<string, string>();
    for (const version of versions) {
      const path = pathOf(version);
      const entry = Object.hasOwn(paths, path) ? paths[path] : undefined;
      const url = (entry as { readonly serverRelativeURL?: unknown } | null | undefined)?.serverRelativeURL;
      if (typeof url === 'string' && url.replace(/\?.*$/s, '') === `/openapi/v3/${path}`) urls.set(version.name, url);
    }
    return urls;
  }

  async #askParts(versions: readonly AggregatedVersion[]): Promise<ReadonlyMap<string, OtherPart>> {
    const found = await documentOf(this.aggregation, versions[0]!, '/openapi/v2');
    if (!found) return new Map();
    return new Map(versions.map(version => [version.name, partOf(found.document, `/${pathOf(version)}`)]));
  }
}

/** The path of a version, which is also the name of its document. */
const pathOf = ({ group, version }: AggregatedVersion): string => `apis/${group}/${version}`;

const valuesOf = <T>(
  known: ReadonlyMap<string, Known<T>>,
  nameOf: (version: AggregatedVersion) => string,
): ReadonlyMap<string, T> =>
  new Map(
    Array.from(known.values()).flatMap(({ version, value }) =>
      value === undefined ? [] : [[nameOf(version), value] as const],
    ),
  );
